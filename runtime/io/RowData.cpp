#include "par/io/RowData.h"

#include "par/io/FloatTypes.h"
#include "par/io/Sha256.h"
#include "par/io/TokenData.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace par::io {

namespace {
/// A type of inputs, and how files spell it.
struct InputType {
  const char *name, *inFiles;
  int64_t bytes;
};
} // namespace

static const InputType inputTypes[] = {
    {"f32", "F32", 4}, {"bf16", "BF16", 2}, {"i32", "I32", 4}, {"i64", "I64", 8}, {"i1", "BOOL", 1}};

static const InputType *findType(const std::string &name) {
  for (const InputType &type : inputTypes)
    if (name == type.name)
      return &type;
  return nullptr;
}

int64_t bytesOfInput(const std::string &type) {
  const InputType *found = findType(type);
  return found ? found->bytes : 0;
}

template <typename Stored>
static Stored load(const unsigned char *bytes) {
  Stored stored;
  std::memcpy(&stored, bytes, sizeof(Stored));
  return stored;
}

double inputElement(const std::string &type, const unsigned char *bytes) {
  if (type == "f32")
    return load<float>(bytes);
  if (type == "bf16")
    return bfloatToFloat(load<uint16_t>(bytes));
  if (type == "i32")
    return load<int32_t>(bytes);
  return type == "i64" ? double(load<int64_t>(bytes)) : double(*bytes);
}

std::string toString(const OpenInput &input) {
  return "\"" + input.name + "\" (" + input.type + " " + toString(input.shape) + ")";
}

std::string toString(const std::vector<OpenInput> &inputs) {
  std::string text;
  for (const OpenInput &input : inputs)
    text += (text.empty() ? "" : ", ") + toString(input);
  return text;
}

/// A byte of BOOL that is neither 0 nor 1 is no value.
static Status checkBools(const SafetensorsReader &file, const SafetensorsEntry &entry) {
  const unsigned char *begin = file.bytes(entry), *end = begin + (entry.end - entry.begin);
  const unsigned char *bad =
      entry.dtype == "BOOL" ? std::find_if(begin, end, [](unsigned char byte) { return byte > 1; }) : end;
  return bad == end ? Status()
                    : Status::error(file.path() + ": tensor \"" + entry.name + "\": element " +
                                    std::to_string(bad - begin) + " is the byte " + std::to_string(*bad) +
                                    ", but a BOOL is 0 or 1; the file is damaged");
}

