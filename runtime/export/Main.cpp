#include "export/Export.h"
#include "flags/RunTool.h"
#include "par/io/EndingSignals.h"
#include "par/io/MappedRanges.h"

namespace par::exporting {

int parExportMain(int argc, char **argv) {
  io::removeTemporariesOnSignals();
  ExportOptions options;
  if (std::optional<int> exitCode = parseExportCommandLine(argc, argv, options))
    return *exitCode;
  io::installTruncationHandler();
  return flags::runTool([&] {
    exportModel(options);
    return 0;
  });
}

} // namespace par::exporting
