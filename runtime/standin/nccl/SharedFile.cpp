#include "standin/nccl/SharedFile.h"

#include "standin/nccl/Driver.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace par::standin {

/// Rooms of the file are far apart: it has holes, which cost nothing.
static constexpr uint64_t roomBytes = uint64_t(1) << 32;

SharedFile::SharedFile(const std::string &name) : name(name) {
  file = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
  uint64_t bytes = roomBytes * (2 + uint64_t(mostMembers) * (1 + mostMembers));
  if (file < 0 || ftruncate(file, off_t(bytes)) != 0) {
    reportNccl("shared memory " + name + ": " + std::strerror(errno));
    return;
  }
  void *mapped = mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  content = mapped == MAP_FAILED ? nullptr : static_cast<Content *>(mapped);
}

SharedFile::~SharedFile() {
  if (content)
    munmap(content, sizeof(Content));
  if (file >= 0)
    close(file);
}

void SharedFile::forgetName() const { shm_unlink(name.c_str()); }

void SharedFile::write(uint64_t room, const void *data, uint64_t bytes) const {
  for (uint64_t done = 0; done < bytes;) {
    ssize_t wrote =
        pwrite(file, static_cast<const char *>(data) + done, bytes - done, off_t(room * roomBytes + done));
    if (wrote <= 0)
      return reportNccl(std::string("shared memory cannot be written: ") + std::strerror(errno));
    done += uint64_t(wrote);
  }
}

void SharedFile::read(uint64_t room, uint64_t offset, void *data, uint64_t bytes) const {
  for (uint64_t done = 0; done < bytes;) {
    ssize_t got =
        pread(file, static_cast<char *>(data) + done, bytes - done, off_t(room * roomBytes + offset + done));
    if (got <= 0)
      return reportNccl(std::string("shared memory cannot be read: ") + std::strerror(errno));
    done += uint64_t(got);
  }
}

} // namespace par::standin
