#include "chat/TurnFlag.h"
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
  flags.first({"--checkpoint", "--prompt", "--tokens", "--temperature", "--chat"});
  flags.section("A model, and a text to continue");
  flags.operand("DIR.par", "the package that the model was trained with", options.package);
  flags.text("--checkpoint", "C",
             "parameters: a checkpoint, a folder of them (the latest is taken), or a safetensors file of "
             "--save-params",
             options.checkpoint);
  flags.text("--weights", "HF_DIR|FILE", "parameters: a Hugging Face folder or a safetensors file",
             options.weights);
}

static void addText(Flags &flags, GenerateOptions &options) {
  flags.text("--prompt", "TEXT", "text to continue, or with --chat to answer; needs a tokenizer",
             options.prompt);
  flags.custom("--prompt-tokens", "IDS",
               "tokens to continue, with commas; the new ones are printed as numbers",
               [&options](const std::string &text) { return readTokens(text, options.promptTokens); });
  flags.text("--tokenizer", "FILE|HF_DIR",
             "a tokenizer.json or a folder with one (default: that of the folder of --weights, else of the "
             "package)",
             options.tokenizer);
  flags
      .integer("--tokens", "N",
               "how many tokens to generate at most (with --chat: for each answer): the text ends before one "
               "of the end tokens that generation_config.json or config.json names",
               {1}, options.tokens)
      .required();
  flags.toggle("--ignore-eos", "end tokens are tokens like others", options.ignoresEnd);
  flags.number("--temperature", "T",
               "0 (default) takes the likeliest token; else draws from softmax(logits / T)", {},
               options.sampler.temperature);
  flags.integer("--top-k", "K", "draw from the K likeliest tokens only (default: all)", {1},
                options.sampler.topK);
  flags::NumberRange share{0, 1};
  share.aboveLeast = true;
  flags.number("--top-p", "P",
               "draw from the likeliest tokens that together have probability P (default: 1, all)", share,
               options.sampler.topP);
  flags
      .custom("--seed", "N", "of what is drawn (default: 0)",
              [&options](const std::string &text) { return flags::readUnsigned(text, options.sampler.seed); })
      .takes(config::Takes::integer);
  flags.number("--timeout", "S",
               "seconds without progress of some rank after which everything is ended (default: 300)",
               {0.1, 1e7}, options.timeout);
}

static void addChat(Flags &flags, GenerateOptions &options) {
  flags.section("Conversations");
  flags.toggle("--chat",
               "the model answers, and only its answers are printed: to --prompt, to --messages, or else to "
               "line after line of standard input, each with all that was said before",
               options.isChat);
  flags.text("--messages", "FILE",
             "a conversation to answer: JSON as a line of par-data --chat, or the list of its \"messages\" "
             "alone; - is standard input",
             options.messages);
  flags.text("--system", "TEXT", "the system's message, with which the conversation begins", options.system);
  chat::addTurnFlag(flags, options.turns);
  flags.toggle("--prepend-bos",
               "put the tokens before the conversation that the tokenizer's template puts before a text",
               options.prependBos);
}

/// The same for conversations alone.
static std::string chatProblemOf(const GenerateOptions &options, const Flags &flags) {
  if (flags.isGiven("--prompt") && flags.isGiven("--messages"))
    return "--prompt and --messages both say what is answered; give one";
  if (flags.isGiven("--prompt-tokens"))
    return "--prompt-tokens are no message, which --chat answers; give --prompt or --messages";
  if (options.ignoresEnd)
    return "--ignore-eos has no meaning with --chat, whose answers end; leave it out";
  if (flags.isGiven("--system") && flags.isGiven("--messages"))
    return "--system begins a conversation, but --messages has its beginning; put it into that file";
  return "";
}

static std::string promptProblemOf(const Flags &flags) {
  for (const char *flag : {"--messages", "--system", "--turn", "--prepend-bos"})
    if (flags.isGiven(flag))
      return std::string(flag) + " belongs to --chat; give both or none";
  if (flags.isGiven("--prompt") == flags.isGiven("--prompt-tokens"))
    return "give --prompt TEXT or --prompt-tokens IDS, or --chat";
  if (flags.isGiven("--tokenizer") && !flags.isGiven("--prompt"))
    return "--tokenizer reads --prompt, but --prompt-tokens needs none; leave it out";
  return "";
}

/// What is wrong with flags that are fine one by one, or nothing.
static std::string problemOf(const GenerateOptions &options, const Flags &flags) {
  if (options.checkpoint.empty() == options.weights.empty())
    return "give --checkpoint C or --weights HF_DIR: one of them says where parameters come from";
  std::string problem = options.isChat ? chatProblemOf(options, flags) : promptProblemOf(flags);
  if (!problem.empty())
    return problem;
  for (const char *flag : {"--top-k", "--top-p", "--seed"})
    if (options.sampler.temperature == 0 && flags.isGiven(flag))
      return std::string(flag) + " is about what is drawn, but --temperature 0 draws nothing; give a "
                                 "--temperature";
  return "";
}

std::optional<int> parseGenerateCommandLine(int argc, char **argv, GenerateOptions &options) {
  Flags flags("par-generate",
              "par-generate DIR.par --checkpoint C|--weights HF_DIR --prompt TEXT|--chat --tokens N [flags]",
              "Continues a prompt with a trained model, or talks with it. All ranks of the package run in "
              "this process.");
  addModel(flags, options);
  addText(flags, options);
  addChat(flags, options);
  std::optional<int> exitCode = flags.read(argc, argv, [&] { return problemOf(options, flags); });
  options.isText = flags.isGiven("--prompt");
  return exitCode;
}

} // namespace par::generating
