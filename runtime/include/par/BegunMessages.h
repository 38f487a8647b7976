/// Which message a wait ends. docs/Schedules.md ("Begin and wait") says it in words; the runtime, the
/// interpreter and the check of lists all ask this class, so that what is verified is what runs.
#ifndef PAR_BEGUNMESSAGES_H
#define PAR_BEGUNMESSAGES_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// The most messages that a rank may have under way at once to another rank, or from it. A list with more is
/// refused when it is compiled.
inline constexpr size_t par_most_messages_under_way = 1024;

/// The messages of one kind that one end has begun and not yet waited for. A kind is what one chunk hands on
/// to the next one, or back, at one end, in one purpose: an entry of the manifest's `messages`. A wait names
/// its kind alone, and ends the oldest message of it. `Name` is what its user knows a message by.
template <typename Name>
class par_begun_messages {
public:
  /// Memory for `room` messages is there from the beginning; for more it grows.
  explicit par_begun_messages(size_t room = 4) : ring(room ? room : 1) {}

  size_t size() const { return size_t(begun - ended); }

  /// False, and nothing has begun, where as many are under way as may be.
  bool begin(Name message) {
    if (size() == par_most_messages_under_way)
      return false;
    if (size() == ring.size())
      grow();
    ring[begun++ % ring.size()] = message;
    return true;
  }

  /// The message that a wait ends now; none where none is under way.
  std::optional<Name> oldest() const {
    return size() == 0 ? std::nullopt : std::optional<Name>(ring[ended % ring.size()]);
  }

  /// A wait: `oldest` has ended.
  std::optional<Name> end() {
    std::optional<Name> message = oldest();
    ended += message.has_value();
    return message;
  }

private:
  void grow() {
    std::vector<Name> larger(2 * ring.size());
    for (uint64_t number = ended; number < begun; ++number)
      larger[number % larger.size()] = ring[number % ring.size()];
    ring = std::move(larger);
  }

  std::vector<Name> ring; ///< message number n at n modulo its size
  uint64_t begun = 0, ended = 0;
};

#endif
