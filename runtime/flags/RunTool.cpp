#include "flags/RunTool.h"

#include "par/config/Message.h"

#include <cstdio>
#include <exception>
#include <new>

namespace par::flags {

int runTool(const std::function<int()> &run) {
  try {
    return run();
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "error: out of memory\n");
  } catch (const std::exception &error) {
    std::fputs(config::errorLine(error.what()).c_str(), stderr);
  }
  return 1;
}

} // namespace par::flags
