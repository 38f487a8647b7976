/// One file of tokens: its format, its tokens by position, where its documents begin.
#ifndef PAR_IO_TOKENFILE_H
#define PAR_IO_TOKENFILE_H

#include "par/io/Files.h"
#include "par/io/Status.h"
#include "par/io/TokenDescription.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace par::io {

/// Element type of a file of tokens, little-endian. `automatic`: what the file or its name says.
enum class TokenType { automatic, uint8, uint16, uint32 };

/// How command lines spell them: "uint16" and, for short, "u16".
const std::vector<std::pair<std::string, TokenType>> &tokenTypeWords();
/// The first of a type's words.
std::string nameOf(TokenType type);
/// As TokenFile::typeName, of what par-data writes.
std::string typeNameOf(TokenType type, bool hasMask, bool hasRows);

class TokenFile {
public:
  /// Formats: NAME.bin with NAME.idx beside it (Megatron's indexed data set; either name may be given), *.bin
  /// with llm.c's header, *.bin of par-data --chat (MaskedTokens.h), other *.bin headerless uint16 (uint32
  /// when `vocabulary` > 65536), any other file bytes, which are no tokens of a `vocabulary` above 256 unless
  /// `wanted` says so. It overrides the type where the format states none. What par-data wrote beside a file
  /// (TokenDescription.h) says its type, and has to fit the file, `wanted` and the model; of other headerless
  /// files the bytes do. `tokenizer` is the model's, which is compared, or empty.
  Status open(const std::string &path, TokenType wanted, uint32_t vocabulary,
              const std::string &tokenizer = "");

  /// The flag that says the type, for messages of another tool than par-run.
  void nameTypeFlag(const char *flag) { typeFlag = flag; }

  const std::string &path() const { return name; }
  int64_t size() const { return length; }
  /// Of its tokens: "uint16".
  std::string typeName() const;
  int64_t token(int64_t position) const;
  /// Whether no token can be `vocabulary` or above, whatever the file holds.
  bool alwaysBelow(uint32_t vocabulary) const;

  /// Whether some tokens are no targets, and whether this one is none.
  bool hasMask() const { return element == Element::masked || hasRows(); }
  bool isMasked(int64_t position) const;

  /// Whether every document is a row of its own, as no window spans two of them.
  bool hasRows() const { return element == Element::maskedRows; }
  /// Positions at which rows begin.
  const std::vector<int64_t> &rows() const { return documents; }

  /// What par-data wrote beside it, or nothing.
  const std::optional<TokenDescription> &description() const { return said; }

  bool knowsDocuments() const { return hasDocuments; }
  /// Whether a document begins at this position.
  bool beginsDocument(int64_t position) const;
  /// Hash of length and documents: who has another one reads other data, most likely.
  std::string indexHash() const;

private:
  enum class Element { uint8, int8, uint16, int16, int32, uint32, int64, masked, maskedRows };
  static int64_t bytesOf(Element element);
  Status openFormat(TokenType wanted, uint32_t vocabulary, const std::string &tokenizer);
  Status checkDescription(TokenType wanted) const;
  Status checkModel(uint32_t vocabulary, const std::string &tokenizer) const;
  Status checkGuess(TokenType read, uint32_t vocabulary) const;
  Status checkGiven(TokenType read) const;
  std::string_view contents() const { return {reinterpret_cast<const char *>(file.data()), file.size()}; }
  Status areNoTokens(uint32_t vocabulary, const std::string &tokenizer) const;
  Status statesItsType(const char *format) const;
  Status openHeaderless(TokenType wanted, uint32_t vocabulary, const std::string &tokenizer);
  Status openLlmc(TokenType wanted);
  Status openMasked(TokenType wanted);
  Status openMegatron(TokenType wanted);
  Status readIndex(const MappedFile &index, const std::string &indexName);

  std::string name, typeFlag = "--data-dtype";
  MappedFile file;
  std::optional<TokenDescription> said;
  Element element = Element::uint8;
  int64_t base = 0; ///< bytes before the first token
  int64_t length = 0;
  bool hasDocuments = false;
  std::vector<int64_t> documents; ///< positions at which one begins, ascending
};

} // namespace par::io
#endif
