// The conformance suite of collectives on GPUs: the same bits as between ranks of the host, in any order of
// execution.
#include "DeviceLaunches.h"

using namespace par;
using namespace par::test;
using namespace par::comm;
using device::Address;

namespace {

/// The buffers of one rank, on the host and on its device.
struct RankBuffers {
  std::vector<std::vector<char>> host; ///< sources, then destinations that are not in place
  std::vector<void *> pointers;        ///< sources, then destinations
  std::vector<std::unique_ptr<device::Memory>> memory;
  std::vector<Address> addresses;
};

class DeviceCollectives : public OnDevices {
protected:
  static void make(RankBuffers &buffers, const Collective &what, int size, int rank, bool inPlace,
                   cuda::CudaDevice &device) {
    int64_t bytesEach = bytesOf(what.type);
    for (bool destination : {false, true})
      for (size_t t = 0; t < what.counts.size(); ++t) {
        int64_t in = what.counts[t], out = destinationCount(what.kind, in, size);
        if (destination && inPlace)
          continue;
        buffers.host.emplace_back(size_t((inPlace       ? std::max(in, out)
                                          : destination ? out
                                                        : in) *
                                             bytesEach +
                                         1));
        std::vector<char> &bytes = buffers.host.back();
        for (size_t i = 0; i < bytes.size(); ++i)
          bytes[i] = char(i * 37 + size_t(rank) * 11 + t * 5 + size_t(destination)) &
                     0x1F; // finite floats, and sums that fit
        buffers.memory.push_back(std::make_unique<device::Memory>());
        ASSERT_TRUE(buffers.memory.back()->allocate(device, device::Space::device, bytes.size()));
        device.write(buffers.memory.back()->begin(), bytes.data(), bytes.size());
      }
    for (size_t i = 0; i < 2 * what.counts.size(); ++i) {
      size_t buffer = inPlace ? i % what.counts.size() : i;
      buffers.pointers.push_back(buffers.host[buffer].data());
      buffers.addresses.push_back(buffers.memory[buffer]->begin());
    }
  }

  /// Whether a member gets a result.
  static bool receives(const Collective &what, int member) {
    bool toRoot = what.kind == Kind::reduce_to || what.kind == Kind::gather;
    return !toRoot || member == what.root;
  }

  void compare(const Collective &what, int size, bool inPlace, bool beside) {
    launch(size, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
      std::vector<int> ranks;
      for (int i = 0; i < size; ++i)
        ranks.push_back(i);
      Group &group = *transport.group(ranks);
      io::Status prepared = transport.prepare(group, what, device);
      ASSERT_TRUE(prepared.ok()) << prepared.message();
      RankBuffers buffers;
      make(buffers, what, size, rank, inPlace, device);
      std::unique_ptr<device::Queue> side = device.makeQueue(4, {});
      device::Queue &queue = beside ? *side : device.compute();
      uint64_t sent = 0, expected = 0;
      device::Memory spare;
      ASSERT_TRUE(spare.allocate(device, device::Space::device, size_t(600 * 8 * size)));
      // What comes back is what goes out next; but of a sum in place only the result means anything.
      int rounds = inPlace && what.kind == Kind::reduce_scatter ? 1 : 3;
      for (int times = 0; times < rounds; ++times) {
        for (size_t t = 0; t < what.counts.size();
             ++t) { // sources that are still computed: the same bytes again
          size_t bytes = size_t(what.counts[t] * bytesOf(what.type));
          device.copy(device.compute(), spare.begin(), buffers.addresses[t], bytes);
          device.copy(device.compute(), buffers.addresses[t], spare.begin(), bytes);
        }
        EXPECT_TRUE(queue.await(device.compute(), device.compute().record()).ok());
        uint64_t event = transport.enqueue(group, what, buffers.addresses.data(), device, queue, &sent);
        EXPECT_TRUE(device.compute().await(queue, event).ok());
        ASSERT_TRUE(transport.run(group, what, buffers.pointers.data(), &expected).ok());
      }
      EXPECT_EQ(sent, expected);
      for (size_t t = 0; t < what.counts.size() && receives(what, rank); ++t) {
        size_t buffer = what.counts.size() + t;
        std::vector<char> got(size_t(destinationCount(what.kind, what.counts[t], size) * bytesOf(what.type)));
        device.read(got.data(), buffers.addresses[buffer], got.size());
        auto *host = static_cast<const char *>(buffers.pointers[buffer]);
        EXPECT_EQ(got, std::vector<char>(host, host + got.size()))
            << nameOf(what.kind) << " of " << size << ", rank " << rank << ", tensor " << t;
      }
      EXPECT_TRUE(transport.barrier(group).ok()); // others read this rank's memory until here
    });
  }
};

