// What a process says at the start, and on the control channel: any bytes are read or refused, and what is
// read says the same when it is written again. The first byte chooses who listens.
#include "Fuzz.h"
#include "comm/process/Handshake.h"
#include "comm/process/Wire.h"
#include "core/Agreement.h"
#include "core/Introduction.h"

#include <cstdlib>

using namespace par;
using namespace par::comm;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

static void readGuest(std::string_view bytes) {
  Hello hello;
  if (readHello(bytes, hello))
    require(hello.bytes() == bytes);
}

/// Nobody who does not know the key is believed.
static void readHost(std::string_view bytes) {
  Verdict verdict;
  std::string_view challenge = bytes.substr(0, nonceBytes);
  Hello hello{1, 4, std::string(nonceBytes, 'n')};
  require(!readVerdict({std::string(32, 'k'), "control", 0}, hello, challenge, bytes.substr(challenge.size()),
                       verdict));
}

static void readPlaces(std::string_view bytes) {
  std::vector<std::string> texts;
  Place place, again;
  if (splitTexts(bytes, texts))
    require(joinTexts(texts) == bytes);
  for (const std::string &text : texts)
    if (readPlace(text, place))
      require(readPlace(place.text(), again) && again.addresses == place.addresses &&
              again.port == place.port);
}

static void readIntroductions(std::string_view bytes) {
  std::vector<std::string> texts;
  std::vector<rt::Introduction> all;
  if (!splitTexts(bytes, texts))
    return;
  for (const std::string &text : texts)
    if (rt::Introduction one, again; rt::readIntroduction(text, one)) {
      require(rt::readIntroduction(one.text(), again) && again.text() == one.text());
      all.push_back(one);
    }
  if (all.empty())
    return;
  (void)rt::conflict(all, "x.par", "WORLD_SIZE=4");
  (void)rt::neighbours(all, all[0]);
}

static void readFrames(std::string_view bytes) {
  std::string buffer(bytes);
  Frame frame;
  Beat beat;
  Report report;
  while (takeFrame(buffer, frame) == FrameState::whole) {
    if (readBeat(frame.text, beat))
      require(textOf(beat) == frame.text);
    if (readReport(frame.text, report))
      require(report.culprit >= -1 && report.message.find('\n') == std::string::npos);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using Listen = void (*)(std::string_view);
  static const Listen listeners[] = {readGuest, readHost, readPlaces, readIntroductions, readFrames};
  if (size)
    listeners[data[0] % 5](std::string_view(reinterpret_cast<const char *>(data) + 1, size - 1));
  return 0;
}
