// manifest.json: any text is read or refused with a message.
#include "Fuzz.h"
#include "JsonMutator.h"
#include "core/Error.h"
#include "core/Manifest.h"

using namespace par;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  try {
    rt::parseHead("manifest.json", text);
    rt::checkManifest(rt::parseManifest("manifest.json", text));
  } catch (const rt::Error &) {
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateJson(data, size, maxSize, seed);
}
