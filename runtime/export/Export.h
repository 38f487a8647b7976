/// par-export: a trained model as a folder that Transformers' from_pretrained loads (docs/Running.md, "Back
/// to Transformers").
#ifndef PAR_EXPORT_EXPORT_H
#define PAR_EXPORT_EXPORT_H

#include "par/io/Safetensors.h"

#include <cstdint>
#include <optional>
#include <string>

namespace par::exporting {

struct ExportOptions {
  std::string package, checkpoint, output;
  std::string source; ///< folder with config.json and tokenizer, or a config.json; empty: the package's own
  io::FileType type = io::FileType::f32;
  bool typeGiven = false; ///< else the type that the package was compiled for
  int64_t maxShardBytes = 5'000'000'000;
};

/// Returns the exit code when there is nothing to do (--help, a wrong flag).
std::optional<int> parseExportCommandLine(int argc, char **argv, ExportOptions &options);

/// Writes the folder, whole or not at all, and says on standard output what was written. Throws rt::Error.
void exportModel(const ExportOptions &options);

int parExportMain(int argc, char **argv);

} // namespace par::exporting
#endif
