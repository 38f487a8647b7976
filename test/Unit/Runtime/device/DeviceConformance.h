/// What every device does, whatever it is: INSTANTIATE_TEST_SUITE_P(Name, AnyDevice, ...) with ways to make
/// one.
#ifndef PAR_TEST_DEVICE_DEVICECONFORMANCE_H
#define PAR_TEST_DEVICE_DEVICECONFORMANCE_H

#include "device/Device.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace par::test {

using namespace device;

/// A device that poisons what is discarded.
struct DeviceMaker {
  std::string name;
  std::function<std::unique_ptr<Device>()> make;
  std::function<void()> check = [] {}; ///< when all is given back
};

class AnyDevice : public testing::TestWithParam<DeviceMaker> {
protected:
  static constexpr size_t bytes = 4096;
  std::unique_ptr<Device> device = GetParam().make();
  std::unique_ptr<Memory> arena = std::make_unique<Memory>();
  Memory &memory = *arena;
  void SetUp() override { ASSERT_TRUE(memory.allocate(*device, Space::device, bytes)); }
  void TearDown() override {
    arena.reset();
    device.reset();
    GetParam().check();
  }
  template <typename T>
  T at(int64_t offset) {
    T value;
    device->read(&value, memory.begin() + offset, sizeof(T));
    return value;
  }
};

TEST_P(AnyDevice, WhatIsWrittenIsRead) {
  EXPECT_EQ(memory.begin().value % 64, 0u);
  int64_t value = 0x0123456789ABCDEF;
  device->write(memory.begin() + 8, &value, sizeof(value));
  EXPECT_EQ(at<int64_t>(8), value);
}

TEST_P(AnyDevice, FillsRepeatAWord) {
  device->fill(memory.begin(), 0, bytes);
  device->fill(memory.begin() + 4, 0x11223344, 6);
  EXPECT_EQ(at<uint32_t>(0), 0u);
  EXPECT_EQ(at<uint32_t>(4), 0x11223344u);
  EXPECT_EQ(at<uint32_t>(8), 0x00003344u); // little-endian: its first two bytes
  device->fill(memory.begin() + 13, 0x11223344, 9);
  EXPECT_EQ(at<uint32_t>(12), 0x22334400u);
  EXPECT_EQ(at<uint32_t>(16), 0x22334411u);
  EXPECT_EQ(at<uint32_t>(20), 0x00004411u);
  device->discard(memory.begin() + 16, 4);
  EXPECT_EQ(at<uint32_t>(16), poisonWord);
  EXPECT_EQ(at<uint32_t>(20), 0x00004411u);
}

TEST_P(AnyDevice, CopiesAreInTheOrderOfTheirQueue) {
  std::unique_ptr<Queue> queue = device->makeQueue(4, {});
  device->fill(memory.begin(), 7, 4);
  device->copy(*queue, memory.begin() + 64, memory.begin(), 4);
  uint64_t event = device->copy(*queue, memory.begin() + 128, memory.begin() + 64, 4);
  EXPECT_TRUE(device->compute().await(*queue, event).ok());
  EXPECT_EQ(at<uint32_t>(128), 7u);
}

/// Both ways, and the host may wait for either.
TEST_P(AnyDevice, QueuesWaitForEachOther) {
  std::unique_ptr<Queue> queue = device->makeQueue(4, {});
  EXPECT_EQ(queue->record(), 0u);
  EXPECT_TRUE(queue->happened(0));
  device->fill(memory.begin(), 0, 256);
  for (uint32_t round = 1; round < 100; ++round) { // more events than a queue keeps
    device->fill(memory.begin(), round, 4);
    uint64_t made = device->copy(device->compute(), memory.begin() + 64, memory.begin(), 4);
    EXPECT_TRUE(queue->await(device->compute(), made).ok());
    uint64_t taken = device->copy(*queue, memory.begin() + 128, memory.begin() + 64, 4);
    EXPECT_EQ(queue->record(), taken);
    if (round % 2)
      EXPECT_TRUE(queue->wait(taken).ok());
    else
      EXPECT_TRUE(device->compute().await(*queue, taken).ok());
    ASSERT_EQ(at<uint32_t>(128), round);
  }
  EXPECT_TRUE(queue->wait(queue->record()).ok());
  EXPECT_TRUE(queue->happened(queue->record()));
}

