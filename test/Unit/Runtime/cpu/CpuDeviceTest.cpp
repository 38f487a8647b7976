// The CPU as a device, and the one whose addresses are not mapped.
#include "cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace par::device;
using par::cpu::CpuDevice;

namespace {

class AnyDevice : public testing::TestWithParam<bool /*unmapped*/> {
protected:
  CpuDevice device{{1, true, GetParam() ? uint64_t(0x5A5A) << 48 : 0}};
  static constexpr size_t bytes = 4096;
  Memory memory;
  void SetUp() override { ASSERT_TRUE(memory.allocate(device, Space::device, bytes)); }
  template <typename T>
  T at(int64_t offset) {
    T value;
    device.read(&value, memory.begin() + offset, sizeof(T));
    return value;
  }
};

TEST_P(AnyDevice, WhatIsWrittenIsRead) {
  EXPECT_EQ(memory.begin().value % 64, 0u);
  int64_t value = 0x0123456789ABCDEF;
  device.write(memory.begin() + 8, &value, sizeof(value));
  EXPECT_EQ(at<int64_t>(8), value);
}

TEST_P(AnyDevice, FillsRepeatAWord) {
  device.fill(memory.begin(), 0, bytes);
  device.fill(memory.begin() + 4, 0x11223344, 6);
  EXPECT_EQ(at<uint32_t>(0), 0u);
  EXPECT_EQ(at<uint32_t>(4), 0x11223344u);
  EXPECT_EQ(at<uint32_t>(8), 0x00003344u); // little-endian: its first two bytes
  device.discard(memory.begin() + 16, 4);
  EXPECT_EQ(at<uint32_t>(16), poisonWord);
  EXPECT_EQ(at<uint32_t>(20), 0u);
}

TEST_P(AnyDevice, CopiesAreInTheOrderOfTheirQueue) {
  std::unique_ptr<Queue> queue = device.makeQueue(4, {});
  device.fill(memory.begin(), 7, 4);
  device.copy(*queue, memory.begin() + 64, memory.begin(), 4);
  uint64_t event = device.copy(*queue, memory.begin() + 128, memory.begin() + 64, 4);
  EXPECT_TRUE(device.compute().await(*queue, event).ok());
  EXPECT_EQ(at<uint32_t>(128), 7u);
}

/// What a program does to its arena is what the host reads by address.
TEST_P(AnyDevice, ProgramsHaveAddressesOfTheirOwn) {
  Context context;
  context.device = &device;
  context.arena = device.inProgram(memory.begin());
  device.launch([](par_context *given) { std::memset(given->arena + 32, 0x42, 4); }, context);
  EXPECT_EQ(at<uint32_t>(32), 0x42424242u);
  EXPECT_EQ(device.fromProgram(context.arena + 32), memory.begin() + 32);
  EXPECT_EQ(device.reach(memory.begin()), static_cast<void *>(context.arena));
}

INSTANTIATE_TEST_SUITE_P(Runtime, AnyDevice, testing::Bool(),
                         [](const auto &info) { return info.param ? "unmapped" : "cpu"; });

/// Else a test on it could not fail.
TEST(CpuDevice, UnmappedAddressesCannotBeUsed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // other tests may have left threads
  CpuDevice device({1, false, uint64_t(0x5A5A) << 48});
  Memory memory;
  ASSERT_TRUE(memory.allocate(device, Space::device, 64));
  EXPECT_DEATH(*reinterpret_cast<volatile char *>(memory.begin().value) = 1, "");
}

TEST(CpuDevice, MoreMemoryThanThereIsIsRefused) {
#ifdef PAR_SANITIZE
  GTEST_SKIP() << "sanitizers end a process that asks for so much";
#endif
  CpuDevice device({});
  Memory memory;
  EXPECT_FALSE(memory.allocate(device, Space::device, size_t(1) << 62));
  EXPECT_FALSE(memory);
}

} // namespace
