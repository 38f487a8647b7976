/// Safetensors files of a test, by their values or by their bytes.
#ifndef SAFETENSORS_FILES_H
#define SAFETENSORS_FILES_H

#include "par/io/Safetensors.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace par::test {

inline void writeTensors(const std::string &path,
                         const std::vector<std::pair<io::NamedShape, std::vector<float>>> &tensors) {
  io::SafetensorsWriter writer;
  std::vector<io::NamedShape> shapes;
  for (const auto &tensor : tensors)
    shapes.push_back(tensor.first);
  ASSERT_TRUE(writer.create(path, shapes).ok());
  for (const auto &tensor : tensors)
    ASSERT_TRUE(writer.append(tensor.second.data(), int64_t(tensor.second.size())).ok());
  ASSERT_TRUE(writer.commit().ok());
}

/// The file whose header and data these are.
inline std::string withLength(const std::string &header, const std::string &data) {
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += char(header.size() >> (8 * i));
  return length + header + data;
}

} // namespace par::test
#endif
