/// An answer as it grows: where it ends, and what of it can be shown already.
#ifndef PAR_GENERATE_ANSWERTEXT_H
#define PAR_GENERATE_ANSWERTEXT_H

#include <string>
#include <string_view>

namespace par::generating {

class AnswerText {
public:
  /// The answer ends before `stop`; empty: something else ends it. Of the spaces that it begins with so many
  /// as `blanks` are none of it.
  explicit AnswerText(std::string stop = "", size_t blanks = 0) : stop(std::move(stop)), blanks(blanks) {}

  /// Takes the next bytes; false once `stop` has come. `certain`: what can be shown more than before, which
  /// is no part of `stop` whatever follows.
  bool add(std::string_view bytes, std::string_view &certain);
  /// What is left to show where no more bytes follow.
  std::string_view rest();
  /// All of it, without `stop`.
  const std::string &text() const { return whole; }

private:
  std::string_view showTo(size_t end);
  /// How many of the last bytes may be the beginning of `stop`.
  size_t undecided() const;

  std::string stop, whole;
  size_t shown = 0, blanks;
};

} // namespace par::generating
#endif
