/// A file of settings in TOML, as far as flags need it: `key = value` lines and `[table]` headings; values
/// are texts, finite numbers, true and false, and lists of these.
#ifndef PAR_CONFIG_TOML_H
#define PAR_CONFIG_TOML_H

#include "par/io/Status.h"

#include <string>
#include <vector>

namespace par::config {

enum class Kind { text, integer, number, boolean, list };

struct Value {
  Kind kind = Kind::text;
  /// Of a text what it says; of a number the shortest decimal form that reads back as the same; true, false.
  std::string text;
  std::vector<Value> items; ///< of a list; none of them is one
};

/// One `key = value`. They are in the file's order.
struct Entry {
  std::string table; ///< the heading above it, empty at the top
  std::string key;
  Value value;
  int line = 0; ///< from 1
};

/// Reads the whole file, or says "FILE:LINE: …". What TOML has beyond this is refused by name (tables in
/// tables or values, lists of lists, dates); a key or a heading that is there twice is, too. No entries after
/// an error.
io::Status readToml(const std::string &path, std::vector<Entry> &entries);
/// The same of a text; `path` is for errors.
io::Status parseToml(const std::string &text, const std::string &path, std::vector<Entry> &entries);

/// The value as the file has it, for a message: one line of bounded length.
std::string quote(const Value &value);

} // namespace par::config
#endif
