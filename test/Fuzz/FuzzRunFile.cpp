// Files of flags: whatever the bytes, an error of one line, or entries that a file can be written from again.
#include "Fuzz.h"
#include "par/config/Toml.h"

#include <cstdlib>

using namespace par::config;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<Entry> entries;
  par::io::Status status = parseToml(std::string(reinterpret_cast<const char *>(data), size), "f", entries);
  if (!status.ok() &&
      (status.message().find('\n') != std::string::npos || status.message().rfind("f:", 0) != 0))
    std::abort();
  for (const Entry &entry : entries) {
    bool isNumber = entry.value.kind == Kind::integer || entry.value.kind == Kind::number;
    std::vector<Entry> again;
    if (isNumber && (!parseToml("k = " + entry.value.text, "f", again).ok() || again.size() != 1 ||
                     again[0].value.text != entry.value.text || again[0].value.kind != entry.value.kind))
      std::abort();
    if (entry.line < 1 || quote(entry.value).find('\n') != std::string::npos)
      std::abort();
  }
  return 0;
}
