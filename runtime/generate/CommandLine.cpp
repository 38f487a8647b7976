#include "generate/Generate.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace par::generating {

static void addOptions(CLI::App &app, GenerateOptions &options) {
  app.add_option("package", options.package, "the package that the model was trained with")
      ->required()
      ->option_text("DIR.par REQUIRED");
  app.add_option("--checkpoint", options.checkpoint,
                 "parameters: a checkpoint, a folder of them (the latest is taken), or a safetensors file of "
                 "--save-params")
      ->option_text("C");
  app.add_option("--weights", options.weights, "parameters: a Hugging Face folder or a safetensors file")
      ->option_text("HF_DIR|FILE");
  app.add_option("--prompt", options.prompt, "text to continue; needs a tokenizer")->option_text("TEXT");
  app.add_option("--prompt-tokens", options.promptTokens,
                 "tokens to continue, with commas; the new ones are printed as numbers")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->option_text("IDS");
  app.add_option("--tokenizer", options.tokenizer,
                 "a tokenizer.json or a folder with one (default: that of the folder of --weights, else of "
                 "the package)")
      ->option_text("FILE|HF_DIR");
  app.add_option("--tokens", options.tokens, "how many tokens to generate")
      ->required()
      ->check(CLI::PositiveNumber)
      ->option_text("N REQUIRED");
  app.add_option("--temperature", options.sampler.temperature,
                 "0 (default) takes the likeliest token; else draws from softmax(logits / T)")
      ->check(CLI::NonNegativeNumber)
      ->option_text("T");
  app.add_option("--top-k", options.sampler.topK, "draw from the K likeliest tokens only (default: all)")
      ->check(CLI::PositiveNumber)
      ->option_text("K");
  app.add_option("--seed", options.sampler.seed, "of what is drawn (default: 0)")->option_text("N");
}

/// What is wrong with flags that are fine one by one, or nothing.
static std::string problemOf(const GenerateOptions &options, const CLI::App &app) {
  if (options.checkpoint.empty() == options.weights.empty())
    return "give --checkpoint C or --weights HF_DIR: one of them says where parameters come from";
  if ((app.count("--prompt") > 0) == (app.count("--prompt-tokens") > 0))
    return "give --prompt TEXT or --prompt-tokens IDS";
  if (options.sampler.temperature == 0 && options.sampler.topK)
    return "--top-k limits what is drawn, but --temperature 0 draws nothing; give a --temperature";
  return "";
}

bool parseGenerateCommandLine(int argc, char **argv, GenerateOptions &options, int &exitCode) {
  CLI::App app{"Continues a prompt with a trained model. All ranks of the package run in this process.",
               "par-generate"};
  addOptions(app, options);
  std::string problem;
  try {
    app.parse(argc, argv);
    problem = problemOf(options, app);
  } catch (const CLI::CallForHelp &) {
    std::fputs(app.help().c_str(), stdout);
    exitCode = 0;
    return false;
  } catch (const CLI::ParseError &error) {
    problem = std::string(error.what()) + "; see par-generate --help";
  }
  options.isText = app.count("--prompt") > 0;
  if (!problem.empty())
    std::fprintf(stderr, "error: par-generate: %s\n", problem.c_str());
  exitCode = 1;
  return problem.empty();
}

} // namespace par::generating
