/// Names that must not outlive the process: of files and folders that are being written, of a lock.
#ifndef PAR_IO_TEMPORARYNAMES_H
#define PAR_IO_TEMPORARYNAMES_H

#include <string>

namespace par::io {

/// Remembers that `path` is the file behind `descriptor`. Returns its slot, or -1: too long, or too many.
/// Between making the file and this, ending signals must wait (EndingSignals.h).
int registerTemporary(const std::string &path, int descriptor);
/// The same of a file by its name alone.
int registerTemporaryFile(const std::string &path);
/// The same of a folder, which goes with what is in it.
int registerTemporaryFolder(const std::string &path);
/// The same of a folder that goes only if it is empty.
int registerTemporaryEmptyFolder(const std::string &path);
void releaseTemporary(int slot);

/// Removes a name, if it still is what was registered: somebody else may have put another there.
void removeTemporary(int slot);

} // namespace par::io
#endif
