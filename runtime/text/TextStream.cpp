#include "text/TextStream.h"

#include "text/Utf8.h"

namespace par::text {

static constexpr std::string_view replacement = "\uFFFD";

static void replaceEach(std::string &bytes, std::string &text) {
  for (size_t i = 0; i < bytes.size(); ++i)
    text += replacement;
  bytes.clear();
}

/// Tokens of a byte-level vocabulary may begin and end within characters.
void TextStream::addBytes(std::string &text) {
  size_t at = 0;
  for (size_t length; at < pending.size(); at += length) {
    Sequence kind = sequenceAt(pending, at, length);
    if (kind == Sequence::cut)
      break;
    text += kind == Sequence::whole ? std::string_view(pending).substr(at, length) : replacement;
  }
  pending.erase(0, at);
}

void TextStream::addByteToken(std::string &text) {
  size_t length = 0;
  Sequence kind = sequenceAt(pending, 0, length);
  isBroken |= kind == Sequence::broken;
  if (isBroken)
    return replaceEach(pending, text);
  if (kind == Sequence::whole)
    text += std::exchange(pending, {});
}

void TextStream::add(uint32_t id, std::string &text) {
  std::string bytes;
  if (!tokenizer->decode(&id, 1, bytes, begins).ok())
    return;
  begins = false;
  if (tokenizer->isByte(id)) {
    pending += bytes;
    return addByteToken(text);
  }
  if (!tokenizer->hasBytes()) {
    pending += bytes;
    return addBytes(text);
  }
  finish(text);
  text += bytes;
}

void TextStream::finish(std::string &text) {
  if (tokenizer->hasBytes())
    replaceEach(pending, text);
  else if (!pending.empty())
    text += replacement;
  pending.clear();
  isBroken = false;
}

} // namespace par::text
