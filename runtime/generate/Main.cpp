#include "cpu/Context.h"
#include "flags/RunTool.h"
#include "generate/Generate.h"
#include "par/io/EndingSignals.h"
#include "par/io/MappedRanges.h"

namespace par::generating {

int parGenerateMain(int argc, char **argv) {
  io::removeTemporariesOnSignals();
  GenerateOptions options;
  if (std::optional<int> exitCode = parseGenerateCommandLine(argc, argv, options))
    return *exitCode;
  cpu::ensureThreadStacks();
  io::installTruncationHandler();
  return flags::runTool([&] { return generate(options); });
}

} // namespace par::generating
