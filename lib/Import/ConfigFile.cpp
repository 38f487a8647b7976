//===- ConfigFile.cpp - a config.json with overrides ----------------------------------------------------===//

#include "ConfigFile.h"
#include "par/Limits.h"
#include "par/Support/JsonScanner.h"
#include "par/Support/TextFile.h"
#include "par/config/Message.h"
#include "par/io/Files.h"
#include "par/io/OtherWeights.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;

namespace mlir::par {

char ConfigError::ID = 0;

ConfigError::ConfigError(std::string file, unsigned line, unsigned column, std::string message)
    : file(std::move(file)), line(line), column(column), message(std::move(message)) {
  for (std::string *text : {&this->file, &this->message})
    *text = ::par::config::visible(*text);
}

void ConfigError::log(raw_ostream &os) const {
  os << file << ':';
  if (line)
    os << line << ':' << column << ':';
  os << ' ' << message;
}

namespace {

constexpr unsigned maxDepth = ::par::limits::jsonLevels;
constexpr uint64_t maxBytes = ::par::limits::textBytes;

Error wholeFile(StringRef path, const Twine &message) {
  return make_error<ConfigError>(path.str(), 0, 0, message.str());
}

/// "owner/name", as Hugging Face's hub has them.
static bool isNameOnHub(StringRef model) {
  auto [owner, name] = model.split('/');
  return !owner.empty() && !name.empty() && !name.contains('/') && !owner.starts_with(".") &&
         !owner.starts_with("~") && !name.ends_with(".json") && !sys::fs::exists(owner);
}

/// The path of the config that `model` means, checked to be readable as text.
Expected<std::string> resolve(StringRef model) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(model, status))
    return wholeFile(model, "cannot read the model: " + code.message() +
                                "; expected a config.json or a folder that holds one" +
                                (isNameOnHub(model) ? " (nothing is downloaded: give the folder that the "
                                                      "model was downloaded to)"
                                                    : ""));
  std::string path = model.str();
  if (status.type() == sys::fs::file_type::directory_file) {
    SmallString<256> inside(model);
    sys::path::append(inside, "config.json");
    path = inside.str().str();
    if (sys::fs::status(path, status)) {
      std::string other = ::par::io::otherModelFolder(model.str());
      return wholeFile(model, other.empty() ? "the folder has no readable config.json; give a "
                                              "Hugging Face model's folder or its config.json"
                                            : other);
    }
  }
  // A pipe is welcome (`<(…)`), an endless device is not.
  if (status.type() != sys::fs::file_type::regular_file && status.type() != sys::fs::file_type::fifo_file)
    return wholeFile(path, "is not a regular file");
  if (status.type() == sys::fs::file_type::regular_file && status.getSize() > maxBytes)
    return wholeFile(path, "has " + Twine(status.getSize()) + " bytes, which is no config.json (at most " +
                               Twine(maxBytes) + " bytes)");
  return path;
}

/// Moves a JSON parser's message "[3:7, byte=20]: text" into place and text.
Error syntaxError(StringRef path, Error error) {
  std::string full = toString(std::move(error));
  StringRef rest(full);
  unsigned line = 1, column = 1;
  if (rest.consume_front("[") && !rest.consumeInteger(10, line) && rest.consume_front(":") &&
      !rest.consumeInteger(10, column))
    rest = rest.split("]: ").second;
  return make_error<ConfigError>(path.str(), line, column,
                                 "not valid JSON: " + rest.str() +
                                     "; the file is truncated or is no "
                                     "config.json");
}

/// Whether a text is, or claims to be, a graph as MLIR writes it.
bool isGraph(StringRef path, StringRef text) {
  StringRef begin = text.ltrim();
  return path.ends_with(".mlir") || path.ends_with(".mlirbc") ||
         any_of(ArrayRef({"module ", "module{", "func.func ", "\"builtin.module\"", "#loc", "ML\xEFR"}),
                [&](const char *start) { return begin.starts_with(start); });
}

/// "is ...; do ..." of a file that stands where a config is asked for, else nothing.
std::string describeOther(StringRef path, StringRef text) {
  if (text.ltrim().starts_with("{"))
    return "";
  if (isGraph(path, text))
    return "is a graph of MLIR and no config.json; par-compile, par-plan and par-interpret read graphs in "
           "the "
           "par dialect from files named .mlir, and StableHLO and other dialects are not read yet";
  std::string_view begin(text.data(), text.size());
  std::string pointer = ::par::io::pointerOfGitLfs(begin);
  return pointer.empty() ? ::par::io::otherWeightsFile(path.str(), begin) : pointer;
}

} // namespace

