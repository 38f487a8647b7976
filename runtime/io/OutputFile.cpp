#include "par/io/EndingSignals.h"
#include "par/io/Files.h"
#include "par/io/TemporaryNames.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace par::io {

static std::string reason() { return std::strerror(errno); }

std::string randomName() {
  unsigned char bytes[8];
  std::string text;
  if (getrandom(bytes, sizeof(bytes), 0) != ssize_t(sizeof(bytes)))
    return std::to_string(getpid()); // a name is taken only when nobody has it
  for (unsigned char byte : bytes)
    for (int shift : {4, 0})
      text += "0123456789abcdef"[(byte >> shift) & 15];
  return text;
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// A file that has no name yet vanishes with its process, however that ends. -1 where there is no such thing:
/// network file systems, no /proc to give it a name by.
static int openUnnamed(const std::string &path) {
  if (access("/proc/self/fd", X_OK) != 0)
    return -1;
  return ::open(folderOf(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

/// Neither follows a link nor takes a file that somebody else put there.
Status OutputFile::openNamed() {
  SignalsWait wait; // none comes between the file and what removes it
  for (int attempt = 0; attempt < 10 && descriptor < 0; ++attempt) {
    temporary = target + ".tmp-" + randomName();
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST)
      break;
  }
  if (descriptor < 0)
    return Status::error(target + ": cannot be written: " + reason());
  slot = registerTemporary(temporary, descriptor);
  if (slot >= 0)
    return {};
  unlink(temporary.c_str());
  ::close(descriptor);
  descriptor = -1;
  return Status::error(target + ": cannot be written: the path is too long or too many files are open");
}

Status OutputFile::create(const std::string &path) {
  target = path;
  struct stat status;
  if (isFolder(path))
    return Status::error(path + ": cannot be written: it is a folder");
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return Status::error(path + ": cannot be written: it is no regular file, and a rename would replace it");
  descriptor = openUnnamed(path);
  return descriptor >= 0 ? Status() : openNamed();
}

Status OutputFile::write(const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes) {
    ssize_t put = ::write(descriptor, next, bytes);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return Status::error(target + ": cannot be written: " + (put ? reason() : std::strerror(ENOSPC)));
    next += put;
    bytes -= static_cast<size_t>(put);
  }
  return {};
}

Status OutputFile::commitDurably() {
  if (fsync(descriptor) != 0)
    return Status::error(target + ": cannot be written: " + reason());
  return commit();
}

/// Gives a file without a name one, which a rename then replaces by the wanted one: a link never replaces.
Status OutputFile::nameUnnamed() {
  SignalsWait wait; // none comes between the name and what removes it
  std::string self = "/proc/self/fd/" + std::to_string(descriptor);
  for (int attempt = 0; attempt < 10; ++attempt) {
    temporary = target + ".tmp-" + randomName();
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      slot = registerTemporary(temporary, descriptor);
      return {};
    }
    if (errno != EEXIST)
      break;
  }
  return Status::error(target + ": cannot be written: " + reason());
}

Status OutputFile::commit() {
  if (temporary.empty())
    if (Status named = nameUnnamed(); !named.ok()) {
      discard();
      return named;
    }
  bool closed = ::close(descriptor) == 0;
  descriptor = -1;
  if (!closed || std::rename(temporary.c_str(), target.c_str()) != 0) {
    std::string why = reason();
    if (slot < 0)
      unlink(temporary.c_str());
    discard();
    return Status::error(target + ": cannot be written: " + why);
  }
  if (slot >= 0)
    releaseTemporary(slot);
  slot = -1;
  temporary.clear();
  return {};
}

void OutputFile::discard() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
  if (slot >= 0)
    removeTemporary(slot);
  slot = -1;
  temporary.clear();
}

Status writeFile(const std::string &path, std::string_view content) {
  OutputFile file;
  PAR_TRY(file.create(path));
  PAR_TRY(file.write(content.data(), content.size()));
  return file.commit();
}

Status checkWritable(const std::string &path) { return OutputFile().create(path); }

} // namespace par::io
