/// Files of tokens: headerless, or with masks (par/io/MaskedTokens.h), little-endian. Beside a file lies what
/// it is (par/io/TokenDescription.h).
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
  /// As Output::create. Fails where the description would replace somebody's file.
  io::Status create(const std::string &path, const std::vector<std::string> &inputs, io::TokenType type);
  /// Tokens may have io::maskedBit from now on, and with `rows` io::rowBit. All of them are kept until
  /// `commit`: the file begins with their number.
  void writeMasks(bool rows) { masked = true, hasRows = rows; }
  io::Status append(const std::vector<uint32_t> &ids);
  /// The file appears under its name, and its description, of which the tokenizer is filled in already.
  io::Status commit(io::TokenDescription about);
  uint64_t tokens() const { return count; }
  uint64_t targets() const { return trained; }

private:
  io::Status write(const std::string &bytes);

  Output output;
  io::OutputFile description;
  io::EndsHash ends;
  std::string buffer;
  io::TokenType type = io::TokenType::uint16;
  bool masked = false, hasRows = false, isDescribed = false;
  uint32_t largest = 0;
  uint64_t count = 0, trained = 0, bytes = 0;
};

} // namespace par::data
#endif
