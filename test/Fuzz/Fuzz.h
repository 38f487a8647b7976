/// Common to the fuzzers: their input as a file, for code that reads files.
#ifndef PAR_TEST_FUZZ_H
#define PAR_TEST_FUZZ_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace par::fuzz {

/// A file of this process in memory, overwritten by every input.
inline const std::string &fileWith(const uint8_t *data, size_t size) {
  static const std::string path = "/dev/shm/par-fuzz-" + std::to_string(getpid()) + ".bin";
  if (std::FILE *file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(data, 1, size, file);
    std::fclose(file);
  }
  return path;
}

} // namespace par::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#endif
