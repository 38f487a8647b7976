/// The result of an operation that can fail with a message for the user: usable with and without exceptions.
#ifndef PAR_IO_STATUS_H
#define PAR_IO_STATUS_H

#include <string>
#include <utility>

namespace par::io {

/// Success, or one line of text: file, place, rule, actual, expected, remedy, without a leading "error:".
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status error(std::string message) {
    Status status;
    status.text = std::move(message);
    return status;
  }
  bool ok() const { return text.empty(); }
  const std::string &message() const { return text; }

private:
  std::string text;
};

} // namespace par::io

/// Returns from the calling function, which returns a Status, when the expression failed.
#define PAR_TRY(expression)                                                                                  \
  do {                                                                                                       \
    if (::par::io::Status parTryStatus = (expression); !parTryStatus.ok())                                   \
      return parTryStatus;                                                                                   \
  } while (false)

#endif
