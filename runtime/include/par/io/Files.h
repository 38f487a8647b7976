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
/// Whether there is such a file, or a link, be it one that leads nowhere: opening that says so.
bool isFileOrLink(const std::string &path);

/// Bytes of a regular file, or -1.
int64_t fileSize(const std::string &path);

/// "is a pointer of Git LFS ...; do ..." where a file begins like the text that Git has in place of a large
/// file until that is fetched, else nothing.
std::string pointerOfGitLfs(std::string_view begin);

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

/// Whether a file could be written there. Leaves nothing behind.
Status checkWritable(const std::string &path);

/// 16 hexadecimal digits that nobody can foretell.
std::string randomName();

/// A file beside its place, without a name where the file system can do that, else under one that nobody can
/// foretell. `commit` gives it its own; a destroyed or discarded one is removed. Links are not followed.
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
  Status openNamed();
  Status nameUnnamed();

  std::string target, temporary; ///< the latter empty while the file has no name
  int descriptor = -1;
  int slot = -1; ///< of the temporary name; -1: there is none
};

/// A folder under a temporary name beside its place. `commit` renames it; a destroyed or discarded one is
/// removed with its content.
class OutputFolder {
public:
  OutputFolder() = default;
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;
  ~OutputFolder() { discard(); }
  /// The folder is "PATH.TAG.tmp", which must not exist.
  Status create(const std::string &path, const std::string &tag);
  /// Gives a folder that is there such a name, for it is to be removed.
  Status takeAway(const std::string &path, const std::string &tag);
  /// Returns when the new name is on the disk. Replaces an empty folder and nothing else.
  Status commit();
  void discard();
  const std::string &path() const { return temporary; }
  static std::string temporaryName(const std::string &path, const std::string &tag) {
    return path + "." + tag + ".tmp";
  }

private:
  std::string target, temporary;
  int slot = -1; ///< of the temporary name
};

/// Removes what the process has under temporary names: OutputFiles, OutputFolders with what is in them,
/// locks. Callable from a signal handler.
void removeTemporaries();

} // namespace par::io
#endif
