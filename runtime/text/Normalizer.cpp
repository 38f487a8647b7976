#include "text/Normalizer.h"

#include <utf8proc.h>

#include <vector>

namespace par::text {

/// Everything below U+0300 is in NFC by itself and composes with nothing before it: lead bytes below 0xCC.
static size_t findCandidate(std::string_view text, size_t at) {
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0xCC)
    ++at;
  return at;
}

/// The run around a candidate, from the ASCII character before it to the next one. No character composes with
/// an ASCII character after it, so a run can be normalized alone.
static void findRun(std::string_view text, size_t candidate, size_t limit, size_t &begin, size_t &end) {
  auto ascii = [&](size_t i) { return static_cast<unsigned char>(text[i]) < 0x80; };
  begin = candidate, end = candidate;
  while (begin > limit && !ascii(begin))
    --begin;
  while (end < text.size() && !ascii(end))
    ++end;
}

/// Normalizes a run; the result is in `buffer` and has `length` bytes, negative on failure.
static utf8proc_ssize_t normalizeRun(std::string_view run, std::vector<utf8proc_int32_t> &buffer) {
  auto options = utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  auto *bytes = reinterpret_cast<const utf8proc_uint8_t *>(run.data());
  auto size = utf8proc_ssize_t(run.size());
  if (buffer.size() < run.size() + 1)
    buffer.resize(run.size() + 1);
  utf8proc_ssize_t count;
  // One place more than is needed: the re-encoding ends with a zero byte.
  while ((count = utf8proc_decompose(bytes, size, buffer.data(), utf8proc_ssize_t(buffer.size()) - 1,
                                     options)) >= utf8proc_ssize_t(buffer.size()))
    buffer.resize(size_t(count) + 1);
  return count < 0 ? count : utf8proc_reencode(buffer.data(), count, options);
}

io::Status toNfc(std::string_view text, std::string &storage, std::string_view &result) {
  std::vector<utf8proc_int32_t> buffer;
  size_t copied = 0;
  storage.clear();
  for (size_t at = findCandidate(text, 0); at < text.size();) {
    size_t begin, end;
    findRun(text, at, copied, begin, end);
    utf8proc_ssize_t length = normalizeRun(text.substr(begin, end - begin), buffer);
    if (length < 0)
      return io::Status::error(std::string("the text cannot be normalized: ") + utf8proc_errmsg(length));
    std::string_view normalized(reinterpret_cast<const char *>(buffer.data()), size_t(length));
    if (normalized != text.substr(begin, end - begin)) {
      storage.append(text.substr(copied, begin - copied)).append(normalized);
      copied = end;
    }
    at = findCandidate(text, end);
  }
  result = text;
  if (copied) {
    storage.append(text.substr(copied));
    result = storage;
  }
  return {};
}

std::string replaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  size_t at = 0;
  for (size_t next; (next = text.find(from, at)) != std::string_view::npos; at = next + from.size())
    result.append(text.substr(at, next - at)).append(to);
  return result.append(text.substr(at));
}

/// NFC makes a space of nothing else.
bool Normalizer::leavesNoSpace() const {
  bool isGone = false;
  for (const Step &step : steps)
    isGone = step.to.find(' ') == std::string::npos &&
             (isGone || (step.kind == Kind::replace && step.from == " "));
  return isGone;
}

io::Status Normalizer::run(std::string_view text, std::string &storage, std::string_view &result) const {
  result = text;
  for (const Step &step : steps) {
    std::string changed;
    std::string_view next = result;
    if (step.kind == Kind::nfc)
      PAR_TRY(toNfc(result, changed, next));
    else if (step.kind == Kind::replace)
      next = changed = replaceAll(result, step.from, step.to);
    else if (!result.empty())
      next = changed = step.to + std::string(result);
    if (next.data() != changed.data())
      continue; // as it was
    storage = std::move(changed);
    result = storage;
  }
  return {};
}

} // namespace par::text
