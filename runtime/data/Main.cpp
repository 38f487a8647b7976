#include "data/Data.h"
#include "flags/RunTool.h"
#include "par/config/Message.h"
#include "par/io/EndingSignals.h"
#include "par/io/MappedRanges.h"

#include <cstdio>

namespace par::data {

int parDataMain(int argc, char **argv) {
  io::removeTemporariesOnSignals();
  DataOptions options;
  if (std::optional<int> exitCode = parseDataCommandLine(argc, argv, options))
    return *exitCode;
  io::installTruncationHandler();
  return flags::runTool([&] {
    io::Status status = options.decode.empty() ? writeTokens(options) : writeText(options);
    if (status.ok())
      return 0;
    std::fputs(config::errorLine(status.message()).c_str(), stderr);
    return 1;
  });
}

} // namespace par::data
