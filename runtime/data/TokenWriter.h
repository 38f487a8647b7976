/// Files of tokens: headerless, little-endian.
#ifndef PAR_DATA_TOKENWRITER_H
#define PAR_DATA_TOKENWRITER_H

#include "data/Output.h"
#include "par/io/TokenData.h"

#include <vector>

namespace par::data {

/// uint16 for at most 65536 ids, else uint32 (tools' contract, item 2).
inline io::TokenType typeFor(uint32_t vocabulary) {
  return vocabulary <= 65536 ? io::TokenType::uint16 : io::TokenType::uint32;
}

class TokenWriter {
public:
  /// As Output::create.
  io::Status create(const std::string &path, const std::vector<std::string> &inputs, io::TokenType type);
  /// Tokens may have io::maskedBit from now on. All of them are kept until `commit`: the file begins with
  /// their number.
  void writeMasks() { masked = true; }
  io::Status append(const std::vector<uint32_t> &ids);
  /// The file appears under its name.
  io::Status commit();
  uint64_t tokens() const { return count; }

private:
  Output output;
  std::string buffer;
  io::TokenType type = io::TokenType::uint16;
  bool masked = false;
  uint64_t count = 0;
};

} // namespace par::data
#endif
