/// Whole files in, and files out that exist under their name only when they are complete.
#ifndef PAR_IO_FILES_H
#define PAR_IO_FILES_H

#include "par/io/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace par::io {

bool isFolder(const std::string &path);
bool isFile(const std::string &path);

/// Bytes of a regular file, or -1.
int64_t fileSize(const std::string &path);

/// The whole content of a regular file.
Status readFile(const std::string &path, std::string &content);

/// Writes a whole file, which appears under its name when it is complete.
Status writeFile(const std::string &path, std::string_view content);

/// A read-only mapping of a regular file. Empty files have no bytes and a null pointer.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();
  Status open(const std::string &path);
  const unsigned char *data() const { return bytes; }
  size_t size() const { return length; }

private:
  const unsigned char *bytes = nullptr;
  size_t length = 0;
  std::string name; ///< for whoever finds the file cut short (MappedRanges.h)
  int range = -1;
};

/// A file under a temporary name beside its place. `commit` renames it; a destroyed or discarded one is
/// removed.
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile() { discard(); }
  Status create(const std::string &path);
  Status write(const void *data, size_t bytes);
  Status commit();
  /// Commits, and returns only when the data are on the disk.
  Status commitDurably();
  void discard();
  const std::string &path() const { return target; }

private:
  std::string target, temporary;
  int descriptor = -1;
  int slot = -1;
};

/// Removes the temporary names of all open OutputFiles of the process. Callable from a signal handler.
void removeTemporaryFiles();

} // namespace par::io
#endif
