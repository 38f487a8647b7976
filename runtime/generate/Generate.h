/// par-generate: continues a prompt with a trained model (docs/Running.md, "Generation").
#ifndef PAR_GENERATE_GENERATE_H
#define PAR_GENERATE_GENERATE_H

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
  int64_t tokens = 0;      ///< to generate, at most
  bool ignoresEnd = false; ///< goes on behind an end token
  SamplerOptions sampler;
};

/// Returns the exit code when there is nothing to do (--help, a wrong flag).
std::optional<int> parseGenerateCommandLine(int argc, char **argv, GenerateOptions &options);

/// Runs all ranks of the package as threads and prints what they make of the prompt. Returns the exit code; a
/// failure within the ranks ends the process. Throws rt::Error for everything that is wrong before they
/// start.
int generate(const GenerateOptions &options);

int parGenerateMain(int argc, char **argv);

} // namespace par::generating
#endif
