/// Files of tokens: headerless, little-endian.
#ifndef PAR_DATA_TOKENWRITER_H
#define PAR_DATA_TOKENWRITER_H

#include "par/io/Files.h"
#include "par/io/TokenData.h"

#include <vector>

namespace par::data {

/// u16 for at most 65536 ids, else u32 (tools' contract, item 2).
inline io::TokenType typeFor(uint32_t vocabulary) {
  return vocabulary <= 65536 ? io::TokenType::uint16 : io::TokenType::uint32;
}

class TokenWriter {
public:
  io::Status create(const std::string &path, io::TokenType type);
  io::Status append(const std::vector<uint32_t> &ids);
  /// The file appears under its name.
  io::Status commit();
  uint64_t tokens() const { return count; }

private:
  io::OutputFile file;
  std::string buffer;
  io::TokenType type = io::TokenType::uint16;
  uint64_t count = 0;
};

} // namespace par::data
#endif
