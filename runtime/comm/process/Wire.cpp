#include "comm/process/Wire.h"

#include "comm/process/Address.h"

#include <charconv>
#include <cstring>

namespace par::comm {

namespace {
struct Head {
  uint32_t kind, bytes;
};
constexpr uint32_t largestText = 64 << 20;
constexpr size_t mostAddresses = 64;
} // namespace

template <typename T>
static std::string bytesOf(const T &value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

std::string joinTexts(const std::vector<std::string> &texts) {
  std::string bytes;
  for (const std::string &text : texts)
    bytes += bytesOf(uint64_t(text.size())) + text;
  return bytes;
}

bool splitTexts(std::string_view bytes, std::vector<std::string> &texts) {
  texts.clear();
  while (!bytes.empty()) {
    uint64_t length;
    if (bytes.size() < sizeof(length))
      return false;
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (length > bytes.size())
      return false;
    texts.emplace_back(bytes.substr(0, size_t(length)));
    bytes.remove_prefix(size_t(length));
  }
  return true;
}

std::string Place::text() const {
  std::string line = std::to_string(port);
  for (const std::string &address : addresses)
    line += " " + address;
  return line;
}

/// Up to the next blank, which is taken off too.
static std::string_view takeWord(std::string_view &text) {
  size_t end = text.find(' ');
  std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return word;
}

bool readPlace(std::string_view text, Place &place) {
  place = {};
  std::string_view port = takeWord(text);
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (error != std::errc() || end != port.data() + port.size() || place.port < 1 || place.port > 65535)
    return false;
  while (!text.empty()) {
    std::string address(takeWord(text));
    if (place.addresses.size() == mostAddresses || address.find('\0') != std::string::npos ||
        !isNumeric(address))
      return false;
    place.addresses.push_back(address);
  }
  return !place.addresses.empty();
}

std::string Frame::bytes() const { return bytesOf(Head{uint32_t(kind), uint32_t(text.size())}) + text; }

FrameState takeFrame(std::string &buffer, Frame &frame) {
  Head head;
  if (buffer.size() < sizeof(head))
    return FrameState::partial;
  std::memcpy(&head, buffer.data(), sizeof(head));
  if (head.kind > uint32_t(lastKind) || head.bytes > largestText)
    return FrameState::malformed;
  if (buffer.size() - sizeof(head) < head.bytes)
    return FrameState::partial;
  frame.kind = Frame::Kind(head.kind);
  frame.text = buffer.substr(sizeof(head), head.bytes);
  buffer.erase(0, sizeof(head) + head.bytes);
  return FrameState::whole;
}

std::string textOf(const Beat &beat) { return bytesOf(beat); }

bool readBeat(std::string_view text, Beat &beat) {
  if (text.size() != sizeof(beat))
    return false;
  std::memcpy(&beat, text.data(), sizeof(beat));
  return beat.step >= 0 && beat.actions >= 0 && beat.action >= -1 && beat.collective >= -2 &&
         beat.message >= -1 && beat.preparation >= 0;
}

std::string textOf(const Report &report) { return bytesOf(report.culprit) + report.message; }

bool readReport(std::string_view text, Report &report) {
  if (text.size() < sizeof(report.culprit))
    return false;
  std::memcpy(&report.culprit, text.data(), sizeof(report.culprit));
  report.message = text.substr(sizeof(report.culprit));
  for (char &c : report.message)
    if (static_cast<unsigned char>(c) < ' ' || c == 127)
      c = ' ';
  return report.culprit >= -1;
}

} // namespace par::comm
