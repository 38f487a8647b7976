#include "core/Error.h"
#include "export/Export.h"
#include "par/config/Sources.h"
#include "par/io/MappedRanges.h"

#include <cstdio>

namespace par::exporting {

int parExportMain(int argc, char **argv) {
  ExportOptions options;
  if (std::optional<int> exitCode = parseExportCommandLine(argc, argv, options))
    return *exitCode;
  io::installTruncationHandler();
  try {
    exportModel(options);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", config::nameSources(error.what()).c_str());
    return 1;
  }
}

} // namespace par::exporting
