// The conformance suite of messages between GPUs: a device sends what it has computed, and computes with what
// it has received, while no host waits for data.
#include "DeviceLaunches.h"

#include <deque>

using namespace par;
using namespace par::test;
using namespace par::comm;
using device::Address;

namespace {

using Sizes = std::vector<int64_t>;

/// Byte `i` of a buffer of a message: both ends know it.
char byteOf(int from, uint64_t number, size_t buffer, int64_t i) {
  return char(from * 37 + int64_t(number) * 11 + int64_t(buffer) * 5 + i + i / 251);
}

/// A message's buffers, and beside each what it is computed from, or what is computed from it.
class Parcel {
public:
  Parcel(cuda::CudaDevice &device, Sizes sizes) : bytes(std::move(sizes)), device(device) {
    for (int64_t size : bytes)
      for (auto *list : {&buffers, &beside}) {
        list->emplace_back();
        EXPECT_TRUE(list->back().allocate(device, device::Space::device, size_t(size) + 1));
        device.fill(list->back().begin(), 0x55555555, size_t(size) + 1);
        if (list == &buffers)
          addresses.push_back(list->back().begin());
      }
  }

  /// What it will be computed from, before anything is under way.
  void keep(int from, uint64_t number) {
    for (size_t b = 0; b < bytes.size(); ++b) {
      std::vector<char> content;
      content.resize(size_t(bytes[b]));
      for (int64_t i = 0; i < bytes[b]; ++i)
        content[size_t(i)] = byteOf(from, number, b, i);
      device.write(beside[b].begin(), content.data(), content.size());
    }
  }
  void compute() { copy(addressesOf(beside), addresses); }
  /// Computes with what was received, and uses its memory again at once.
  void take() {
    copy(addresses, addressesOf(beside));
    spoil();
  }
  void spoil() {
    for (size_t b = 0; b < bytes.size(); ++b)
      EXPECT_TRUE(device.clear(device.compute(), addresses[b], size_t(bytes[b])).ok());
  }
  /// When all is over.
  void expectFrom(int from, uint64_t number) {
    for (size_t b = 0; b < bytes.size(); ++b) {
      std::vector<char> content;
      content.resize(size_t(bytes[b]));
      device.read(content.data(), beside[b].begin(), content.size());
      for (int64_t i = 0; i < bytes[b]; ++i)
        ASSERT_EQ(content[size_t(i)], byteOf(from, number, b, i))
            << "message " << number << " of rank " << from << ", buffer " << b << ", byte " << i;
    }
  }
  void post(DeviceRoute &route, uint64_t &number) {
    io::Status status = route.post(addresses.data(), bytes.data(), bytes.size(), number);
    EXPECT_TRUE(status.ok()) << status.message();
  }

private:
  static std::vector<Address> addressesOf(const std::deque<device::Memory> &list) {
    std::vector<Address> all;
    for (const device::Memory &memory : list)
      all.push_back(memory.begin());
    return all;
  }
  void copy(const std::vector<Address> &from, const std::vector<Address> &to) {
    for (size_t b = 0; b < bytes.size(); ++b)
      if (bytes[b])
        device.copy(device.compute(), to[b], from[b], size_t(bytes[b]));
  }

  const Sizes bytes;
  cuda::CudaDevice &device;
  std::deque<device::Memory> buffers, beside;
  std::vector<Address> addresses;
};

class DeviceRoutes : public OnDevices {
protected:
  using Made = std::unique_ptr<DeviceRoute>;
  static Made make(Transport &transport, cuda::CudaDevice &device, int other, bool sends, size_t most = 4) {
    Made made;
    io::Status status = transport.makeRoute(other, sends, most, 3, device, made);
    EXPECT_TRUE(status.ok()) << status.message();
    return made;
  }
  /// Both ways between two ranks, in the order of their ends.
  static void makeBoth(Transport &transport, cuda::CudaDevice &device, int rank, size_t most, Made &out,
                       Made &in) {
    (rank == 0 ? out : in) = make(transport, device, 1 - rank, rank == 0, most);
    (rank == 0 ? in : out) = make(transport, device, 1 - rank, rank != 0, most);
  }
  static void finish(Transport &transport, cuda::CudaDevice &device, int size) {
    io::Status status = device.compute().wait(device.compute().record());
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<int> ranks;
    for (int i = 0; i < size; ++i)
      ranks.push_back(i);
    EXPECT_TRUE(transport.barrier(*transport.group(ranks)).ok()); // others read this rank's memory until here
  }
};

TEST_P(DeviceRoutes, AnySizesAndBuffersBothWays) {
  for (int seed = 1; seed <= 6; ++seed) {
    draw(seed);
    launch(2, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
      Made out, in;
      makeBoth(transport, device, rank, 4, out, in);
      std::deque<Parcel> sent, received;
      for (const Sizes &sizes : {Sizes{1}, {0}, {}, {3, 0, 5}, {4096, 1, 7000}, {8, 100000}, {7, 7, 7}}) {
        sent.emplace_back(device, sizes).keep(rank, sent.size());
        received.emplace_back(device, sizes);
      }
      uint64_t before = transport.handedOver();
      for (size_t i = 0; i < sent.size(); ++i) {
        uint64_t first = 0, second = 0;
        sent[i].compute();
        if ((i + size_t(rank)) % 2)
          sent[i].post(*out, first);
        received[i].post(*in, second);
        if ((i + size_t(rank)) % 2 == 0)
          sent[i].post(*out, first);
        EXPECT_TRUE(in->await(second).ok());
        received[i].take();
        EXPECT_TRUE(out->await(first).ok());
        sent[i].spoil();
      }
      finish(transport, device, 2);
      EXPECT_EQ(transport.handedOver() - before, uint64_t(1 + 8 + 4096 + 1 + 7000 + 8 + 100000 + 21));
      for (size_t i = 0; i < sent.size(); ++i)
        received[i].expectFrom(1 - rank, i + 1);
    });
    EXPECT_EQ(findings(), "");
  }
}

