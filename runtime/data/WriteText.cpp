#include "data/Data.h"
#include "data/TokenWriter.h"
#include "par/io/MaskedTokens.h"
#include "text/ModelFolder.h"

#include <algorithm>
#include <cstring>

namespace par::data {

io::Status writeText(const DataOptions &options) {
  text::ModelFolder model;
  PAR_TRY(model.open(options.tokenizer));
  io::TokenType type = options.type == io::TokenType::automatic ? typeFor(model.vocabulary) : options.type;
  size_t bytes = type == io::TokenType::uint16 ? 2 : 4;
  Output output;
  PAR_TRY(output.create(options.output, {options.decode, model.file}));
  io::MappedFile source;
  PAR_TRY(source.open(options.decode));
  bool masked =
      source.size() >= size_t(io::maskedHeaderBytes) && std::memcmp(source.data(), io::maskedMagic, 8) == 0;
  size_t base = masked ? size_t(io::maskedHeaderBytes) : 0;
  if (masked)
    bytes = 4;
  if (source.size() % bytes != 0)
    return io::Status::error(options.decode + ": has " + std::to_string(source.size()) +
                             " bytes, which is no whole number of " + std::to_string(bytes) +
                             "-byte tokens; give the right --dtype");
  std::vector<uint32_t> ids;
  size_t count = (source.size() - base) / bytes;
  constexpr size_t block = 1 << 16;
  for (size_t first = 0; first < count; first += block) {
    ids.assign(std::min(block, count - first), 0);
    for (size_t i = 0; i < ids.size(); ++i)
      for (size_t b = 0; b < bytes; ++b)
        ids[i] |= uint32_t(source.data()[base + (first + i) * bytes + b]) << (8 * b);
    for (uint32_t &id : ids)
      id = masked ? id & ~io::maskedBit : id;
    std::string text;
    io::Status status = model.tokenizer.decode(ids.data(), ids.size(), text, /*begins=*/first == 0);
    if (!status.ok())
      return io::Status::error(options.decode + ": from token " + std::to_string(first) +
                               " on: " + status.message() +
                               "; give the tokenizer and --dtype that the file was made with");
    PAR_TRY(output.write(text));
  }
  return output.commit();
}

} // namespace par::data
