// checkpoint.json: any text is read or refused, and blocks of what is read lie in their tensors.
#include "Fuzz.h"
#include "JsonMutator.h"
#include "Rehash.h"
#include "par/io/Checkpoint.h"

#include <filesystem>

using namespace par;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string folder = "/dev/shm/par-fuzz-checkpoint-" + std::to_string(getpid());
  static bool made = std::filesystem::create_directories(folder);
  (void)made;
  std::string text = fuzz::rehash(std::string(data, data + size));
  const std::string &file = fuzz::fileWith(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  std::filesystem::copy_file(file, folder + "/checkpoint.json",
                             std::filesystem::copy_options::overwrite_existing);
  io::CheckpointReader reader;
  if (!reader.open(folder).ok())
    return 0;
  for (const auto &[name, tensor] : reader.info().tensors)
    (void)reader
        .read(name, {io::Shape(tensor.shape.size(), 0), tensor.shape},
              [](const auto &, int64_t, const float *) {})
        .ok();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateJson(data, size, maxSize, seed);
}