Collective collective(Kind kind, Type type, int size) {
  Collective what;
  what.kind = kind, what.type = type;
  what.counts = {12 * size, 0, 300 * size};
  what.root = size - 1;
  for (int i = 0; kind == Kind::permute && i < size; ++i) // a chain: nobody sends to member 0
    what.permutation.push_back(i + 1 < size ? i + 1 : -1);
  return what;
}

TEST_P(DeviceCollectives, EveryKindEqualsTheHosts) {
  int seed = 0;
  for (Kind kind : {Kind::all_reduce, Kind::reduce_scatter, Kind::all_gather, Kind::all_to_all,
                    Kind::collective_broadcast, Kind::reduce_to, Kind::gather, Kind::scatter, Kind::permute})
    for (int size : {1, 2, 3})
      for (bool inPlace : {false, true}) {
        draw(++seed);
        compare(collective(kind, Type::f32, size), size, inPlace, seed % 2);
        EXPECT_EQ(findings(), "") << nameOf(kind) << " of " << size << (inPlace ? " in place" : "");
      }
}

TEST_P(DeviceCollectives, EveryTypeAndOperation) {
  for (Type type : {Type::f32, Type::i32, Type::i64, Type::bf16})
    for (Op op : {Op::sum, Op::max, Op::min}) {
      restart();
      Collective what = collective(Kind::all_reduce, type, 3);
      what.op = op;
      compare(what, 3, false, false);
    }
}

PAR_INSTANTIATE_ON_DEVICES(DeviceCollectives);

/// What goes wrong between ranks of one process: their hosts meet.
class LocalDeviceCollectives : public DeviceCollectives {};

/// All are told, and nobody waits for ever.
TEST_P(LocalDeviceCollectives, RanksInDifferentCollectivesAreTold) {
  launch(2, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
    Group &group = *transport.group({0, 1});
    Collective what = collective(rank == 0 ? Kind::all_reduce : Kind::all_gather, Type::f32, 2);
    ASSERT_TRUE(transport.prepare(group, what, device).ok());
    RankBuffers buffers;
    make(buffers, what, 2, rank, false, device);
    uint64_t event =
        transport.enqueue(group, what, buffers.addresses.data(), device, device.compute(), nullptr);
    EXPECT_NE(device.compute().wait(event).message().find(" of the same group"), std::string::npos);
    EXPECT_TRUE(transport.barrier(group).ok());
  });
}

TEST_P(LocalDeviceCollectives, AnEndedJobIsTold) {
  launch(2, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
    Group &group = *transport.group({0, 1});
    Collective what = collective(Kind::all_reduce, Type::f32, 2);
    ASSERT_TRUE(transport.prepare(group, what, device).ok());
    if (rank == 1)
      return transport.abort();
    RankBuffers buffers;
    make(buffers, what, 2, rank, false, device);
    uint64_t event =
        transport.enqueue(group, what, buffers.addresses.data(), device, device.compute(), nullptr);
    EXPECT_EQ(device.compute().wait(event).message(), "the job was ended");
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, LocalDeviceCollectives, testing::Values(size_t(0)), nameOfLaunch);

} // namespace
