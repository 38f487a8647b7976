#include "text/TokenizerReader.h"

#include "par/io/Files.h"
#include "par/io/JsonText.h"
#include "text/ByteAlphabet.h"
#include "text/Normalizer.h"
#include "text/Utf8.h"

#include <algorithm>

namespace par::text {

/// Ids are indices of a table, so a damaged file must not make it huge.
static constexpr uint32_t largestId = 1 << 24;

/// Hugging Face's `ByteLevel` splits by this, GPT-2's expression, unless use_regex is false.
static const char gpt2Pattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

void TokenizerReader::read(const JsonNode &root) {
  // Truncation and padding shape batches of texts; a stream of tokens has neither.
  root.onlyKeys({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                 "post_processor", "decoder", "model"});
  isMarked = root["model"].boolean("byte_fallback", false);
  if (root.has("normalizer"))
    normalizer(root["normalizer"]);
  if (!isMarked && !root.has("pre_tokenizer"))
    root.fail(
        "pre_tokenizer: is null, which is supported with byte_fallback alone: without a \"ByteLevel\" one a "
        "vocabulary has no token for every byte");
  if (root.has("pre_tokenizer"))
    preTokenizer(root["pre_tokenizer"]);
  if (isMarked)
    markedDecoder(root["decoder"]);
  else if (root.has("decoder"))
    decoder(root["decoder"]);
  model(root["model"]);
  nextAdded = uint32_t(root["model"]["vocab"].value().size());
  if (root.has("added_tokens"))
    for (const JsonNode &token : root["added_tokens"].items())
      addedToken(token);
  if (root.has("post_processor"))
    postProcessor(root["post_processor"]);
  // Last, because these are views of strings that move as long as tokens are added.
  if (ignoreMerges)
    for (uint32_t id : wholeWords)
      tokenizer.model.wholeWords[tokenizer.tokens[id]] = id;
}

void TokenizerReader::normalizer(const JsonNode &node) {
  std::string type = node["type"].text();
  if (type == "NFC") {
    node.onlyKeys({"type"});
    tokenizer.normalizer.addNfc();
  } else if (type == "Prepend") {
    node.onlyKeys({"type", "prepend"});
    tokenizer.normalizer.addPrepend(node["prepend"].text());
  } else if (type == "Replace") {
    replace(node);
  } else if (type == "Sequence") {
    node.onlyKeys({"type", "normalizers"});
    for (const JsonNode &item : node["normalizers"].items())
      normalizer(item);
  } else {
    node["type"].fail("\"" + type + "\" is not supported, only null, \"NFC\", \"Prepend\" and \"Replace\"");
  }
}

void TokenizerReader::addRegex(const JsonNode &node, const std::string &pattern, bool dropGaps) {
  Split step;
  step.dropGaps = dropGaps;
  io::Status status = step.regex.compile(pattern);
  if (!status.ok())
    node.fail(status.message());
  tokenizer.preTokenizer.splits.push_back(std::move(step));
}

void TokenizerReader::preTokenizer(const JsonNode &node) {
  std::string type = node["type"].text();
  if (isMarked) {
    markedPreTokenizer(node, type);
  } else if (type == "Sequence") {
    node.onlyKeys({"type", "pretokenizers"});
    std::vector<JsonNode> items = node["pretokenizers"].items();
    if (items.empty())
      node["pretokenizers"].fail(
          "an empty list is not supported: \"ByteLevel\" must be the last pretokenizer");
    for (size_t i = 0; i < items.size(); ++i) {
      bool last = i + 1 == items.size(), bytes = items[i]["type"].text() == "ByteLevel";
      if (last != bytes)
        items[i].fail("\"ByteLevel\" must be the last pretokenizer, and there must be one");
      byteLevelStep(items[i]);
      if (items.size() > 1 && tokenizer.preTokenizer.addPrefixSpace)
        items[i]["add_prefix_space"].fail("true behind other pretokenizers is not supported");
    }
  } else {
    if (type == "Split" || type == "Digits")
      node["type"].fail("\"" + type +
                        "\" alone is not supported, only before \"ByteLevel\" in a \"Sequence\"");
    byteLevelStep(node);
  }
}

/// A step of a tokenizer of bytes.
void TokenizerReader::byteLevelStep(const JsonNode &node) {
  std::string type = node["type"].text();
  if (type == "Split") {
    split(node);
  } else if (type == "Digits") {
    node.onlyKeys({"type", "individual_digits"});
    addRegex(node, node.boolean("individual_digits", false) ? "\\p{N}" : "\\p{N}+", /*dropGaps=*/false);
  } else if (type == "ByteLevel") {
    byteLevel(node);
  } else {
    node["type"].fail(
        "\"" + type +
        "\" is not supported, only \"ByteLevel\", \"Split\", \"Digits\" and a \"Sequence\" of them");
  }
}

void TokenizerReader::split(const JsonNode &node) {
  node.onlyKeys({"type", "pattern", "behavior", "invert"});
  node["pattern"].onlyKeys({"Regex"});
  std::string behavior = node["behavior"].text();
  bool removed = behavior == "Removed" && node.boolean("invert", false);
  if (behavior != "Isolated" && !removed)
    node["behavior"].fail("\"" + behavior +
                          "\" is not supported, only \"Isolated\", and \"Removed\" with invert");
  addRegex(node["pattern"], node["pattern"]["Regex"].text(), removed);
}

void TokenizerReader::byteLevel(const JsonNode &node) {
  node.onlyKeys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  tokenizer.preTokenizer.addPrefixSpace = node.boolean("add_prefix_space", true);
  if (node.boolean("use_regex", true))
    addRegex(node, gpt2Pattern, /*dropGaps=*/false);
}

void TokenizerReader::decoder(const JsonNode &node) const {
  std::string type = node["type"].text();
  if (type == "Sequence")
    for (const JsonNode &item : node["decoders"].items())
      decoder(item);
  else if (type != "ByteLevel")
    node["type"].fail("\"" + type + "\" is not supported, only \"ByteLevel\"");
}

void TokenizerReader::model(const JsonNode &node) {
  node.onlyKeys({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                 "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
  if (node.has("type") && node["type"].text() != "BPE")
    node["type"].fail("\"" + node["type"].text() + "\" is not supported, only \"BPE\"");
  if (node.has("dropout") && node.value()["dropout"] != 0)
    node["dropout"].fail("is not null: random merges are not supported");
  // unk_token and fuse_unk are about characters without a symbol; here every byte has one.
  for (const char *key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!node.text(key).empty())
      node[key].fail("is \"" + node.text(key) + "\", but only an empty one is supported");
  ignoreMerges = node.boolean("ignore_merges", false);
  if (isMarked && ignoreMerges)
    node["ignore_merges"].fail("is true, which is not supported with byte_fallback");
  isMarked ? markedVocabulary(node["vocab"]) : vocabulary(node["vocab"]);
  merges(node["merges"]);
  if (isMarked)
    markedWords();
}

void TokenizerReader::addToken(const JsonNode &node, const std::string &content, uint32_t id,
                               std::string bytes) {
  if (id >= tokenizer.tokens.size()) {
    tokenizer.tokens.resize(size_t(id) + 1);
    tokenizer.known.resize(size_t(id) + 1);
  }
  if (tokenizer.known[id])
    node.fail("has the id " + std::to_string(id) + ", which another token has as well");
  tokenizer.known[id] = true;
  tokenizer.tokens[id] = std::move(bytes);
  tokenizer.ids[content] = id;
}

uint32_t TokenizerReader::readId(const JsonNode &vocabulary, const std::string &token,
                                 const nlohmann::json &id) {
  if (!id.is_number_unsigned() || id.get<uint64_t>() > largestId)
    vocabulary[token].integer(0, largestId); // says what is wrong
  return id.get<uint32_t>();
}

void TokenizerReader::vocabulary(const JsonNode &node) {
  if (!node.value().is_object())
    node.fail("is no object");
  std::string bytes;
  for (const auto &[token, value] : node.value().items()) {
    uint32_t id = readId(node, token, value);
    // A token with a character that stands for no byte never comes from text; it is decoded as it is spelt.
    bool fromText = bytesOfToken(token, bytes);
    addToken(node, token, id, fromText ? bytes : token);
    if (fromText)
      wholeWords.push_back(id);
  }
  bytesOfVocabulary(node);
}

/// The symbols of single bytes. Some bytes occur in no UTF-8 text and need none.
void TokenizerReader::bytesOfVocabulary(const JsonNode &node) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string symbol;
    appendUtf8(symbol, characterOf(static_cast<unsigned char>(byte)));
    int64_t id = tokenizer.find(symbol);
    bool inText = byte < 0xC0 || (byte > 0xC1 && byte < 0xF5);
    if (id < 0 && inText)
      node.fail("has no token \"" + symbol + "\" for the byte " + std::to_string(byte) +
                ": this is no byte-level vocabulary, which is not supported");
    tokenizer.model.byteIds[byte] = id < 0 ? 0 : uint32_t(id);
  }
}

uint32_t TokenizerReader::idOf(const JsonNode &node, const std::string &token) const {
  int64_t id = tokenizer.find(token);
  if (id < 0)
    node.fail("the token \"" + token + "\" is not in the vocabulary");
  return uint32_t(id);
}

/// "left right", or ["left", "right"] as newer files have it.
static std::pair<std::string, std::string> pairOf(const JsonNode &node) {
  if (node.value().is_array()) {
    std::vector<JsonNode> items = node.items();
    if (items.size() == 2)
      return {items[0].text(), items[1].text()};
  } else if (node.value().is_string()) {
    std::string text = node.text();
    size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
      return {text.substr(0, space), text.substr(space + 1)};
  }
  node.fail("is no pair of tokens");
}

/// Whether a mark that follows something else lies within what a merge makes of tokens.
static bool joinsWords(const std::string &left, const std::string &right) {
  return endOfMarkedWord(left + right, 0, MarkedWords::runs) != left.size() + right.size();
}

void TokenizerReader::merges(const JsonNode &node) {
  if (!node.value().is_array())
    node.fail("is no list");
  const auto &list = node.value();
  tokenizer.model.reserveMerges(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    JsonNode item(list[i], "");
    try {
      auto [left, right] = pairOf(item);
      uint32_t a = idOf(item, left), b = idOf(item, right);
      tokenizer.model.addMerge(a, b, {uint32_t(i), idOf(item, left + right)});
      crossesMarks |= isMarked && joinsWords(left, right);
    } catch (const JsonError &error) { // places of hundreds of thousands of merges are made only when needed
      node.fail("number " + std::to_string(i) + ": " + error.what());
    }
  }
}

void TokenizerReader::addedToken(const JsonNode &node) {
  node.onlyKeys({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
  std::string content = node["content"].text();
  uint32_t id = uint32_t(node["id"].integer(0, largestId));
  int64_t there = tokenizer.find(content);
  // Hugging Face's library gives a new token the next free id, whatever the file says.
  uint32_t expected = there < 0 ? nextAdded : uint32_t(there);
  if (id != expected)
    node["id"].fail("is " + std::to_string(id) + ", but \"" + content + "\" gets " +
                    std::to_string(expected) + " where the file is loaded");
  nextAdded = std::max(nextAdded, id + 1);
  if (there < 0)
    addToken(node, content, id, isMarked ? bytesOf(content) : content);
  AddedToken added{id, node.boolean("single_word", false), node.boolean("lstrip", false),
                   node.boolean("rstrip", false)};
  if (added.rstrip)
    tokenizer.rstrips.insert(id);
  if (!node.boolean("normalized", !node.boolean("special", false)))
    return tokenizer.exactTokens.add(content, added);
  std::string storage;
  std::string_view form = content;
  if (!tokenizer.normalizer.run(content, storage, form).ok())
    node["content"].fail("cannot be normalized");
  if (isMarked) // what it was found as
    tokenizer.tokens[id] = bytesOf(std::string(form));
  tokenizer.normalizedTokens.add(form, added);
}

/// Only what stands before a single text is of interest; whatever else a post-processor adds is added by
/// nobody here.
void TokenizerReader::postProcessor(const JsonNode &node) {
  std::string type = node["type"].text();
  if (type == "Sequence")
    for (const JsonNode &item : node["processors"].items())
      postProcessor(item);
  if (type != "TemplateProcessing")
    return;
  for (const JsonNode &item : node["single"].items()) {
    if (!item.has("SpecialToken"))
      break;
    JsonNode ids = node["special_tokens"][item["SpecialToken"]["id"].text()]["ids"];
    for (const JsonNode &id : ids.items())
      tokenizer.before.push_back(uint32_t(id.integer(0, largestId)));
  }
}

io::Status Tokenizer::parse(const std::string &path, std::string_view content) {
  PAR_TRY(io::checkDepth(path, content));
  nlohmann::json json = nlohmann::json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return io::Status::error(path + ": is no JSON object; give a tokenizer.json");
  try {
    TokenizerReader(*this).read(JsonNode(json, path));
  } catch (const JsonError &error) {
    return io::Status::error(error.what());
  }
  for (uint32_t id : before)
    if (id >= size() || !known[id])
      return io::Status::error(path + ": post_processor: " + std::to_string(id) +
                               " is no id of the vocabulary");
  return {};
}

io::Status Tokenizer::open(const std::string &path) {
  std::string content;
  PAR_TRY(io::readFile(path, content));
  return parse(path, content);
}

} // namespace par::text
