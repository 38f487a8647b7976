/// What every tool does with what it throws.
#ifndef PAR_FLAGS_RUNTOOL_H
#define PAR_FLAGS_RUNTOOL_H

#include <functional>

namespace par::flags {

/// The exit code of `run`; what it throws is one `error:` line and the code 1, memory that ends among it. By
/// then what was being written is gone.
int runTool(const std::function<int()> &run);

} // namespace par::flags
#endif
