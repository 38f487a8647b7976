/// What happens to a text before it is split into words.
#ifndef PAR_TEXT_NORMALIZER_H
#define PAR_TEXT_NORMALIZER_H

#include "par/io/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace par::text {

/// Unicode normalization form C. Sets `result` to `text` itself when it is in NFC already, which is usual,
/// else to `storage`.
io::Status toNfc(std::string_view text, std::string &storage, std::string_view &result);

/// Every occurrence of `from`, which is not empty, from left to right.
std::string replaceAll(std::string_view text, std::string_view from, std::string_view to);

/// Steps in order.
class Normalizer {
public:
  void addNfc() { steps.push_back({Kind::nfc, "", ""}); }
  /// Before every text that is not empty.
  void addPrepend(std::string what) { steps.push_back({Kind::prepend, "", std::move(what)}); }
  void addReplace(std::string from, std::string to) {
    steps.push_back({Kind::replace, std::move(from), std::move(to)});
  }

  /// Whether no text has a space behind the last step.
  bool leavesNoSpace() const;

  /// Sets `result` to `text` itself or to `storage`.
  io::Status run(std::string_view text, std::string &storage, std::string_view &result) const;

private:
  enum class Kind { nfc, prepend, replace };
  struct Step {
    Kind kind;
    std::string from, to;
  };
  std::vector<Step> steps;
};

} // namespace par::text
#endif
