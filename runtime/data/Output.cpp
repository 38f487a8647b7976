#include "data/Output.h"

#include "par/config/FileUses.h"

#include <cstdio>

namespace par::data {

io::Status Output::create(const std::string &path, const std::vector<std::string> &inputs) {
  toFile = !isStandard(path);
  if (!toFile)
    return {};
  for (const std::string &input : inputs)
    if (config::isSameFile(path, input))
      return io::Status::error(path + ": is an input, too; give -o another name");
  return file.create(path);
}

io::Status Output::write(const std::string &bytes) {
  if (toFile)
    return file.write(bytes.data(), bytes.size());
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
    return io::Status::error("standard output cannot be written");
  return {};
}

io::Status Output::commit() {
  if (toFile)
    return file.commit();
  return std::fflush(stdout) == 0 ? io::Status() : io::Status::error("standard output cannot be written");
}

} // namespace par::data
