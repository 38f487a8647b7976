//===- ConfigReader.h - typed access to a config's keys ---------------------------------------*- C++ -*-===//

#ifndef PAR_IMPORT_CONFIGREADER_H
#define PAR_IMPORT_CONFIGREADER_H

#include "par/Import/FeedForward.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace mlir::par {

class ConfigFile;

/// Reads keys with type and range checks. The first failure is kept, later
/// calls return defaults, so that a family reads all its keys in a row and
/// asks once, by `finish`. A `null` counts as absent everywhere.
///
/// A key that was never asked for is unknown: `finish` refuses it, because it
/// may change what the model computes.
class ConfigReader {
public:
  explicit ConfigReader(const ConfigFile &file);

  /// An integer in [1, limit].
  int64_t size(llvm::StringRef key, int64_t absent, int64_t limit = maxSize);
  std::optional<int64_t> optionalSize(llvm::StringRef key, int64_t limit = maxSize);
  /// A finite number greater than zero.
  double positive(llvm::StringRef key, std::optional<double> absent);
  std::optional<double> optionalPositive(llvm::StringRef key);
  /// A finite number that is zero or more.
  double nonNegative(llvm::StringRef key, double absent);
  /// What a norm adds to a mean square: a number that is zero or more. For zero there is the least normal
  /// f32: it changes no number, and rows of zeros, which padding is, have a finite norm.
  double epsilon(llvm::StringRef key, double absent);
  /// A row of a table of `rows` rows; a negative one counts from the end. Null means none, also where
  /// `absent` is one.
  std::optional<int64_t> row(llvm::StringRef key, int64_t rows, std::optional<int64_t> absent);
  /// A number in [0, 1).
  double probability(llvm::StringRef key, double absent);
  bool boolean(llvm::StringRef key, bool absent);
  std::string text(llvm::StringRef key, llvm::StringRef absent);
  /// A list of strings; empty if absent.
  std::vector<std::string> texts(llvm::StringRef key);
  /// A list of 0, 1, false and true; empty if absent.
  std::vector<bool> flags(llvm::StringRef key);
  Activation activation(llvm::StringRef key, llvm::StringRef absent);
  /// The dictionary `key`, or null if absent or empty.
  const llvm::json::Object *dictionary(llvm::StringRef key);

  /// The key is there and is `null`, which some families distinguish from
  /// absence.
  bool isNull(llvm::StringRef key) const;
  bool has(llvm::StringRef key) const;

  /// `key` is another name of `canonical`: whichever is present is read as
  /// `canonical`; both with different values are an error.
  void alias(llvm::StringRef canonical, llvm::StringRef key);
  /// Keys that do not change what a training step computes.
  void harmless(llvm::ArrayRef<llvm::StringRef> keys);
  /// A key of which only `supported` (or absence) is built; `why` says what
  /// the key would change.
  void only(llvm::StringRef key, const llvm::json::Value &supported, llvm::StringRef why);
  /// A key that must be absent or an empty list or dictionary.
  void absent(llvm::StringRef key, llvm::StringRef why);

  /// Keeps the first error about `key`.
  void fail(llvm::StringRef key, const llvm::Twine &message);
  /// A reader of the dictionary `key`, which must be there.
  ConfigReader nested(llvm::StringRef key) const {
    std::string path = nestedIn.empty() ? key.str() : nestedIn + "." + key.str();
    return ConfigReader(file, path, *object.getObject(key));
  }
  /// Takes over the first failure of a reader of a nested dictionary and
  /// refuses that dictionary's unknown keys.
  void merge(ConfigReader &nested);
  /// The first failure, else one for the first unknown key, else success.
  llvm::Error finish(llvm::StringRef family);
  /// After `finish`: unknown keys that no configuration class can have, sorted.
  const std::vector<std::string> &getIgnored() const { return ignored; }

  /// Largest size accepted where a key has no tighter limit.
  static constexpr int64_t maxSize = (int64_t(1) << 31) - 1;

private:
  ConfigReader(const ConfigFile &file, llvm::StringRef path, const llvm::json::Object &object)
      : file(file), object(object), nestedIn(path) {}

  /// The value of `key` unless absent or null; marks `key` as known.
  const llvm::json::Value *find(llvm::StringRef key);
  void wrongType(llvm::StringRef key, const llvm::json::Value &value, llvm::StringRef expected);
  std::optional<double> finite(llvm::StringRef key);
  /// Fails for the first key that nothing asked for.
  void refuseUnknown(llvm::StringRef family);
  bool isOverridden(llvm::StringRef key) const;
  std::string suggestion(llvm::StringRef key) const;
  std::string quoted(llvm::StringRef key) const;

  const ConfigFile &file;
  const llvm::json::Object &object;
  /// The keys that lead to the dictionary, with dots in between; empty at top level.
  std::string nestedIn;
  llvm::StringSet<> known;
  llvm::StringMap<std::string> aliases;
  std::vector<std::string> ignored;
  /// Key and text of the first failure.
  std::optional<std::pair<std::string, std::string>> failure;
};

/// Short JSON text of `value` for an error message.
std::string briefly(const llvm::json::Value &value);

} // namespace mlir::par

#endif // PAR_IMPORT_CONFIGREADER_H
