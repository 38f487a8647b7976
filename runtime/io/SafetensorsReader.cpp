#include "par/io/Safetensors.h"

#include "ParseJson.h"
#include "par/Limits.h"
#include "par/io/FloatTypes.h"
#include "par/io/JsonText.h"
#include "par/io/OtherWeights.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace par::io {

using Json = nlohmann::json;

static const struct {
  const char *name;
  int64_t bytes;
  FileType type;
} fileTypes[] = {
    {"F64", 8, FileType::f64},      {"F32", 4, FileType::f32},       {"F16", 2, FileType::f16},
    {"BF16", 2, FileType::bf16},    {"I64", 8, FileType::other},     {"I32", 4, FileType::other},
    {"I16", 2, FileType::other},    {"I8", 1, FileType::other},      {"U64", 8, FileType::other},
    {"U32", 4, FileType::other},    {"U16", 2, FileType::other},     {"U8", 1, FileType::other},
    {"BOOL", 1, FileType::other},   {"F8_E4M3", 1, FileType::other}, {"F8_E5M2", 1, FileType::other},
    {"F8_E8M0", 1, FileType::other}};

/// Fills type and returns the bytes that the shape needs, or -1 for an unknown dtype, a negative or an
/// overflowing size.
static int64_t neededBytes(SafetensorsEntry &entry) {
  for (const auto &known : fileTypes) {
    if (entry.dtype != known.name)
      continue;
    entry.type = known.type;
    int64_t bytes = known.bytes;
    for (int64_t size : entry.shape)
      if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
        return -1;
    return bytes;
  }
  return -1;
}

static bool integers(const Json &array, Shape &out) {
  if (!array.is_array())
    return false;
  for (const Json &item : array) {
    if (!item.is_number_integer())
      return false;
    out.push_back(item.get<int64_t>());
  }
  return true;
}

static Status parseEntry(const std::string &path, const std::string &name, const Json &json,
                         SafetensorsEntry &entry) {
  std::string place = path + ": tensor \"" + name + "\": ";
  Shape offsets;
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() || !json.contains("shape") ||
      !integers(json["shape"], entry.shape) || !json.contains("data_offsets") ||
      !integers(json["data_offsets"], offsets) || offsets.size() != 2)
    return Status::error(place + "its header entry lacks dtype, shape or data_offsets; the file is damaged");
  entry.name = name;
  entry.dtype = json["dtype"].get<std::string>();
  entry.begin = offsets[0], entry.end = offsets[1];
  int64_t bytes = neededBytes(entry);
  if (bytes < 0)
    return Status::error(place + "has dtype " + entry.dtype + " and shape " + toString(entry.shape) +
                         ", which this reader does not know or cannot represent");
  if (entry.begin < 0 || entry.end < entry.begin || entry.end - entry.begin != bytes)
    return Status::error(place + "data_offsets [" + std::to_string(entry.begin) + ", " +
                         std::to_string(entry.end) + "] do not hold the " + std::to_string(bytes) +
                         " bytes of " + entry.dtype + " " + toString(entry.shape) + "; the file is damaged");
  return {};
}

/// The header as JSON, or why it is none. A name that is there twice is refused: which of the two counts
/// would depend on the reader.
static Status parseHeader(const std::string &path, const char *text, size_t length, Json &header) {
  PAR_TRY(checkDepth(path, {text, length}));
  std::string twice;
  header = parseJson({text, length}, twice);
  if (!header.is_object())
    return Status::error(path + ": the header is no JSON object; the file is damaged or no safetensors file");
  if (!twice.empty())
    return Status::error(path + ": the header has \"" + twice + "\" twice; the file is damaged");
  return {};
}

static Status checkMetadata(const std::string &path, const Json &metadata) {
  bool good = metadata.is_object();
  for (const auto &item : metadata.items())
    good &= item.value().is_string();
  return good ? Status()
              : Status::error(path + ": __metadata__ of the header is no object of strings; the file is "
                                     "damaged");
}

