/// What par-data says of a file of tokens that it wrote: FILE.json beside FILE (docs/Running.md, "Data").
#ifndef PAR_IO_TOKENDESCRIPTION_H
#define PAR_IO_TOKENDESCRIPTION_H

#include "par/io/Sha256.h"
#include "par/io/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace par::io {

struct TokenDescription {
  std::string type; ///< as TokenFile::typeName
  int64_t bytes = 0, tokens = 0, targets = 0;
  std::string ends;                     ///< hash of the file's ends (EndsHash)
  int64_t vocabulary = 0, largest = 0;  ///< ids that the tokenizer has, and the largest that the file has
  std::string tokenizer;                ///< its hash (hashTokenizer)
  int64_t endToken = -1;                ///< behind every document; -1: none is
  std::map<std::string, int64_t> roles; ///< messages of conversations by role
};

/// "FILE.json"
std::string descriptionFile(const std::string &tokens);
std::string toJson(const TokenDescription &description);
/// Finds nothing where there is no such file, or one that par-data did not write. Fails where one of its own
/// is damaged or contradicts itself: what it said of the tokens would be guessed then.
Status readDescription(const std::string &tokens, std::optional<TokenDescription> &found);
/// Fails where a file has the description's name and is none: it is somebody's and stays.
Status checkDescribable(const std::string &tokens);

/// SHA-256 of the first and of the last MiB of a file, whatever its size.
class EndsHash {
public:
  void add(std::string_view bytes);
  std::string finish() const;
  static std::string of(std::string_view whole);

private:
  static constexpr size_t length = size_t(1) << 20;
  std::string head, tail;
};

/// What a tokenizer.json says ids mean: a hash of its tokens and their ids, however the file is laid out.
Status hashTokenizer(const std::string &path, std::string &hash);

} // namespace par::io
#endif
