/// Names that must not outlive the process: of files that are being written, of a lock.
#ifndef PAR_IO_TEMPORARYNAMES_H
#define PAR_IO_TEMPORARYNAMES_H

#include <string>

namespace par::io {

/// Remembers that `path` is the file behind `descriptor`. Returns its slot, or -1: too long, or too many.
int registerTemporary(const std::string &path, int descriptor);
void releaseTemporary(int slot);

/// Removes a name, if it still is the file that was registered: somebody else may have put another there.
void removeTemporary(int slot);

} // namespace par::io
#endif