Error ConfigFile::parse(StringRef text) {
  if (text.trim().empty())
    return error("", "the file is empty; expected a JSON object");
  if (std::string other = describeOther(path, text); !other.empty())
    return wholeFile(path, other);
  text.consume_front("\xEF\xBB\xBF");
  JsonScanner scanner(text);
  if (!scanner.run(maxDepth))
    return error("", "brackets nest deeper than " + Twine(maxDepth) + " levels, which no config.json does");
  inFile = scanner.topLevel;
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return syntaxError(path, value.takeError());
  // JSON leaves open which of them counts.
  if (scanner.doubled)
    return make_error<ConfigError>(path, scanner.doubled->first, scanner.doubled->second,
                                   "the key \"" + scanner.doubledKey + "\" is in line " +
                                       std::to_string(scanner.firstLine) +
                                       " already; take one of them out (Transformers would read the last)");
  json::Object *parsed = value->getAsObject();
  if (!parsed)
    return error("", "expected a JSON object with keys such as model_type");
  object = std::move(*parsed);
  return Error::success();
}

Error ConfigFile::applyOverride(StringRef text) {
  auto [key, value] = text.split('=');
  if (key.size() == text.size() || key.trim().empty())
    return wholeFile(("--set " + text).str(), "expected key=value");
  key = key.trim();
  if (auto first = overridden.find(key); first != overridden.end())
    return wholeFile(("--set " + text).str(), "--set " + first->second + " is given, too; give one of them");
  JsonScanner scanner(value);
  if (!scanner.run(maxDepth))
    return wholeFile(("--set " + key).str(), "brackets nest deeper than " + Twine(maxDepth) + " levels");
  if (!json::isUTF8(text))
    return wholeFile("--set", "key and value must be UTF-8 text");
  if (scanner.doubled)
    return wholeFile(("--set " + key).str(), "the key \"" + scanner.doubledKey + "\" is in it twice");
  Expected<json::Value> parsed = json::parse(value);
  if (parsed) {
    object[key] = std::move(*parsed);
  } else {
    consumeError(parsed.takeError());
    object[key] = value.str();
  }
  overridden[key] = text.str();
  return Error::success();
}

Expected<ConfigFile> ConfigFile::load(StringRef model) {
  Expected<std::string> path = resolve(model);
  if (!path)
    return path.takeError();
  ConfigFile file;
  file.path = *path;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readTextFile(*path);
  if (!buffer)
    return wholeFile(*path, "cannot read the file: " + toString(buffer.takeError()));
  if (Error error = file.parse((*buffer)->getBuffer()))
    return std::move(error);
  return std::move(file);
}

void ConfigFile::remove(StringRef key) {
  // `json::Object::erase` of LLVM 19 reads the text of its tombstone.
  json::Object kept;
  for (auto &entry : object)
    if (StringRef(entry.first) != key)
      kept[entry.first] = std::move(entry.second);
  object = std::move(kept);
}

Error ConfigFile::applyOverrides(ArrayRef<std::string> overrides) {
  for (const std::string &text : overrides)
    if (Error error = applyOverride(text))
      return error;
  return Error::success();
}

bool ConfigFile::unwrap(StringRef key, ArrayRef<StringRef> kept) {
  json::Object *inner = object.getObject(key);
  if (!inner)
    return false;
  json::Object unwrapped = std::move(*inner);
  for (StringRef name : kept)
    if (const json::Value *value = object.get(name); value && !unwrapped.get(name))
      unwrapped[name] = *value;
  std::pair<unsigned, unsigned> place = inFile.lookup(key);
  object = std::move(unwrapped);
  inFile.clear();
  // The place of the dictionary stands for those of its keys.
  for (const auto &entry : object)
    inFile[entry.first] = place;
  return true;
}

Error ConfigFile::error(StringRef key, const Twine &message) const {
  if (auto it = overridden.find(key); it != overridden.end())
    return wholeFile("--set " + it->second, message);
  auto it = inFile.find(key);
  auto [line, column] = it == inFile.end() ? std::pair<unsigned, unsigned>(0, 0) : it->second;
  return make_error<ConfigError>(path, line, column, message.str());
}

} // namespace mlir::par
