#include "par/io/Files.h"

#include "par/io/MappedRanges.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace par::io {

static std::string reason() { return std::strerror(errno); }

bool isFolder(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool isFile(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool isFileOrLink(const std::string &path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode));
}

int64_t fileSize(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? int64_t(info.st_size) : -1;
}

std::string pointerOfGitLfs(std::string_view begin) {
  for (std::string_view first :
       {"version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"})
    if (begin.substr(0, first.size()) == first)
      return "is a pointer of Git LFS and not the file that it stands for; fetch that with git lfs pull in "
             "its folder";
  return "";
}

/// Whatever is read, a pointer is not meant.
static std::string pointerIn(int descriptor, size_t length) {
  char text[40] = "";
  ssize_t got = length < 1024 ? ::pread(descriptor, text, sizeof(text), 0) : 0;
  return pointerOfGitLfs({text, static_cast<size_t>(std::max<ssize_t>(got, 0))});
}

/// Caches of Hugging Face are full of links, whose files may have been taken away.
static std::string unreadable(const std::string &path) {
  std::string why = reason();
  bool isNowhere = errno == ENOENT || errno == ELOOP;
  char target[1024];
  ssize_t length = isNowhere ? readlink(path.c_str(), target, sizeof(target)) : -1;
  if (length < 0)
    return path + ": cannot be read: " + why;
  return path + ": is a link to " + std::string(target, size_t(length)) +
         ", which leads nowhere; fetch the file that it stands for again";
}

/// Opens a regular file for reading and says how long it is.
static Status openForReading(const std::string &path, int &descriptor, size_t &length) {
  // Nobody may ever write to a pipe: it is not waited for.
  descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0)
    return Status::error(unreadable(path));
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Status::error(
        path +
        (S_ISFIFO(info.st_mode)
             ? ": is a pipe, whose length nobody knows; write what comes from it to a file, and give that"
             : ": is not a regular file"));
  }
  length = static_cast<size_t>(info.st_size);
  std::string pointer = pointerIn(descriptor, length);
  if (pointer.empty())
    return {};
  ::close(descriptor);
  return Status::error(path + ": " + pointer);
}

Status readFile(const std::string &path, std::string &content) {
  int descriptor;
  size_t length;
  PAR_TRY(openForReading(path, descriptor, length));
  content.resize(length);
  size_t done = 0;
  while (done < length) {
    ssize_t got = ::read(descriptor, content.data() + done, length - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    done += static_cast<size_t>(got);
  }
  ::close(descriptor);
  if (done != length)
    return Status::error(path + ": only " + std::to_string(done) + " of " + std::to_string(length) +
                         " bytes could be read");
  return {};
}

MappedFile::~MappedFile() {
  forgetMapping(range);
  if (bytes)
    munmap(const_cast<unsigned char *>(bytes), length);
}

Status MappedFile::open(const std::string &path) {
  int descriptor;
  size_t wholeLength; // `length` is that of `bytes`, and there are none where this fails
  PAR_TRY(openForReading(path, descriptor, wholeLength));
  if (wholeLength) {
    void *mapping = mmap(nullptr, wholeLength, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping == MAP_FAILED) {
      std::string why = reason();
      ::close(descriptor);
      return Status::error(path + ": cannot be mapped: " + why);
    }
    bytes = static_cast<const unsigned char *>(mapping), length = wholeLength;
    name = path;
    range = rememberMapping(bytes, length, name.c_str());
  }
  ::close(descriptor);
  return {};
}

} // namespace par::io
