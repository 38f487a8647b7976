#include "par/io/Files.h"

#include "par/io/MappedRanges.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
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

int64_t fileSize(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? int64_t(info.st_size) : -1;
}

/// Opens a regular file for reading and says how long it is.
static Status openForReading(const std::string &path, int &descriptor, size_t &length) {
  descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Status::error(path + ": cannot be read: " + reason());
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Status::error(path + ": is not a regular file");
  }
  length = static_cast<size_t>(info.st_size);
  return {};
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
  PAR_TRY(openForReading(path, descriptor, length));
  if (length) {
    void *mapping = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping == MAP_FAILED) {
      std::string why = reason();
      ::close(descriptor);
      return Status::error(path + ": cannot be mapped: " + why);
    }
    bytes = static_cast<const unsigned char *>(mapping);
    name = path;
    range = rememberMapping(bytes, length, name.c_str());
  }
  ::close(descriptor);
  return {};
}

// The registry of temporary names: fixed storage, so that a signal handler can walk it.
namespace {
struct TemporaryName {
  std::atomic<int> state{0}; // 0 free, 1 being written, 2 valid
  char path[4096];
};
TemporaryName temporaryNames[32];
} // namespace

static int registerName(const std::string &path) {
  if (path.size() >= sizeof(TemporaryName::path))
    return -1;
  for (int i = 0; i < 32; ++i) {
    int expected = 0;
    if (!temporaryNames[i].state.compare_exchange_strong(expected, 1))
      continue;
    std::memcpy(temporaryNames[i].path, path.c_str(), path.size() + 1);
    temporaryNames[i].state = 2;
    return i;
  }
  return -1;
}

void removeTemporaryFiles() {
  for (TemporaryName &name : temporaryNames)
    if (name.state == 2)
      unlink(name.path);
}

Status OutputFile::create(const std::string &path) {
  target = path;
  temporary = path + ".tmp" + std::to_string(getpid());
  if (isFolder(path))
    return Status::error(path + ": cannot be written: it is a folder");
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return Status::error(path + ": cannot be written: it is no regular file, and a rename would replace it");
  slot = registerName(temporary);
  if (slot < 0)
    return Status::error(path + ": cannot be written: the path is too long or too many files are open");
  descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    std::string why = reason();
    temporaryNames[slot].state = 0;
    slot = -1;
    return Status::error(path + ": cannot be written: " + why);
  }
  return {};
}

Status OutputFile::write(const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes) {
    ssize_t put = ::write(descriptor, next, bytes);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return Status::error(target + ": cannot be written: " + reason());
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

Status OutputFile::commit() {
  bool closed = ::close(descriptor) == 0;
  descriptor = -1;
  if (!closed || std::rename(temporary.c_str(), target.c_str()) != 0) {
    std::string why = reason();
    discard();
    return Status::error(target + ": cannot be written: " + why);
  }
  temporaryNames[slot].state = 0;
  slot = -1;
  return {};
}

void OutputFile::discard() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
  if (slot >= 0) {
    unlink(temporary.c_str());
    temporaryNames[slot].state = 0;
  }
  slot = -1;
}

Status writeFile(const std::string &path, std::string_view content) {
  OutputFile file;
  PAR_TRY(file.create(path));
  PAR_TRY(file.write(content.data(), content.size()));
  return file.commit();
}

} // namespace par::io