/// Opens the file, and refuses what its first bytes show to be something else.
Status SafetensorsReader::open(const std::string &path) {
  Status status = openAs(path);
  std::string_view begin(reinterpret_cast<const char *>(file.data()), std::min<size_t>(file.size(), 4096));
  std::string other = status.ok() ? "" : otherWeightsFile(path, begin);
  return other.empty() ? status : Status::error(path + ": " + other);
}

Status SafetensorsReader::openAs(const std::string &path) {
  name = path;
  PAR_TRY(file.open(path));
  if (file.size() < 8)
    return Status::error(path + ": is no safetensors file: " + std::to_string(file.size()) +
                         " bytes, but the header's length alone has 8");
  uint64_t length = 0;
  for (int i = 0; i < 8; ++i)
    length |= uint64_t(file.data()[i]) << (8 * i);
  if (length > file.size() - 8)
    return Status::error(path + ": the header's length " + std::to_string(length) +
                         " goes beyond the file of " + std::to_string(file.size()) +
                         " bytes; the file is truncated or no safetensors file");
  if (length > limits::headerBytes)
    return Status::error(path + ": the header's length is " + std::to_string(length) +
                         ", but the format allows 100000000 bytes; the file is damaged or no safetensors "
                         "file");
  base = int64_t(8 + length);
  Json header;
  PAR_TRY(parseHeader(path, reinterpret_cast<const char *>(file.data()) + 8, length, header));
  for (const auto &[tensor, json] : header.items()) {
    if (tensor == "__metadata__") {
      PAR_TRY(checkMetadata(path, json));
      continue;
    }
    SafetensorsEntry entry;
    PAR_TRY(parseEntry(path, tensor, json, entry));
    list.push_back(std::move(entry));
  }
  return checkOffsets();
}

/// Tensors follow each other without gaps and end with the file.
Status SafetensorsReader::checkOffsets() const {
  std::vector<const SafetensorsEntry *> order;
  int64_t size = int64_t(file.size()) - base, end = 0;
  for (const SafetensorsEntry &entry : list) {
    order.push_back(&entry);
    if (entry.end > size)
      return Status::error(name + ": tensor \"" + entry.name + "\" ends at byte " +
                           std::to_string(entry.end) + " of the data, but the file has only " +
                           std::to_string(size) + "; the file is truncated");
  }
  std::sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
    return std::make_pair(a->begin, a->end) < std::make_pair(b->begin, b->end);
  });
  for (size_t i = 0; i < order.size(); end = order[i++]->end) {
    if (order[i]->begin < end)
      return Status::error(name + ": tensors \"" + order[i - 1]->name + "\" and \"" + order[i]->name +
                           "\" overlap; the file is damaged");
    if (order[i]->begin > end)
      return Status::error(name + ": bytes " + std::to_string(end) + " to " +
                           std::to_string(order[i]->begin) +
                           " of the data belong to no tensor; the file is "
                           "damaged");
  }
  if (end < size)
    return Status::error(name + ": has " + std::to_string(size - end) +
                         " bytes behind its tensors; the file is damaged");
  return {};
}

const SafetensorsEntry *SafetensorsReader::find(const std::string &tensor) const {
  for (const SafetensorsEntry &entry : list)
    if (entry.name == tensor)
      return &entry;
  return nullptr;
}

/// Elements need not be aligned in the file, hence the copies.
template <typename Stored, typename Convert>
static void readAs(const unsigned char *at, int64_t stride, int64_t count, float *out, Convert convert) {
  for (int64_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, at + i * stride * int64_t(sizeof(Stored)), sizeof(Stored));
    out[i] = convert(stored);
  }
}

void SafetensorsReader::read(const SafetensorsEntry &entry, int64_t first, int64_t stride, int64_t count,
                             float *out) const {
  const unsigned char *at = bytes(entry);
  switch (entry.type) {
  case FileType::f64:
    return readAs<double>(at + first * 8, stride, count, out, [](double x) { return float(x); });
  case FileType::f32:
    return readAs<float>(at + first * 4, stride, count, out, [](float x) { return x; });
  case FileType::f16:
    return readAs<uint16_t>(at + first * 2, stride, count, out, halfToFloat);
  case FileType::bf16:
    return readAs<uint16_t>(at + first * 2, stride, count, out, bfloatToFloat);
  case FileType::other:
    return;
  }
}

} // namespace par::io