/// As many as may be, which either end waits for in an order of its own, again and again.
TEST_P(DeviceRoutes, SeveralAreUnderWay) {
  constexpr size_t most = 5;
  for (int seed = 1; seed <= 3; ++seed) {
    draw(seed);
    launch(2, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
      Made out, in;
      makeBoth(transport, device, rank, most, out, in);
      std::deque<Parcel> sent, received;
      for (size_t i = 0; i < most; ++i) {
        sent.emplace_back(device, Sizes{64, int64_t(100 * i)}).keep(rank, i + 1);
        received.emplace_back(device, Sizes{64, int64_t(100 * i)});
      }
      for (int round = 0; round < 4; ++round) {
        uint64_t first[most], second[most];
        for (size_t i = 0; i < most; ++i) {
          sent[i].compute();
          sent[i].post(*out, first[i]);
          received[i].post(*in, second[i]);
        }
        for (size_t k = 0; k < most; ++k) {
          size_t i = rank == 0 ? k : most - 1 - k;
          EXPECT_TRUE(out->await(first[i]).ok());
          sent[i].spoil();
          EXPECT_TRUE(in->await(second[i]).ok());
          received[i].take();
        }
      }
      finish(transport, device, 2);
      for (size_t i = 0; i < most; ++i)
        received[i].expectFrom(1 - rank, i + 1);
    });
    EXPECT_EQ(findings(), "");
  }
}

/// What a rank sends on is what it received.
TEST_P(DeviceRoutes, AMessageGoesAroundARing) {
  for (int size : {3, 4}) {
    draw(size);
    launch(size, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
      int next = (rank + 1) % size, previous = (rank + size - 1) % size;
      Made out, in;
      if (std::pair(previous, rank) < std::pair(rank, next))
        in = make(transport, device, previous, false);
      out = make(transport, device, next, true);
      if (!in)
        in = make(transport, device, previous, false);
      Parcel parcel(device, {5000}), back(device, {5000});
      uint64_t number = 0;
      for (int round = 0; round < 3; ++round) {
        if (rank == 0) {
          if (round == 0)
            parcel.keep(0, 1);
          parcel.compute();
          parcel.post(*out, number);
          EXPECT_TRUE(out->await(number).ok());
        }
        Parcel &taken = rank == 0 ? back : parcel;
        taken.post(*in, number);
        EXPECT_TRUE(in->await(number).ok());
        if (rank == 0) {
          back.take();
          continue;
        }
        parcel.post(*out, number);
        EXPECT_TRUE(out->await(number).ok());
        parcel.spoil();
      }
      finish(transport, device, size);
      if (rank == 0)
        back.expectFrom(0, 1);
    });
    EXPECT_EQ(findings(), "");
  }
}

PAR_INSTANTIATE_ON_DEVICES(DeviceRoutes);

/// What goes wrong between ranks of one process, of which the host knows both ends.
class LocalDeviceRoutes : public DeviceRoutes {};

TEST_P(LocalDeviceRoutes, OtherSizesAreTold) {
  launch(2, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
    Made route = make(transport, device, 1 - rank, rank == 0);
    Parcel parcel(device, {rank == 0 ? 64 : 60});
    uint64_t number = 0;
    parcel.post(*route, number);
    EXPECT_NE(route->await(number).message().find("rank 0 sends 64 bytes to rank 1, which expects 60"),
              std::string::npos);
    finish(transport, device, 2);
  });
}

TEST_P(LocalDeviceRoutes, AnEndedJobIsTold) {
  launch(2, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
    Made route = make(transport, device, 1 - rank, rank == 0);
    Parcel parcel(device, {64});
    uint64_t number = 0;
    if (rank == 1)
      return transport.abort();
    parcel.post(*route, number);
    EXPECT_EQ(route->await(number).message(), "the job was ended");
  });
}

/// Fences that both ends have done with are used again.
TEST_P(LocalDeviceRoutes, ManyMessagesNeedFewEvents) {
  launch(2, [&](Transport &transport, cuda::CudaDevice &device, int rank) {
    Made route = make(transport, device, 1 - rank, rank == 0, 1024);
    Parcel parcel(device, {64});
    parcel.keep(0, 1);
    parcel.compute();
    size_t before = 0;
    for (int i = 0; i < 100; ++i) {
      uint64_t number = 0;
      parcel.post(*route, number);
      EXPECT_TRUE(route->await(number).ok());
      if (i == 10)
        before = device.fenceCount();
    }
    EXPECT_LE(device.fenceCount(), before + 1);
    EXPECT_LE(device.fenceCount(), size_t(4));
    finish(transport, device, 2);
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, LocalDeviceRoutes, testing::Values(size_t(0)), nameOfLaunch);

} // namespace
