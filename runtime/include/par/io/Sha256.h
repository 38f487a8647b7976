/// SHA-256 (FIPS 180-4): integrity of packages, hash of a step's tokens.
#ifndef PAR_IO_SHA256_H
#define PAR_IO_SHA256_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace par::io {

class Sha256 {
public:
  Sha256();
  void update(const void *data, size_t bytes);
  /// 64 lower-case hexadecimal digits of everything given so far. The object is used up.
  std::string finish();
  /// The same as 32 bytes.
  std::string finishBytes();

private:
  void block(const unsigned char *data);
  void pad();

  uint32_t state[8];
  unsigned char buffer[64];
  uint64_t length = 0;
};

std::string sha256(std::string_view bytes);

} // namespace par::io
#endif
