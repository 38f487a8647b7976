#include "data/TokenWriter.h"

namespace par::data {

io::Status TokenWriter::create(const std::string &path, io::TokenType wanted) {
  type = wanted;
  return file.create(path);
}

io::Status TokenWriter::append(const std::vector<uint32_t> &ids) {
  int bytes = type == io::TokenType::uint16 ? 2 : 4;
  for (uint32_t id : ids) {
    if (bytes == 2 && id > 0xFFFF)
      return io::Status::error(file.path() + ": token " + std::to_string(count) + " is " +
                               std::to_string(id) + ", which u16 cannot hold; use --dtype u32");
    for (int i = 0; i < bytes; ++i)
      buffer += char(id >> (8 * i));
    ++count;
  }
  if (buffer.size() < (1 << 20))
    return {};
  PAR_TRY(file.write(buffer.data(), buffer.size()));
  buffer.clear();
  return {};
}

io::Status TokenWriter::commit() {
  PAR_TRY(file.write(buffer.data(), buffer.size()));
  return file.commit();
}

} // namespace par::data