/// What a queue has waited for is before its next event, too, though nothing else was enqueued.
TEST_P(AnyDevice, AnEventIsBehindWhatItsQueueWaitedFor) {
  std::unique_ptr<Queue> first = device->makeQueue(4, {}), second = device->makeQueue(4, {});
  for (uint32_t round = 1; round < 10; ++round) {
    device->fill(memory.begin(), round, 4);
    EXPECT_TRUE(second->wait(device->copy(*second, memory.begin() + 192, memory.begin(), 4)).ok());
    uint64_t copied = device->copy(*first, memory.begin() + 128, memory.begin(), 4);
    EXPECT_TRUE(second->await(*first, copied).ok());
    EXPECT_TRUE(device->compute().await(*second, second->record()).ok());
    device->copy(device->compute(), memory.begin() + 256, memory.begin() + 128, 4);
    ASSERT_EQ(at<uint32_t>(256), round);
  }
}

TEST_P(AnyDevice, WorkOfTheHostHasItsTurn) {
  std::unique_ptr<Queue> queue = device->makeQueue(2, {});
  static int made;
  made = 0;
  for (int i = 1; i <= 5; ++i)
    queue->enqueue(
        [i] { return made == i - 1 ? made = i, par::io::Status() : par::io::Status::error("early"); });
  EXPECT_TRUE(queue->wait(queue->record()).ok());
  EXPECT_EQ(made, 5);
  uint64_t bad = queue->enqueue([] { return par::io::Status::error("broken"); });
  EXPECT_EQ(queue->wait(bad).message(), "broken");
  queue->enqueue([] { return made = 6, par::io::Status(); });
  EXPECT_EQ(queue->wait(queue->record()).message(), "broken");
}

TEST_P(AnyDevice, AQueueCanBeMadeToFail) {
  std::unique_ptr<Queue> queue = device->makeQueue(2, {});
  queue->fail(par::io::Status::error("first"));
  EXPECT_EQ(queue->wait(queue->record()).message(), "first");
  queue->fail(par::io::Status::error("second"));
  device->fill(memory.begin(), 0, 128);
  EXPECT_EQ(queue->wait(device->copy(*queue, memory.begin() + 64, memory.begin(), 4)).message(), "first");
}

/// What a program does to its arena is what the host reads by address.
TEST_P(AnyDevice, ProgramsHaveAddressesOfTheirOwn) {
  Context context;
  context.device = device.get();
  context.arena = device->inProgram(memory.begin());
  device->fill(memory.begin(), 0x42424242, 4);
  device->launch(
      [](par_context *given) {
        Device &device = *static_cast<Context *>(given)->device;
        device.copy(device.compute(), device.fromProgram(given->arena + 32), device.fromProgram(given->arena),
                    4);
      },
      context);
  EXPECT_EQ(at<uint32_t>(32), 0x42424242u);
  EXPECT_EQ(device->fromProgram(context.arena + 32), memory.begin() + 32);
}

TEST_P(AnyDevice, MemoryOfTheHostIsReachedByBoth) {
  Memory host;
  ASSERT_TRUE(host.allocate(*device, Space::host, 256));
  auto *pointer = static_cast<uint32_t *>(device->reach(host.begin() + 64));
  ASSERT_NE(pointer, nullptr);
  *pointer = 5;
  device->copy(device->compute(), memory.begin(), host.begin() + 64, 4);
  EXPECT_EQ(at<uint32_t>(0), 5u);
  device->fill(memory.begin(), 6, 4);
  uint64_t event = device->copy(device->compute(), host.begin() + 64, memory.begin(), 4);
  EXPECT_TRUE(device->compute().wait(event).ok());
  EXPECT_EQ(*pointer, 6u);
}

inline std::string nameOf(const testing::TestParamInfo<DeviceMaker> &info) { return info.param.name; }

} // namespace par::test
#endif
