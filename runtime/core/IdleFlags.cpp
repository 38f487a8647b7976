#include "core/IdleFlags.h"

#include "core/Error.h"

#include <algorithm>

namespace par::rt {

static bool isGiven(const RunOptions &options, const std::string &flag) {
  return std::find(options.given.begin(), options.given.end(), flag) != options.given.end();
}

static bool reads(const Manifest &manifest, const std::string &name) {
  return std::any_of(manifest.programs.begin(), manifest.programs.end(), [&](const Program &program) {
    return std::any_of(program.inputs.begin(), program.inputs.end(),
                       [&](const Input &input) { return input.name == name; });
  });
}

void refuseIdleFlags(const RunOptions &options, const Manifest &manifest) {
  static const struct {
    const char *flag, *input;
  } hyperparameters[] = {{"--beta1", "beta1"},
                         {"--beta2", "beta2"},
                         {"--eps", "eps"},
                         {"--weight-decay", "weight_decay"},
                         {"--clip-grad-norm", "clip"}};
  for (const auto &[flag, input] : hyperparameters)
    if (isGiven(options, flag) && !reads(manifest, input))
      throw Error(std::string(flag) + ": the program of " + manifest.path +
                  " has no such value (its optimizer is " + manifest.optimizer + "); leave the flag out");
  if (options.data.documentEnd >= int64_t(manifest.vocabulary))
    throw Error("--document-end " + std::to_string(options.data.documentEnd) +
                " is no token of the model, whose vocabulary has ids 0 to " +
                std::to_string(manifest.vocabulary - 1) + "; give the one that ends documents");
}

std::vector<std::string> noteIdleFlags(const RunOptions &options, const Manifest &manifest) {
  if (options.link.isEmulated() && manifest.worldSize == 1)
    return {"--emulate-link slows collectives down, but one rank has none"};
  return {};
}

} // namespace par::rt
