#include "core/DataFiles.h"

#include "core/Error.h"
#include "core/Loading.h"

#include <algorithm>

namespace par::rt {

int64_t passLength(const io::TokenData &tokens, const io::RowData &rows) {
  return tokens.windowCount() ? tokens.windowCount() : rows.rowCount();
}

std::string summaryOf(const io::TokenData &tokens, const io::RowData &rows) {
  return tokens.summary() + (rows.rowCount() ? " and " + rows.summary() : "");
}

io::Documents documentsOf(const io::DataOptions &data, const Manifest &manifest) {
  return manifest.reads("token_documents") ? io::Documents::isolate : data.documents;
}

const char *nameOf(io::Documents documents) {
  switch (documents) {
  case io::Documents::pack:
    return "pack";
  case io::Documents::mask:
    return "mask";
  case io::Documents::isolate:
    return "isolate";
  }
  return "";
}

namespace {
/// The files of one flag, and what the package's inputs read of them.
class DataFiles {
public:
  DataFiles(const char *flag, const io::DataOptions &data, const RunOptions &options,
            const Manifest &manifest)
      : flag(flag), data(data), options(options), manifest(manifest),
        readsTokens(!inputsOf(manifest, readers::Windows).empty()),
        inputs(openInputsOf(manifest, readers::Rows)) {}

  /// `isNeeded`: something will read what is opened.
  void open(io::TokenData &tokens, io::RowData &rows, bool isNeeded) const {
    checkTokens();
    // A window is a row of the batch where there are no tokens.
    io::DataOptions read = readsTokens ? data : io::DataOptions();
    read.documents = documentsOf(data, manifest);
    // Nothing is read where nothing is trained.
    if (!isNeeded && read.isRandom())
      read.documents = io::Documents::pack;
    check(tokens.open(read, manifest.sequence, manifest.vocabulary, options.seed));
    checkRows(isNeeded);
    if (data.rows.empty())
      return;
    check(rows.open(data.rows, inputs, data.shuffle, options.seed));
    check(rows.checkWindows(tokens.windowCount()));
  }

private:
  bool isGiven(const char *other) const {
    return std::find(options.given.begin(), options.given.end(), other) != options.given.end();
  }

  void checkTokens() const {
    if (readsTokens && data.sources.empty())
      throw Error(std::string(flag) + " " + data.rows.front() + ": " + manifest.path +
                  ": the program reads tokens, too; give a file of tokens, or random, beside it");
    if (readsTokens)
      return;
    if (isGiven(flag) && !data.sources.empty())
      throw Error(
          std::string(flag) + " " + data.sources.front() + ": " + manifest.path +
          ": the program reads no tokens" +
          (inputs.empty() ? "; leave it out" : "; give FILE.safetensors with " + io::toString(inputs)));
    for (const char *other : {"--documents", "--document-end", "--data-dtype"})
      if (isGiven(other))
        throw Error(std::string(other) + ": says how tokens are read, but the program of " + manifest.path +
                    " reads none; leave it out");
  }

  void checkRows(bool isNeeded) const {
    if (inputs.empty() && !data.rows.empty())
      throw Error(std::string(flag) + " " + data.rows.front() + ": " + manifest.path +
                  ": the program has no input that is read in rows; leave it out");
    if (isNeeded && !inputs.empty() && data.rows.empty())
      throw Error(manifest.path + ": the program reads " + io::toString(inputs) + " in rows; give " + flag +
                  " FILE.safetensors");
  }

  const char *const flag;
  const io::DataOptions &data;
  const RunOptions &options;
  const Manifest &manifest;
  const bool readsTokens;
  const std::vector<io::OpenInput> inputs;
};
} // namespace

void openTrainingData(const RunOptions &options, Loaded &loaded) {
  bool trains = options.steps > 0 || options.epochs > 0;
  DataFiles("--data", options.data, options, loaded.manifest).open(loaded.data, loaded.rows, trains);
  if (trains || options.evalData.isGiven() || !options.inputs.empty())
    check(loaded.values.open(options.inputs, openInputsOf(loaded.manifest, readers::Value)));
}

void openEvaluationData(const RunOptions &options, Loaded &loaded) {
  const Manifest &manifest = loaded.manifest;
  DataFiles("--eval-data", options.evalData, options, manifest)
      .open(loaded.evalData, loaded.evalRows, /*isNeeded=*/true);
  int64_t rows = loaded.evalRows.rowCount();
  if (loaded.evalData.windowCount() == 0 && rows % manifest.batch != 0)
    throw Error("--eval-data " + options.evalData.rows.front() + ": has " + std::to_string(rows) +
                " rows, which the batch of " + std::to_string(manifest.batch) +
                " does not divide; leave some out, or compile with another --batch");
}

} // namespace par::rt
