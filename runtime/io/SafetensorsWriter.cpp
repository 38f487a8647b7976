#include "par/io/Safetensors.h"

#include "par/io/FloatTypes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace par::io {

/// The header with its length in front, padded with spaces so that the data begin at a multiple of 8.
static std::string headerOf(const std::vector<NamedShape> &tensors, FileType type, int64_t &elements) {
  const char *dtype = type == FileType::f32 ? "F32" : type == FileType::bf16 ? "BF16" : "F16";
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  elements = 0;
  for (const NamedShape &tensor : tensors) {
    int64_t begin = elements * bytesOf(type);
    elements += elementCount(tensor.shape);
    header[tensor.name] = {
        {"dtype", dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, elements * bytesOf(type)}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += char(uint64_t(text.size()) >> (8 * i));
  return length + text;
}

Status SafetensorsWriter::create(const std::string &path, const std::vector<NamedShape> &tensors,
                                 FileType wanted) {
  type = wanted;
  std::string header = headerOf(tensors, type, missing);
  PAR_TRY(file.create(path));
  return file.write(header.data(), header.size());
}

Status SafetensorsWriter::append(const float *values, int64_t count) {
  missing -= count;
  return type == FileType::f32 ? file.write(values, size_t(count) * sizeof(float))
                               : appendRounded(values, count);
}

Status SafetensorsWriter::appendRounded(const float *values, int64_t count) {
  constexpr int64_t block = 1 << 16;
  std::vector<uint16_t> words;
  for (int64_t first = 0; first < count; first += block) {
    words.resize(size_t(std::min(block, count - first)));
    for (size_t i = 0; i < words.size(); ++i) {
      float value = values[first + int64_t(i)];
      words[i] = type == FileType::bf16 ? floatToBfloat(value) : floatToHalf(value);
      float rounded = type == FileType::bf16 ? bfloatToFloat(words[i]) : halfToFloat(words[i]);
      if (std::isinf(rounded) && !std::isinf(value))
        return Status::error(file.path() + ": the value " + std::to_string(value) + " does not fit into " +
                             (type == FileType::bf16 ? "bf16; use f32" : "f16; use bf16 or f32"));
    }
    PAR_TRY(file.write(words.data(), words.size() * sizeof(uint16_t)));
  }
  return {};
}

Status SafetensorsWriter::checkComplete() const {
  if (missing == 0)
    return {};
  return Status::error(file.path() + ": " + std::to_string(missing) +
                       " elements of the declared tensors were not written");
}

Status SafetensorsWriter::commit() {
  PAR_TRY(checkComplete());
  return file.commit();
}

Status SafetensorsWriter::commitDurably() {
  PAR_TRY(checkComplete());
  return file.commitDurably();
}

int64_t safetensorsBytes(const std::vector<NamedShape> &tensors) {
  int64_t elements = 0;
  int64_t header = int64_t(headerOf(tensors, FileType::f32, elements).size());
  return header + elements * 4;
}

} // namespace par::io
