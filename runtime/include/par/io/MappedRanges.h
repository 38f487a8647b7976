/// Which file lies at an address: a mapped file that is cut short while it is read ends the process with
/// SIGBUS, and whoever handles that has to say which one it was.
#ifndef PAR_IO_MAPPEDRANGES_H
#define PAR_IO_MAPPEDRANGES_H

#include <cstddef>

namespace par::io {

/// `path` has to stay as long as the range is known. Returns what to give `forgetMapping`.
int rememberMapping(const void *begin, size_t bytes, const char *path);
void forgetMapping(int slot);

/// The path of the file that is mapped there, or null. Callable from a signal handler.
const char *mappedFileAt(const void *address);

/// Until a handler of one's own: SIGBUS in a mapped file is one error line that names it, and exit code 1.
void installTruncationHandler();

/// Writes that line; `reader` says who read it, or nothing. Callable from a signal handler.
void reportTruncation(const char *path, const char *reader);

} // namespace par::io
#endif
