/// A file's descriptor that is closed when its owner goes.
#ifndef PAR_IO_DESCRIPTOR_H
#define PAR_IO_DESCRIPTOR_H

#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace par::io {

/// `number` is below 0 where the file could not be opened; errno says why.
struct Descriptor {
  Descriptor(const std::string &path, int flags) : number(::open(path.c_str(), flags | O_CLOEXEC)) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  const int number;
};

} // namespace par::io
#endif
