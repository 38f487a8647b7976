/// How much memory this process may still take.
#ifndef PAR_IO_MEMORY_H
#define PAR_IO_MEMORY_H

#include <cstdint>

namespace par::io {

/// Bytes: what the machine has left, or less where a control group (a container, a job of a cluster) or
/// `ulimit -v` does not let this process have it. INT64_MAX where nothing is known.
int64_t availableMemory();

} // namespace par::io

#endif // PAR_IO_MEMORY_H
