/// What processes say to each other, as bytes. Readers take any bytes and refuse what nobody would have
/// written: a connection may be a stranger's. Numbers are little-endian, as on every machine that par runs
/// on.
#ifndef PAR_COMM_PROCESS_WIRE_H
#define PAR_COMM_PROCESS_WIRE_H

#include "par/io/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace par::comm {

/// A list of texts: for each its length in 8 bytes, then its bytes.
std::string joinTexts(const std::vector<std::string> &texts);
/// False unless the bytes are such a list and nothing else.
bool splitTexts(std::string_view bytes, std::vector<std::string> &texts);

/// Where a process listens.
struct Place {
  int port = 0;
  std::vector<std::string> addresses; ///< one at least, "10.0.0.7"

  std::string text() const;
};
bool readPlace(std::string_view text, Place &place);

/// A message of the control channel: kind, length, text.
struct Frame {
  enum class Kind : uint32_t { data, beat, ask, failed, ended, aborted, goodbye };
  Kind kind = Kind::data;
  std::string text;

  std::string bytes() const;
};
constexpr Frame::Kind lastKind = Frame::Kind::goodbye;

enum class FrameState { whole, partial, malformed };
/// Takes the first frame off the buffer, when it is there as a whole.
FrameState takeFrame(std::string &buffer, Frame &frame);

/// Where a rank is. `beats` changes while it lives.
struct Beat {
  int64_t step, actions;
  uint64_t beats;
  int32_t action, collective;
  int32_t message = -1;    ///< that it waits for
  int32_t preparation = 0; ///< what it does before its first step, as the runtime counts that
};
std::string textOf(const Beat &beat);
bool readBeat(std::string_view text, Beat &beat);

/// A rank that cannot go on, and why.
struct Report {
  int32_t culprit; ///< -1: where ranks are does not matter
  std::string message;
};
std::string textOf(const Report &report);
/// Control characters become blanks: the message goes to a terminal.
bool readReport(std::string_view text, Report &report);

} // namespace par::comm
#endif
