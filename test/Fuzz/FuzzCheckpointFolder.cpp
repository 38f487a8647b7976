// A checkpoint as a whole, checkpoint.json and the ranks' files: it is refused, or what is read of it has the
// hashes that checkpoint.json states.
//
// Inputs are JSON: {"repair": whether checkpoint.json gets the right hash of itself, "checkpoint": its
// content, "files": {name: hexadecimal digits}} (pack_checkpoint.py makes one of a folder).
#include "Fuzz.h"
#include "JsonMutator.h"
#include "Rehash.h"
#include "par/io/Checkpoint.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace par;
using Json = nlohmann::json;

static const std::string folder = "/dev/shm/par-fuzz-folder-" + std::to_string(getpid());

static void write(const std::string &name, const std::string &content) {
  std::ofstream(folder + "/" + name, std::ios::binary).write(content.data(), std::streamsize(content.size()));
}

static std::string bytesOf(const std::string &digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += char(std::strtol(digits.substr(i, 2).c_str(), nullptr, 16));
  return bytes;
}

/// Reads a block by itself and hashes what comes.
static void readBlock(const io::CheckpointReader &reader, const std::string &name,
                      const io::CheckpointTensor &tensor, int64_t number) {
  io::BlockHash hash(reader.info().partBytes);
  bool read = reader
                  .read(name, io::blockOf(tensor, number),
                        [&](const auto &, int64_t count, const float *row) {
                          hash.update(row, size_t(count) * sizeof(float));
                        })
                  .ok();
  if (read && hash.finish() != tensor.hashes[size_t(number)])
    std::abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Json input = Json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (!input.is_object() || !input.contains("checkpoint"))
    return 0;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::string text = input["checkpoint"].dump(-1, ' ', false, Json::error_handler_t::replace);
  write("checkpoint.json", input.value("repair", Json()) == true ? fuzz::rehash(text) : text);
  Json files = input.value("files", Json::object());
  for (const auto &[name, digits] : files.items())
    if (digits.is_string() && name.find('/') == std::string::npos && name.size() < 200)
      write(name, bytesOf(digits));
  io::CheckpointReader reader;
  if (!reader.open(folder).ok())
    return 0;
  for (const auto &[name, tensor] : reader.info().tensors)
    for (size_t number = 0; number < tensor.ranks.size() && number < 64; ++number)
      if (tensor.ranks[number] >= 0)
        readBlock(reader, name, tensor, int64_t(number));
  return 0;
}

/// Half of the time changes digits of a file, else any values.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  Json input = Json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (random() % 2 || !input.is_object() || !input.value("files", Json()).is_object() ||
      input["files"].empty())
    return fuzz::mutateJson(data, size, maxSize, seed);
  auto file = std::next(input["files"].begin(), long(random() % input["files"].size()));
  if (!file->is_string() || file->get_ref<const std::string &>().empty())
    return fuzz::mutateJson(data, size, maxSize, seed);
  std::string digits = *file;
  for (unsigned times = 1 + random() % 4; times > 0; --times)
    digits[random() % digits.size()] = "0123456789abcdef"[random() % 16];
  *file = digits;
  std::string text = input.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > maxSize)
    return fuzz::mutateJson(data, size, maxSize, seed);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
