#include "flags/Flags.h"
#include "generate/Generate.h"

#include <sstream>

namespace par::generating {

using flags::Flags;

static std::string readTokens(const std::string &text, std::vector<int64_t> &tokens) {
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int64_t token = 0;
    if (!flags::readInteger(part, {0, INT32_MAX}, token).empty())
      return flags::isNot(text, "ids of tokens with commas, for example 1,2,3");
    tokens.push_back(token);
  }
  return tokens.empty() ? flags::isNot(text, "ids of tokens with commas, for example 1,2,3") : "";
}

static void addModel(Flags &flags, GenerateOptions &options) {
  flags.operand("DIR.par", "the package that the model was trained with", options.package);
  flags.text("--checkpoint", "C",
             "parameters: a checkpoint, a folder of them (the latest is taken), or a safetensors file of "
             "--save-params",
             options.checkpoint);
  flags.text("--weights", "HF_DIR|FILE", "parameters: a Hugging Face folder or a safetensors file",
             options.weights);
}

static void addText(Flags &flags, GenerateOptions &options) {
  flags.text("--prompt", "TEXT", "text to continue; needs a tokenizer", options.prompt);
  flags.custom("--prompt-tokens", "IDS",
               "tokens to continue, with commas; the new ones are printed as numbers",
               [&options](const std::string &text) { return readTokens(text, options.promptTokens); });
  flags.text("--tokenizer", "FILE|HF_DIR",
             "a tokenizer.json or a folder with one (default: that of the folder of --weights, else of the "
             "package)",
             options.tokenizer);
  flags
      .integer("--tokens", "N",
               "how many tokens to generate at most: the text ends before one of the end tokens that "
               "generation_config.json or config.json names",
               {1}, options.tokens)
      .required();
  flags.toggle("--ignore-eos", "end tokens are tokens like others", options.ignoresEnd);
  flags.number("--temperature", "T",
               "0 (default) takes the likeliest token; else draws from softmax(logits / T)", {},
               options.sampler.temperature);
  flags.integer("--top-k", "K", "draw from the K likeliest tokens only (default: all)", {1},
                options.sampler.topK);
  flags::NumberRange share{0, 1};
  share.aboveLeast = share.belowMost = true;
  flags.number("--top-p", "P",
               "draw from the likeliest tokens that together have probability P (default: all)", share,
               options.sampler.topP);
  flags
      .custom("--seed", "N", "of what is drawn (default: 0)",
              [&options](const std::string &text) { return flags::readUnsigned(text, options.sampler.seed); })
      .takes(config::Takes::integer);
}

/// What is wrong with flags that are fine one by one, or nothing.
static std::string problemOf(const GenerateOptions &options, const Flags &flags) {
  if (options.checkpoint.empty() == options.weights.empty())
    return "give --checkpoint C or --weights HF_DIR: one of them says where parameters come from";
  if (flags.isGiven("--prompt") == flags.isGiven("--prompt-tokens"))
    return "give --prompt TEXT or --prompt-tokens IDS";
  if (flags.isGiven("--tokenizer") && !flags.isGiven("--prompt"))
    return "--tokenizer reads --prompt, but --prompt-tokens needs none; leave it out";
  for (const char *flag : {"--top-k", "--top-p", "--seed"})
    if (options.sampler.temperature == 0 && flags.isGiven(flag))
      return std::string(flag) + " is about what is drawn, but --temperature 0 draws nothing; give a "
                                 "--temperature";
  return "";
}

std::optional<int> parseGenerateCommandLine(int argc, char **argv, GenerateOptions &options) {
  Flags flags("par-generate",
              "par-generate DIR.par --checkpoint C|--weights HF_DIR --prompt TEXT --tokens N [flags]",
              "Continues a prompt with a trained model. All ranks of the package run in this process.");
  addModel(flags, options);
  addText(flags, options);
  std::optional<int> exitCode = flags.read(argc, argv, [&] { return problemOf(options, flags); });
  options.isText = flags.isGiven("--prompt");
  return exitCode;
}

} // namespace par::generating
