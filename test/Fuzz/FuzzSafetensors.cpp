// Safetensors: any file is read or refused, and what is read can be read to the last element.
#include "Fuzz.h"
#include "JsonMutator.h"
#include "par/io/Weights.h"

using namespace par;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string &path = fuzz::fileWith(data, size);
  io::SafetensorsReader reader;
  if (!reader.open(path).ok())
    return 0;
  std::vector<io::NamedShape> wanted;
  for (const io::SafetensorsEntry &entry : reader.entries()) {
    int64_t count = io::elementCount(entry.shape);
    std::vector<float> values(size_t(entry.type == io::FileType::other ? 0 : count));
    if (!values.empty())
      reader.read(entry, 0, 1, count, values.data());
    wanted.push_back({entry.name, entry.shape});
  }
  io::Weights weights;
  if (weights.open(path).ok())
    (void)weights.match(wanted).ok();
  return 0;
}

/// Mutates the header as JSON and makes its length fit.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  uint64_t length = 0;
  if (size >= 8)
    std::memcpy(&length, data, 8);
  if (seed % 4 == 0 || size < 10 || length > size - 8 || maxSize < size)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string rest(reinterpret_cast<char *>(data) + 8 + length, size - 8 - length);
  length = fuzz::mutateJson(data + 8, length, maxSize - 8 - rest.size(), seed);
  std::memcpy(data, &length, 8);
  std::memcpy(data + 8 + length, rest.data(), rest.size());
  return 8 + length + rest.size();
}
