#include "data/Data.h"
#include "flags/RunTool.h"
#include "par/config/Sources.h"
#include "par/io/Files.h"
#include "par/io/MappedRanges.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace par::data {

/// Leaves no temporary file behind.
static void stop(int signal) {
  io::removeTemporaryFiles();
  _exit(128 + signal);
}

int parDataMain(int argc, char **argv) {
  DataOptions options;
  if (std::optional<int> exitCode = parseDataCommandLine(argc, argv, options))
    return *exitCode;
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, stop);
  io::installTruncationHandler();
  return flags::runTool([&] {
    io::Status status = options.decode.empty() ? writeTokens(options) : writeText(options);
    if (status.ok())
      return 0;
    std::fprintf(stderr, "error: %s\n", config::nameSources(status.message()).c_str());
    return 1;
  });
}

} // namespace par::data
