#include "par/io/Safetensors.h"

#include <nlohmann/json.hpp>

namespace par::io {

/// The header with its length in front, padded with spaces so that the data begin at a multiple of 8.
static std::string headerOf(const std::vector<NamedShape> &tensors, int64_t &elements) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  elements = 0;
  for (const NamedShape &tensor : tensors) {
    int64_t begin = elements * 4;
    elements += elementCount(tensor.shape);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, elements * 4}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += char(uint64_t(text.size()) >> (8 * i));
  return length + text;
}

Status SafetensorsWriter::create(const std::string &path, const std::vector<NamedShape> &tensors) {
  std::string header = headerOf(tensors, missing);
  PAR_TRY(file.create(path));
  return file.write(header.data(), header.size());
}

Status SafetensorsWriter::append(const float *values, int64_t count) {
  missing -= count;
  return file.write(values, size_t(count) * sizeof(float));
}

Status SafetensorsWriter::checkComplete() const {
  if (missing == 0)
    return {};
  return Status::error(file.path() + ": " + std::to_string(missing) + " elements of the declared tensors were not written");
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
  int64_t header = int64_t(headerOf(tensors, elements).size());
  return header + elements * 4;
}

} // namespace par::io
