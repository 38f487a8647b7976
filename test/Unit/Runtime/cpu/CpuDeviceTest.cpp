// The CPU as a device, and the one whose addresses are not mapped.
#include "../device/DeviceConformance.h"

#include "cpu/CpuDevice.h"

#include <cstring>

using namespace par::test;
using par::cpu::CpuDevice;
using par::cpu::CpuDeviceOptions;

namespace {

constexpr uint64_t unmapped = uint64_t(0x5A5A) << 48;

DeviceMaker maker(const char *name, uint64_t flippedBits) {
  return {name, [=] { return std::make_unique<CpuDevice>(CpuDeviceOptions{1, true, flippedBits}); }};
}

INSTANTIATE_TEST_SUITE_P(Cpu, AnyDevice, testing::Values(maker("cpu", 0), maker("unmapped", unmapped)),
                         nameOf);

/// Programs of a CPU touch their arena themselves.
TEST(CpuDevice, ProgramsComputeInPlace) {
  CpuDevice device({1, false, unmapped});
  Memory memory;
  ASSERT_TRUE(memory.allocate(device, Space::device, 64));
  Context context;
  context.arena = device.inProgram(memory.begin());
  device.launch([](par_context *given) { std::memset(given->arena + 32, 0x42, 4); }, context);
  uint32_t word = 0;
  device.read(&word, memory.begin() + 32, 4);
  EXPECT_EQ(word, 0x42424242u);
  EXPECT_EQ(device.reach(memory.begin()), static_cast<void *>(context.arena));
}

/// Else a test on it could not fail.
TEST(CpuDevice, UnmappedAddressesCannotBeUsed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // other tests may have left threads
  CpuDevice device({1, false, unmapped});
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
