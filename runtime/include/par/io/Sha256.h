/// SHA-256 (FIPS 180-4): integrity of packages and checkpoints, hash of a step's tokens.
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
  void blocks(const unsigned char *data, size_t count);
  void pad();

  uint32_t state[8];
  unsigned char buffer[64];
  uint64_t length = 0;
};

std::string sha256(std::string_view bytes);

/// A text that holds its own hash: SHA-256 of the text with the 64 digits `hash`, which stand in it in
/// quotation marks, replaced by zeros. Empty when they do not.
std::string sha256WithoutItself(const std::string &text, const std::string &hash);

} // namespace par::io
#endif
