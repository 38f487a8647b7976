#include "core/IdleFlags.h"

#include "core/DataFiles.h"
#include "core/Error.h"
#include "core/InputReaders.h"
#include "core/MetricsLines.h"

#include <algorithm>

namespace par::rt {

static bool isGiven(const RunOptions &options, const std::string &flag) {
  return std::find(options.given.begin(), options.given.end(), flag) != options.given.end();
}

/// The package decides what becomes of documents, or flags do where it does not know them.
static void refuseDocuments(const RunOptions &options, const Manifest &manifest) {
  bool isolates = manifest.reads("token_documents");
  io::Documents wanted = options.data.documents;
  std::string flag = std::string("--documents ") + nameOf(wanted);
  if (isolates && isGiven(options, "--documents") && wanted != io::Documents::isolate)
    throw Error(flag + ": the program of " + manifest.path +
                " keeps documents apart, as it was compiled with --documents isolate; leave the flag out, or "
                "compile without it");
  if (!isolates && wanted == io::Documents::isolate)
    throw Error(flag + ": the program of " + manifest.path +
                " does not keep documents apart; compile it with par-compile --documents isolate");
  if (options.data.documentEnd >= 0 && documentsOf(options.data, manifest) == io::Documents::pack)
    throw Error("--document-end serves --documents mask and isolate only; give one of them, or leave it out");
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
    if (isGiven(options, flag) && !manifest.reads(input))
      throw Error(std::string(flag) + ": the program of " + manifest.path +
                  " has no such value (its optimizer is " + manifest.optimizer + "); leave the flag out");
  check(io::checkLossWeights(options.lossWeights, manifest.lossWeights(), manifest.path));
  refuseDocuments(options, manifest);
  for (const char *flag :
       {"--data", "--shuffle", "--documents", "--document-end", "--data-dtype", "--eval-data"})
    if (!manifest.sequence && inputsOf(manifest, readers::Rows).empty() && isGiven(options, flag))
      throw Error(std::string(flag) + ": the program of " + manifest.path +
                  " reads no tokens; leave the flag out");
  if (metricsFormatOf(options.metrics) == MetricsFormat::csv &&
      (!manifest.losses.empty() || !manifest.sequence))
    throw Error("--metrics " + options.metrics + ": CSV has columns for one loss and for tokens, and " +
                manifest.path + (manifest.sequence ? " has several losses" : " reads no tokens") +
                "; give a name for JSON");
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
