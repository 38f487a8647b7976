/// Tokenizers with marks for spaces, which SentencePiece learnt, have parts of their own: Llama 2, Mistral,
/// Gemma, Phi 3.
#include "text/TokenizerReader.h"
#include "text/Utf8.h"

#include <algorithm>
#include <cstdio>

namespace par::text {

void TokenizerReader::replace(const JsonNode &node) {
  node.onlyKeys({"type", "pattern", "content"});
  node["pattern"].onlyKeys({"String"});
  std::string from = node["pattern"]["String"].text();
  if (from.empty())
    node["pattern"].fail("is empty");
  tokenizer.normalizer.addReplace(from, node["content"].text());
}

void TokenizerReader::markedPreTokenizer(const JsonNode &node, const std::string &type) {
  if (type == "Metaspace")
    return metaspace(node);
  if (type == "Split")
    return splitAtSpaces(node);
  node["type"].fail(
      "\"" + type +
      "\" is not supported with byte_fallback, only \"Metaspace\", \"Split\" at spaces and null");
}

/// Gemma's: its normalizer leaves no space at which a text is split, so that it does nothing.
void TokenizerReader::splitAtSpaces(const JsonNode &node) const {
  node.onlyKeys({"type", "pattern", "behavior", "invert"});
  node["pattern"].onlyKeys({"String"});
  if (node["pattern"]["String"].text() != " ")
    node["pattern"]["String"].fail("is \"" + node["pattern"]["String"].text() +
                                   "\", but with byte_fallback texts are split at \" \" only");
  std::string behavior = node["behavior"].text();
  const char *known[] = {"MergedWithPrevious", "MergedWithNext", "Isolated", "Contiguous", "Removed"};
  if (std::find(std::begin(known), std::end(known), behavior) == std::end(known))
    node["behavior"].fail("\"" + behavior + "\" is not supported, only \"MergedWithPrevious\" and its like");
  if (node.boolean("invert", false))
    node["invert"].fail("is true, which is not supported with byte_fallback");
  if (!tokenizer.normalizer.leavesNoSpace())
    node["pattern"].fail("splits at spaces, which is supported where the normalizer replaces all of them, as "
                         "Gemma's does by \"\u2581\"");
}

void TokenizerReader::metaspace(const JsonNode &node) {
  node.onlyKeys({"type", "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep"});
  if (node["replacement"].text() != spaceMark)
    node["replacement"].fail("is \"" + node["replacement"].text() + "\", expected \"\u2581\"");
  using Prepend = Metaspace::Prepend;
  std::string scheme = node.has("prepend_scheme") ? node["prepend_scheme"].text() : "always";
  if (scheme != "always" && scheme != "first" && scheme != "never")
    node["prepend_scheme"].fail("is \"" + scheme + "\", expected always, first or never");
  if (!node.boolean("add_prefix_space", true) && scheme != "never")
    node["add_prefix_space"].fail("is false, but prepend_scheme is \"" + scheme + "\"");
  tokenizer.preTokenizer.metaspace.emplace().prepend = scheme == "always"  ? Prepend::always
                                                       : scheme == "first" ? Prepend::first
                                                                           : Prepend::never;
  splitsAtMarks = node.boolean("split", true);
}

/// The byte that "<0x0A>" spells, or -1.
static int byteOf(const std::string &token) {
  unsigned byte = 0;
  char spelt[8];
  if (token.size() != 6 || std::sscanf(token.c_str(), "<0x%2X>", &byte) != 1)
    return -1;
  std::snprintf(spelt, sizeof(spelt), "<0x%02X>", byte);
  return token == spelt ? int(byte) : -1;
}

std::string TokenizerReader::bytesOf(const std::string &token) const {
  int byte = byteOf(token);
  return byte >= 0 ? std::string(1, char(byte)) : replaceAll(token, spaceMark, " ");
}

void TokenizerReader::markedVocabulary(const JsonNode &node) {
  if (!node.value().is_object())
    node.fail("is no object");
  BytePairModel &model = tokenizer.model;
  model.byCharacter = true;
  int bytes = 0;
  for (const auto &[token, value] : node.value().items()) {
    uint32_t id = readId(node, token, value);
    addToken(node, token, id, bytesOf(token));
    if (int byte = byteOf(token); byte >= 0)
      model.byteIds[size_t(byte)] = id, ++bytes;
    size_t end = 0;
    if (!token.empty() && findInvalidUtf8(token) == std::string_view::npos)
      if (uint32_t character = nextCodePoint(token, end); end == token.size())
        model.characterIds[character] = id;
  }
  if (bytes != 256)
    node.fail("has tokens for " + std::to_string(bytes) +
              " of the 256 bytes, from <0x00> to <0xFF>: characters without a token are not supported");
}

/// Without a pre-tokenizer a text is one word. Where no merge crosses the beginning of a word, the words of a
/// text can be merged one by one all the same.
void TokenizerReader::markedWords() {
  MarkedWords &words = tokenizer.preTokenizer.markedWords;
  words = splitsAtMarks ? MarkedWords::each : crossesMarks ? MarkedWords::none : MarkedWords::runs;
}

/// Marks become spaces, bytes characters, all one text, and the first space goes.
void TokenizerReader::markedDecoder(const JsonNode &node) {
  if (node["type"].text() != "Sequence")
    node["type"].fail("is \"" + node["type"].text() + "\", which is not supported with byte_fallback");
  std::string types;
  for (const JsonNode &item : node["decoders"].items()) {
    std::string type = item["type"].text();
    types += (types.empty() ? "" : " ") + type;
    if (type == "Replace" && (item["pattern"]["String"].text() != spaceMark || item["content"].text() != " "))
      item.fail("replaces something else than \"\u2581\" by a space, which is not supported");
    if (type == "Strip" &&
        (item["content"].text() != " " || item["start"].integer() != 1 || item["stop"].integer() != 0))
      item.fail("strips something else than the first space, which is not supported");
  }
  if (types != "Replace ByteFallback Fuse" && types != "Replace ByteFallback Fuse Strip")
    node["decoders"].fail("are " + types + ", expected Replace, ByteFallback, Fuse and perhaps Strip");
  tokenizer.dropsFirstSpace = types.find("Strip") != std::string::npos;
}

} // namespace par::text