/// Whether a tensor is of an input's type and of this shape, in which -1 is any size.
static Status checkTensor(const SafetensorsReader &file, const SafetensorsEntry &entry,
                          const OpenInput &input, const Shape &shape) {
  bool fits = entry.dtype == findType(input.type)->inFiles && entry.shape.size() == shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = shape[d] < 0 || entry.shape[d] == shape[d];
  if (fits)
    return checkBools(file, entry);
  std::string expected = toString(shape);
  if (!shape.empty() && shape[0] < 0)
    expected.replace(1, 2, "rows");
  return Status::error(file.path() + ": tensor \"" + input.name + "\" is " + entry.dtype + " " +
                       toString(entry.shape) + ", but the input " + toString(input) + " needs " +
                       findType(input.type)->inFiles + " " + expected + "; write it so");
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Status RowData::find(const OpenInput &input) {
  Tensor found{input, nullptr, nullptr, 1};
  for (const auto &file : files)
    if (const SafetensorsEntry *entry = file->find(input.name)) {
      if (found.entry)
        return Status::error(found.file->path() + " and " + file->path() + ": both have a tensor \"" +
                             input.name + "\"; give one of them");
      found.file = file.get(), found.entry = entry;
    }
  if (!found.entry)
    return Status::error(files.front()->path() + (files.size() > 1 ? " and others" : "") +
                         ": no tensor has the name of the input " + toString(input) +
                         "; give a file that has it to --data");
  Shape shape = input.shape;
  shape.front() = -1;
  PAR_TRY(checkTensor(*found.file, *found.entry, input, shape));
  found.elements = elementCount(Shape(shape.begin() + 1, shape.end()));
  int64_t count = found.entry->shape.front();
  if (count == 0)
    return Status::error(found.file->path() + ": tensor \"" + input.name + "\" has no rows; give some");
  if (rows && count != rows)
    return Status::error(found.file->path() + ": tensor \"" + input.name + "\" has " + std::to_string(count) +
                         " rows, but \"" + wanted.front().input.name + "\" has " + std::to_string(rows) +
                         "; rows of one number belong together");
  rows = count;
  wanted.push_back(std::move(found));
  return {};
}

Status RowData::open(const std::vector<std::string> &paths, const std::vector<OpenInput> &inputs,
                     bool shuffle, uint64_t orderSeed) {
  isShuffled = shuffle, seed = orderSeed;
  for (const std::string &path : paths) {
    auto file = std::make_unique<SafetensorsReader>();
    PAR_TRY(file->open(path));
    files.push_back(std::move(file));
  }
  for (const OpenInput &input : inputs)
    PAR_TRY(find(input));
  for (const auto &file : files)
    if (std::none_of(wanted.begin(), wanted.end(), [&](const Tensor &one) { return one.file == file.get(); }))
      return Status::error(file->path() + ": no input is read from it; the inputs are " + toString(inputs) +
                           "; leave it out");
  return {};
}

Status RowData::checkWindows(int64_t windows) const {
  if (rows == 0 || windows == 0 || rows == windows)
    return {};
  return Status::error(files.front()->path() + ": has " + std::to_string(rows) +
                       " rows, but the tokens have " + std::to_string(windows) +
                       " windows; give a row for each window");
}

const unsigned char *RowData::row(size_t input, int64_t number) const {
  const Tensor &tensor = wanted[input];
  int64_t bytes = tensor.elements * bytesOfInput(tensor.input.type);
  return tensor.file->bytes(*tensor.entry) + windowAt(number, rows, isShuffled, seed) * bytes;
}

std::string RowData::summary() const {
  constexpr int64_t first = 16, spread = 64;
  Sha256 hash;
  for (size_t input = 0; input < wanted.size(); ++input) {
    const Tensor &tensor = wanted[input];
    std::string about =
        tensor.input.name + " " + tensor.input.type + " " + toString(tensor.entry->shape) + "\n";
    hash.update(about.data(), about.size());
    for (int64_t i = 0; i < first + spread; ++i)
      hash.update(row(input, i < first ? i : (rows - 1) * (i - first) / (spread - 1)),
                  size_t(tensor.elements * bytesOfInput(tensor.input.type)));
  }
  return std::to_string(rows) + " rows with hash " + hash.finish().substr(0, 16);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

template <typename Stored>
static std::vector<unsigned char> store(Stored value) {
  std::vector<unsigned char> bytes(sizeof(Stored));
  std::memcpy(bytes.data(), &value, sizeof(Stored));
  return bytes;
}

template <typename Number>
static bool readWhole(const std::string &text, Number &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// A number as the bytes of a scalar; nothing where it is none of that type.
static std::vector<unsigned char> readScalar(const std::string &type, const std::string &text) {
  if (type == "f32" || type == "bf16") {
    float number = 0;
    if (!readWhole(text, number) || !std::isfinite(number))
      return {};
    return type == "f32" ? store(number) : store(floatToBfloat(number));
  }
  int64_t integer = 0;
  if (!readWhole(text, integer))
    return {};
  if (type == "i64")
    return store(integer);
  if (type == "i1")
    return integer == 0 || integer == 1 ? store(uint8_t(integer)) : std::vector<unsigned char>();
  return integer >= INT32_MIN && integer <= INT32_MAX ? store(int32_t(integer))
                                                      : std::vector<unsigned char>();
}

Status StepValues::take(const std::string &text, const std::vector<OpenInput> &inputs) {
  size_t equal = text.find('=');
  if (equal == std::string::npos)
    return Status::error("--input " + text + ": expected NAME=VALUE or NAME=FILE.safetensors");
  std::string name = text.substr(0, equal), value = text.substr(equal + 1);
  auto found = std::find_if(inputs.begin(), inputs.end(), [&](const auto &one) { return one.name == name; });
  if (found == inputs.end())
    return Status::error(
        "--input " + text + ": the program takes no input \"" + name + "\" for each step" +
        (inputs.empty() ? "; leave it out" : "; those that it takes are " + toString(inputs)));
  std::vector<unsigned char> &bytes = values[size_t(found - inputs.begin())];
  if (!bytes.empty())
    return Status::error("--input " + text + ": \"" + name + "\" has a value already; give one");
  if (found->shape.empty())
    bytes = readScalar(found->type, value);
  if (!bytes.empty())
    return {};
  if (!isFile(value))
    return Status::error(
        "--input " + text + ": \"" + value + "\" is " +
        (found->shape.empty()
             ? "neither a number of the type of the input " + toString(*found) + " nor a file"
             : "no file, and the input " + toString(*found) + " is read from one"));
  SafetensorsReader file;
  PAR_TRY(file.open(value));
  const SafetensorsEntry *entry = file.find(name);
  if (!entry)
    return Status::error(value + ": no tensor has the name of the input " + toString(*found));
  PAR_TRY(checkTensor(file, *entry, *found, found->shape));
  bytes.assign(file.bytes(*entry), file.bytes(*entry) + (entry->end - entry->begin));
  return {};
}

Status StepValues::open(const std::vector<std::string> &given, const std::vector<OpenInput> &inputs) {
  values.assign(inputs.size(), {});
  for (const std::string &text : given)
    PAR_TRY(take(text, inputs));
  std::vector<OpenInput> missing;
  Sha256 hash;
  for (size_t input = 0; input < inputs.size(); ++input) {
    if (values[input].empty()) {
      missing.push_back(inputs[input]);
      continue;
    }
    hash.update(inputs[input].name.data(), inputs[input].name.size() + 1);
    hash.update(values[input].data(), values[input].size());
  }
  words = inputs.empty() ? "none"
                         : std::to_string(inputs.size()) + " values with hash " + hash.finish().substr(0, 16);
  return missing.empty() ? Status()
                         : Status::error("the program takes " + toString(missing) +
                                         " for each step; give --input NAME=VALUE, or =FILE.safetensors");
}

std::string StepValues::summary() const { return words; }

} // namespace par::io
