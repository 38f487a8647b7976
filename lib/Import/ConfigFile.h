//===- ConfigFile.h - a config.json with overrides --------------------------------------------*- C++ -*-===//

#ifndef PAR_LIB_IMPORT_CONFIGFILE_H
#define PAR_LIB_IMPORT_CONFIGFILE_H

#include "par/Import/ModelConfig.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace mlir::par {

/// The JSON object of a config with `key=value` overrides applied, and where
/// each key came from.
class ConfigFile {
public:
  /// The file as it is; see `loadModelConfig`.
  static llvm::Expected<ConfigFile> load(llvm::StringRef model);
  /// Puts the dictionary `key` in the file's place. What else the file says is gone, but for `kept` keys that
  /// the dictionary lacks. False if there is no such dictionary.
  bool unwrap(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> kept);
  void set(llvm::StringRef key, llvm::json::Value value) { object[key] = std::move(value); }
  /// Removes a key of the file.
  void remove(llvm::StringRef key);
  llvm::Error applyOverrides(llvm::ArrayRef<std::string> overrides);

  const llvm::json::Object &getObject() const { return object; }
  const std::string &getPath() const { return path; }
  /// The keys given by an override, each with the override's text.
  const llvm::StringMap<std::string> &getOverrides() const { return overridden; }
  /// The file itself has `key`, whatever the overrides say.
  bool fileHas(llvm::StringRef key) const { return inFile.count(key); }

  /// An error about `key`, at its place in the file or its override. A key
  /// that is in neither, or an empty one, stands for the file as a whole.
  llvm::Error error(llvm::StringRef key, const llvm::Twine &message) const;

private:
  llvm::Error parse(llvm::StringRef text);
  llvm::Error applyOverride(llvm::StringRef text);

  std::string path;
  llvm::json::Object object;
  /// Top-level key -> line and column in the file, both from 1.
  llvm::StringMap<std::pair<unsigned, unsigned>> inFile;
  llvm::StringMap<std::string> overridden;
};

} // namespace mlir::par

#endif // PAR_LIB_IMPORT_CONFIGFILE_H
