/// par-generate: continues a prompt with a trained model (docs/Running.md, "Generation").
#ifndef PAR_GENERATE_GENERATE_H
#define PAR_GENERATE_GENERATE_H

#include "chat/TurnFormat.h"
#include "generate/Sampler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace par::generating {

struct GenerateOptions {
  std::string package;
  std::string checkpoint, weights; ///< one of them: where the parameters come from
  std::string prompt;              ///< text, if `tokenizer` or the weights' folder can read it
  std::vector<int64_t> promptTokens;
  bool isText = false; ///< whether `prompt` counts, or `promptTokens`
  std::string tokenizer;
  bool isChat = false;    ///< the model answers in a conversation: to `prompt`, `messages` or lines
  std::string messages;   ///< a file of JSON; "-": standard input
  std::string system;     ///< what the conversation begins with, or empty
  chat::TurnFormat turns; ///< empty: the one that the model's folder has
  bool prependBos = false;
  int64_t tokens = 0;      ///< to generate, at most; of each answer
  bool ignoresEnd = false; ///< goes on behind an end token
  double timeout = 300;    ///< seconds without progress after which it is ended
  SamplerOptions sampler;
};

/// Returns the exit code when there is nothing to do (--help, a wrong flag).
std::optional<int> parseGenerateCommandLine(int argc, char **argv, GenerateOptions &options);

/// Runs all ranks of the package as threads and prints what they make of the prompt or answer. Returns the
/// exit code; a failure within the ranks ends the process. Throws rt::Error for everything that is wrong
/// before they start.
int generate(const GenerateOptions &options);

int parGenerateMain(int argc, char **argv);

} // namespace par::generating
#endif
