#include "par/io/TokenFile.h"

#include "io/TokenContents.h"
#include "par/io/MaskedTokens.h"
#include "par/io/Sha256.h"

#include <algorithm>
#include <cstring>

namespace par::io {

const std::vector<std::pair<std::string, TokenType>> &tokenTypeWords() {
  static const std::vector<std::pair<std::string, TokenType>> words = {
      {"uint8", TokenType::uint8}, {"uint16", TokenType::uint16}, {"uint32", TokenType::uint32},
      {"u8", TokenType::uint8},    {"u16", TokenType::uint16},    {"u32", TokenType::uint32}};
  return words;
}

std::string nameOf(TokenType type) {
  for (const auto &[word, named] : tokenTypeWords())
    if (named == type)
      return word;
  return "automatic";
}

static constexpr char maskedName[] = "uint32 with masked targets",
                      rowsName[] = "uint32 with masked targets and a conversation per row";

std::string typeNameOf(TokenType type, bool hasMask, bool hasRows) {
  return hasRows ? rowsName : hasMask ? maskedName : nameOf(type);
}

static bool endsWith(const std::string &text, const char *suffix) {
  size_t length = std::strlen(suffix);
  return text.size() >= length && text.compare(text.size() - length, length, suffix) == 0;
}

template <typename T>
static T load(const unsigned char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

int64_t TokenFile::bytesOf(Element element) {
  switch (element) {
  case Element::uint8:
  case Element::int8:
    return 1;
  case Element::uint16:
  case Element::int16:
    return 2;
  case Element::int64:
    return 8;
  default:
    return 4;
  }
}

std::string TokenFile::typeName() const {
  static const char *const names[] = {"uint8",  "int8",  "uint16",   "int16", "int32",
                                      "uint32", "int64", maskedName, rowsName};
  return names[int(element)];
}

int64_t TokenFile::token(int64_t position) const {
  const unsigned char *at = file.data() + base + position * bytesOf(element);
  switch (element) {
  case Element::uint8:
    return *at;
  case Element::int8:
    return int8_t(*at);
  case Element::uint16:
    return load<uint16_t>(at);
  case Element::int16:
    return load<int16_t>(at);
  case Element::int32:
    return load<int32_t>(at);
  case Element::uint32:
    return load<uint32_t>(at);
  case Element::int64:
    return load<int64_t>(at);
  case Element::masked:
    return load<uint32_t>(at) & ~maskedBit;
  case Element::maskedRows:
    return load<uint32_t>(at) & ~(maskedBit | rowBit);
  }
  return 0;
}

bool TokenFile::isMasked(int64_t position) const {
  return hasMask() && (load<uint32_t>(file.data() + base + position * bytesOf(element)) & maskedBit);
}

bool TokenFile::alwaysBelow(uint32_t vocabulary) const {
  return (element == Element::uint8 && vocabulary >= 256) ||
         (element == Element::uint16 && vocabulary >= 65536);
}

bool TokenFile::beginsDocument(int64_t position) const {
  return std::binary_search(documents.begin(), documents.end(), position);
}

Status TokenFile::open(const std::string &path, TokenType wanted, uint32_t vocabulary,
                       const std::string &tokenizer) {
  name = endsWith(path, ".idx") ? path.substr(0, path.size() - 4) + ".bin" : path;
  PAR_TRY(file.open(name));
  PAR_TRY(readDescription(name, said));
  if (!said)
    return openFormat(wanted, vocabulary, tokenizer);
  PAR_TRY(checkDescription(wanted));
  for (const auto &[word, type] : tokenTypeWords())
    if (word == said->type)
      wanted = type;
  PAR_TRY(openFormat(wanted, vocabulary, tokenizer));
  if (typeName() != said->type || length != said->tokens)
    return Status::error(descriptionFile(name) + ": says " + std::to_string(said->tokens) + " tokens of " +
                         said->type + ", but " + name + " has " + std::to_string(length) + " of " +
                         typeName() + "; write the tokens again with par-data, or remove the former");
  return checkModel(vocabulary, tokenizer);
}

Status TokenFile::openFormat(TokenType wanted, uint32_t vocabulary, const std::string &tokenizer) {
  if (endsWith(name, ".bin") && isFile(name.substr(0, name.size() - 4) + ".idx"))
    return openMegatron(wanted);
  uint32_t magic = file.size() >= 4 ? load<uint32_t>(file.data()) : 0;
  if (endsWith(name, ".bin") && (magic == 20240520 || magic == 20240801))
    return openLlmc(wanted);
  auto begins = [&](const char *bytes) {
    return file.size() >= 8 && std::memcmp(file.data(), bytes, 8) == 0;
  };
  if (begins(maskedMagic) || begins(rowsMagic))
    return openMasked(wanted);
  return openHeaderless(wanted, vocabulary, tokenizer);
}

/// Whether the description is of this file, and says what the user says.
Status TokenFile::checkDescription(TokenType wanted) const {
  std::string place = descriptionFile(name);
  if (said->bytes != int64_t(file.size()))
    return Status::error(name + ": has " + std::to_string(file.size()) + " bytes, but " + place + " says " +
                         std::to_string(said->bytes) +
                         "; write the tokens again with par-data, or remove the latter if they are others");
  if (said->ends != EndsHash::of(contents()))
    return Status::error(name + ": was changed after par-data wrote it: its hash is not that of " + place +
                         "; write the tokens again, or remove the latter if they are others");
  if (wanted != TokenType::automatic && nameOf(wanted) != said->type)
    return Status::error(name + ": was written as " + said->type + ", as " + place + " says, not as " +
                         nameOf(wanted) + "; leave " + typeFlag + " out");
  return {};
}

/// Whether the ids mean what the model knows by them: of its own tokenizer, else by their number.
Status TokenFile::checkModel(uint32_t vocabulary, const std::string &tokenizer) const {
  std::string own, place = descriptionFile(name), remedy = "; write the tokens again with the model's ";
  if (said->largest >= int64_t(vocabulary))
    return Status::error(name + ": has token " + std::to_string(said->largest) + ", as " + place +
                         " says, but the model's vocabulary has ids 0 to " + std::to_string(vocabulary - 1) +
                         remedy + "tokenizer");
  if (!tokenizer.empty())
    PAR_TRY(hashTokenizer(tokenizer, own));
  if (!tokenizer.empty() && own != said->tokenizer)
    return Status::error(name + ": was written with another tokenizer than the model's, " + tokenizer +
                         ", as their hashes say" + remedy + "(par-data --tokenizer " + tokenizer +
                         "), or remove " + place + " if the ids mean the same");
  if (tokenizer.empty() && said->vocabulary > int64_t(vocabulary))
    return Status::error(name + ": was written with a tokenizer of " + std::to_string(said->vocabulary) +
                         " ids, as " + place + " says, but the model's vocabulary has " +
                         std::to_string(vocabulary) + remedy + "tokenizer, or remove " + place +
                         " if the ids mean the same");
  return {};
}

/// Integers of 64 bits, as NumPy and PyTorch write lists of tokens.
static std::string longIntegers(const std::string &name) {
  return "every second 32-bit word is 0, as in a file of 64-bit integers, which are not read; convert it "
         "with "
         "numpy.fromfile(\"" +
         name + "\", \"<i8\").astype(\"<u4\").tofile(\"NEW.bin\"), and give that with ";
}

/// Tokens of another width train all the same, half of them 0.
Status TokenFile::checkGuess(TokenType read, uint32_t vocabulary) const {
  int apparent = apparentBits(contents(), read, vocabulary);
  if (apparent == 8 * bytesOf(element))
    return {};
  std::string found =
      apparent == 64 ? longIntegers(name) + typeFlag + " uint32"
      : apparent == 32
          ? "every second 16-bit word is 0 or small, as in a file of 32-bit tokens; give " + typeFlag +
                " uint32"
          : "most 32-bit words are beyond it, as in a file of 16-bit tokens; give " + typeFlag + " uint16";
  return Status::error(name + ": would be read as " + nameOf(read) + ", as the model's vocabulary has " +
                       std::to_string(vocabulary) + " ids, but " + found +
                       (areLongIntegers(contents()) // which no type reads
                            ? ""
                            : ", or " + typeFlag + " " + nameOf(read) + " if it is right"));
}

/// Whoever gives a type knows better than the bytes, unless no type is right. What par-data wrote is.
Status TokenFile::checkGiven(TokenType read) const {
  if (said || read == TokenType::uint8 || !areLongIntegers(contents()))
    return {};
  return Status::error(name + ": would be read as " + nameOf(read) + ", as " + typeFlag + " says, but " +
                       longIntegers(name) + typeFlag + " uint32");
}

/// The commonest mistake: text for a model whose tokens are words. It would train, on bytes.
Status TokenFile::areNoTokens(uint32_t vocabulary, const std::string &tokenizer) const {
  size_t dot = name.rfind('.');
  bool hasEnding = dot != std::string::npos && dot > 0 && name.find('/', dot) == std::string::npos;
  return Status::error(name + ": is no .bin, so its bytes would be the tokens of a model that has " +
                       std::to_string(vocabulary) + " tokens; make tokens of it with par-data " + name +
                       " --tokenizer " + (tokenizer.empty() ? "HF_DIR" : tokenizer) + " -o " +
                       name.substr(0, hasEnding ? dot : name.size()) + ".bin, or give " + typeFlag +
                       " uint8 if bytes are meant");
}

Status TokenFile::openHeaderless(TokenType wanted, uint32_t vocabulary, const std::string &tokenizer) {
  constexpr uint32_t bytesAtMost = 256;
  if (wanted == TokenType::automatic && !endsWith(name, ".bin") && vocabulary > bytesAtMost)
    return areNoTokens(vocabulary, tokenizer);
  bool isGuess = wanted == TokenType::automatic;
  if (isGuess)
    wanted = !endsWith(name, ".bin") ? TokenType::uint8
             : vocabulary <= 65536   ? TokenType::uint16
                                     : TokenType::uint32;
  element = wanted == TokenType::uint8    ? Element::uint8
            : wanted == TokenType::uint16 ? Element::uint16
                                          : Element::uint32;
  int64_t bytes = int64_t(file.size());
  if (bytes % bytesOf(element) != 0)
    return Status::error(name + ": has " + std::to_string(bytes) + " bytes, which is no whole number of " +
                         std::to_string(bytesOf(element)) + "-byte tokens; give the right " + typeFlag);
  length = bytes / bytesOf(element);
  return isGuess ? checkGuess(wanted, vocabulary) : checkGiven(wanted);
}

Status TokenFile::statesItsType(const char *format) const {
  return Status::error(name + ": is in " + format + " format, which states its own type; leave " + typeFlag +
                       " out");
}

/// 256 int32 words: a magic number per type, version, number of tokens; then the tokens.
Status TokenFile::openLlmc(TokenType wanted) {
  if (wanted != TokenType::automatic)
    return statesItsType("llm.c's");
  constexpr int64_t headerBytes = 1024;
  element = load<uint32_t>(file.data()) == 20240520 ? Element::uint16 : Element::uint32;
  int64_t bytes = int64_t(file.size());
  if (bytes < headerBytes)
    return Status::error(name + ": llm.c's header has 1024 bytes, the file only " + std::to_string(bytes) +
                         "; it is truncated");
  uint32_t version = load<uint32_t>(file.data() + 4), known = element == Element::uint16 ? 1 : 7;
  if (version != known)
    return Status::error(name + ": llm.c's header has version " + std::to_string(version) +
                         ", this reader knows version " + std::to_string(known) +
                         " of such files; write it again with par-data or llm.c's own scripts");
  base = headerBytes, length = load<uint32_t>(file.data() + 8);
  if (bytes != base + length * bytesOf(element))
    return Status::error(name + ": llm.c's header says " + std::to_string(length) + " tokens of " +
                         std::to_string(bytesOf(element)) + " bytes, but " + std::to_string(bytes - base) +
                         " bytes follow it; the file is truncated or damaged, write it again");
  return {};
}

Status TokenFile::openMasked(TokenType wanted) {
  if (wanted != TokenType::automatic)
    return statesItsType("par-data --chat's");
  bool isRows = std::memcmp(file.data(), rowsMagic, 8) == 0;
  element = isRows ? Element::maskedRows : Element::masked, base = maskedHeaderBytes;
  uint64_t bytes = file.size(), tokens = bytes >= uint64_t(base) ? load<uint64_t>(file.data() + 8) : 0;
  if (bytes < uint64_t(base) || bytes % 4 || tokens != (bytes - uint64_t(base)) / 4)
    return Status::error(name + ": its header says " + std::to_string(tokens) +
                         " tokens of 4 bytes, but it has " + std::to_string(bytes) +
                         " bytes; the file is truncated or damaged, write it again");
  length = int64_t(tokens);
  hasDocuments = isRows;
  for (int64_t i = 0; isRows && i < length; ++i)
    if (i == 0 || (load<uint32_t>(file.data() + base + 4 * i) & rowBit))
      documents.push_back(i);
  return {};
}

Status TokenFile::openMegatron(TokenType wanted) {
  if (wanted != TokenType::automatic)
    return statesItsType("Megatron's");
  std::string indexName = name.substr(0, name.size() - 4) + ".idx";
  MappedFile index;
  PAR_TRY(index.open(indexName));
  return readIndex(index, indexName);
}

/// Magic, version 1, type, number of sequences and of document bounds; per sequence its length and its first
/// byte; the sequences with which documents begin, and one past the last.
Status TokenFile::readIndex(const MappedFile &index, const std::string &indexName) {
  static const Element elements[] = {Element::uint8, Element::int8, Element::int16, Element::int32,
                                     Element::int64};
  constexpr size_t headBytes = 34;
  auto damaged = [&](const std::string &what) {
    return Status::error(indexName + ": " + what +
                         "; the index is damaged or no Megatron index, write it again or move it away");
  };
  const unsigned char *at = index.data();
  if (index.size() < headBytes || std::memcmp(at, "MMIDIDX\0\0", 9) != 0)
    return damaged("does not begin like a Megatron index");
  uint64_t version = load<uint64_t>(at + 9), sequences = load<uint64_t>(at + 18),
           bounds = load<uint64_t>(at + 26);
  int code = at[17];
  if (version != 1)
    return damaged("version is " + std::to_string(version) + ", expected 1");
  if ((code < 1 || code > 5) && code != 8)
    return damaged("type code is " + std::to_string(code) + ", expected an integer type (1 to 5 or 8)");
  element = code == 8 ? Element::uint16 : elements[code - 1];
  uint64_t most = index.size();
  if (sequences > most || bounds > most || index.size() != headBytes + 12 * sequences + 8 * bounds)
    return damaged(std::to_string(sequences) + " sequences and " + std::to_string(bounds) +
                   " document bounds do not fit its " + std::to_string(index.size()) + " bytes");
  const unsigned char *lengths = at + headBytes, *pointers = lengths + 4 * sequences,
                      *firsts = pointers + 8 * sequences;
  std::vector<int64_t> begins{0};
  for (uint64_t i = 0; i < sequences; ++i) {
    int64_t count = load<int32_t>(lengths + 4 * i);
    if (count < 0 || load<int64_t>(pointers + 8 * i) != begins.back() * bytesOf(element))
      return damaged("sequence " + std::to_string(i) + " does not begin where the one before it ends");
    begins.push_back(begins.back() + count);
  }
  for (uint64_t i = 0; i < bounds; ++i) {
    uint64_t sequence = load<uint64_t>(firsts + 8 * i);
    if (sequence > sequences)
      return damaged("document " + std::to_string(i) + " begins with sequence " + std::to_string(sequence) +
                     " of " + std::to_string(sequences));
    if (!documents.empty() && begins[sequence] < documents.back())
      return damaged("document " + std::to_string(i) + " begins with sequence " + std::to_string(sequence) +
                     ", before the one ahead of it, but documents follow each other");
    documents.push_back(begins[sequence]);
  }
  hasDocuments = true;
  length = begins.back();
  if (length * bytesOf(element) > int64_t(file.size()))
    return Status::error(name + ": has " + std::to_string(file.size()) + " bytes, but " + indexName +
                         " says " + std::to_string(length) + " tokens of " +
                         std::to_string(bytesOf(element)) +
                         " bytes; the file is truncated, write both again");
  return {};
}

std::string TokenFile::indexHash() const {
  Sha256 hash;
  hash.update(&length, sizeof(length));
  hash.update(documents.data(), documents.size() * sizeof(documents[0]));
  return hash.finish();
}

} // namespace par::io
