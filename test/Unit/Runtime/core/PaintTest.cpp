// The end of what was written in memory that was painted.
#include "core/Paint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace par::rt {
namespace {

/// Where `value` seems to end that lies at `offset` in painted memory.
template <typename Value>
int64_t endOf(Value value, size_t offset) {
  std::vector<char> memory(64);
  for (size_t at = 0; at < memory.size(); at += 4)
    std::memcpy(memory.data() + at, &device::paintWord, 4);
  std::memcpy(memory.data() + offset, &value, sizeof value);
  return findWritten(memory.data(), int64_t(memory.size()));
}

/// Numbers whose bytes are all ones, or those of infinities and NaNs, end where they end.
TEST(Paint, IsNoNumberOfAProgram) {
  for (size_t at : {size_t(0), size_t(8), size_t(60)})
    EXPECT_EQ(endOf(int32_t(-1), at), int64_t(at) + 4);
  for (float value : {0.0F, -0.0F, INFINITY, -INFINITY, NAN, -NAN})
    EXPECT_EQ(endOf(value, 12), 16);
  EXPECT_EQ(endOf(device::poisonWord, 12), 16);
  EXPECT_EQ(endOf(int64_t(-1), 8), 16);
}

/// An odd number of bf16, or of truth values, has no word to itself.
TEST(Paint, MayShareAWordWithData) {
  for (uint16_t bits : {0x0000, 0xFFFF, 0xFF80, 0x7FC0, 0x3F80})
    for (size_t at : {size_t(12), size_t(14)})
      EXPECT_EQ(endOf(bits, at), int64_t(at) + 2) << bits;
  for (char truth : {char(0), char(1)})
    for (size_t at : {size_t(12), size_t(13), size_t(14), size_t(15)})
      EXPECT_EQ(endOf(truth, at), int64_t(at) + 1) << int(truth);
}

TEST(Paint, IsAllThatIsThere) { EXPECT_EQ(endOf(device::paintWord, 16), 0); }

} // namespace
} // namespace par::rt
