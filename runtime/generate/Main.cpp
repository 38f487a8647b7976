#include "cpu/Context.h"
#include "generate/Generate.h"
#include "par/config/Sources.h"
#include "par/io/MappedRanges.h"

#include <cstdio>
#include <exception>

namespace par::generating {

int parGenerateMain(int argc, char **argv) {
  GenerateOptions options;
  if (std::optional<int> exitCode = parseGenerateCommandLine(argc, argv, options))
    return *exitCode;
  cpu::ensureThreadStacks();
  io::installTruncationHandler();
  try {
    return generate(options);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "error: out of memory\n");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", config::nameSources(error.what()).c_str());
  }
  return 1;
}

} // namespace par::generating
