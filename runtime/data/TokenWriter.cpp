#include "data/TokenWriter.h"

#include "par/io/MaskedTokens.h"

namespace par::data {

io::Status TokenWriter::create(const std::string &path, const std::vector<std::string> &inputs,
                               io::TokenType wanted) {
  type = wanted;
  return output.create(path, inputs);
}

io::Status TokenWriter::append(const std::vector<uint32_t> &ids) {
  int bytes = !masked && type == io::TokenType::uint16 ? 2 : 4;
  for (uint32_t id : ids) {
    if (bytes == 2 && id > 0xFFFF)
      return io::Status::error(output.name() + ": token " + std::to_string(count) + " is " +
                               std::to_string(id) + ", which uint16 cannot hold; use --dtype uint32");
    for (int i = 0; i < bytes; ++i)
      buffer += char(id >> (8 * i));
    ++count;
  }
  if (masked || buffer.size() < (1 << 20))
    return {};
  PAR_TRY(output.write(buffer));
  buffer.clear();
  return {};
}

io::Status TokenWriter::commit() {
  if (masked) {
    std::string header(io::maskedMagic, 8);
    for (int i = 0; i < 8; ++i)
      header += char(count >> (8 * i));
    PAR_TRY(output.write(header));
  }
  PAR_TRY(output.write(buffer));
  return output.commit();
}

} // namespace par::data
