#include "data/TokenWriter.h"

#include "par/config/FileUses.h"
#include "par/io/EndingSignals.h"
#include "par/io/MaskedTokens.h"

#include <algorithm>

namespace par::data {

io::Status TokenWriter::create(const std::string &path, const std::vector<std::string> &inputs,
                               io::TokenType wanted) {
  type = wanted;
  PAR_TRY(output.create(path, inputs));
  isDescribed = !Output::isStandard(path);
  if (!isDescribed)
    return {};
  std::string name = io::descriptionFile(path);
  for (const std::string &input : inputs)
    if (config::isSameFile(name, input))
      return io::Status::error(name + ": is an input, and the description of " + path +
                               " would replace it; give -o another name");
  PAR_TRY(io::checkDescribable(path));
  return description.create(name);
}

io::Status TokenWriter::write(const std::string &part) {
  ends.add(part);
  bytes += part.size();
  return output.write(part);
}

io::Status TokenWriter::append(const std::vector<uint32_t> &ids) {
  int width = !masked && type == io::TokenType::uint16 ? 2 : 4;
  for (uint32_t id : ids) {
    uint32_t token = masked ? id & ~(io::maskedBit | io::rowBit) : id;
    if (width == 2 && id > 0xFFFF)
      return io::Status::error(output.name() + ": token " + std::to_string(count) + " is " +
                               std::to_string(id) + ", which uint16 cannot hold; use --dtype uint32");
    for (int i = 0; i < width; ++i)
      buffer += char(id >> (8 * i));
    largest = std::max(largest, token);
    trained += !masked || !(id & io::maskedBit);
    ++count;
  }
  if (masked || buffer.size() < (1 << 20))
    return {};
  PAR_TRY(write(buffer));
  buffer.clear();
  return {};
}

io::Status TokenWriter::commit(io::TokenDescription about) {
  if (masked) {
    std::string header(hasRows ? io::rowsMagic : io::maskedMagic, 8);
    for (int i = 0; i < 8; ++i)
      header += char(count >> (8 * i));
    PAR_TRY(write(header));
  }
  PAR_TRY(write(buffer));
  if (!isDescribed)
    return output.commit();
  about.type = io::typeNameOf(type, masked, hasRows);
  about.bytes = int64_t(bytes), about.ends = ends.finish();
  about.tokens = int64_t(count), about.targets = int64_t(trained), about.largest = largest;
  std::string text = io::toJson(about);
  PAR_TRY(description.write(text.data(), text.size()));
  io::SignalsWait both; // a file and its description are there together, or neither is
  PAR_TRY(output.commit());
  return description.commit();
}

} // namespace par::data
