#include "core/Error.h"
#include "export/Export.h"

#include <cstdio>

namespace par::exporting {

int parExportMain(int argc, char **argv) {
  ExportOptions options;
  int exitCode = 1;
  if (!parseExportCommandLine(argc, argv, options, exitCode))
    return exitCode;
  try {
    exportModel(options);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

} // namespace par::exporting
