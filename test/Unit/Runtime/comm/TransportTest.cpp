// The conformance suite of transports: every collective, type, operator and group size, in place and not,
// several tensors per call. Compiled into every program that launches ranks its own way (Launches.h).
#include "Launches.h"

#include "comm/Reduce.h"
#include "cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

using namespace par::comm;
using par::device::Address;
using par::device::Queue;

namespace {

using Param = std::tuple<int /*transport*/, int /*members*/, Kind>;
class Conformance : public testing::TestWithParam<Param> {
protected:
  const Launch &launch() const { return launches()[size_t(std::get<0>(GetParam()))].launch; }
  int members() const { return std::get<1>(GetParam()); }
  Kind kind() const { return std::get<2>(GetParam()); }
};

std::vector<int> everyone(int size) {
  std::vector<int> ranks(static_cast<size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// Element `i` of tensor `tensor` of member `member`: small integers, so that sums are exact in every type.
int64_t element(int member, size_t tensor, int64_t i) {
  return (member * 31 + int64_t(tensor) * 17 + i * 7 + i / 11) % 61 - 30;
}

int64_t combined(Op op, int64_t a, int64_t b) {
  return op == Op::sum ? a + b : op == Op::max ? std::max(a, b) : std::min(a, b);
}

/// What member `member` has to receive as element i of a tensor: straight from the definitions in
/// docs/Package.md. `defined` is false where the destination has no meaning.
int64_t expected(const Collective &c, int n, int member, size_t tensor, int64_t i, bool &defined) {
  int64_t count = c.counts[tensor], block = count / n;
  auto reduced = [&](int64_t at) {
    int64_t value = element(0, tensor, at);
    for (int m = 1; m < n; ++m)
      value = combined(c.op, value, element(m, tensor, at));
    return value;
  };
  defined = (c.kind != Kind::reduce_to && c.kind != Kind::gather) || member == c.root;
  switch (c.kind) {
  case Kind::all_reduce:
  case Kind::reduce_to:
    return reduced(i);
  case Kind::reduce_scatter:
    return reduced(member * block + i);
  case Kind::all_gather:
  case Kind::gather:
    return element(int(i / count), tensor, i % count);
  case Kind::all_to_all:
    return element(int(i / block), tensor, member * block + i % block);
  case Kind::collective_broadcast:
    return element(c.root, tensor, i);
  case Kind::scatter:
    return element(c.root, tensor, member * block + i);
  case Kind::permute:
    for (int m = 0; m < n; ++m)
      if (c.permutation[size_t(m)] == member)
        return element(m, tensor, i);
    return 0;
  }
  return 0;
}

/// A value of a bf16 tensor. The numbers of these tests are small enough to be exact.
struct Bf16 {
  Bf16() = default;
  explicit Bf16(int64_t value) : bits(roundToBf16(float(value))) {}
  explicit operator int64_t() const { return int64_t(widenBf16(bits)); }
  uint16_t bits;
};

/// One member's buffers: when in place, source and destination begin at the same address.
template <typename T>
struct Buffers {
  Buffers(const Collective &c, int n, int member, bool inPlace) {
    for (size_t t = 0; t < c.counts.size(); ++t) {
      int64_t in = c.counts[t], out = destinationCount(c.kind, in, n);
      sources.emplace_back(size_t(inPlace ? std::max(in, out) : in), T(99));
      for (int64_t i = 0; i < in; ++i)
        sources[t][size_t(i)] = T(element(member, t, i));
      destinations.emplace_back(size_t(inPlace ? 0 : out), T(-99));
    }
    for (std::vector<T> &source : sources)
      pointers.push_back(source.data());
    for (size_t t = 0; t < sources.size(); ++t)
      pointers.push_back(inPlace ? sources[t].data() : destinations[t].data());
  }
  const T *destination(size_t t) const { return static_cast<const T *>(pointers[sources.size() + t]); }
  std::vector<std::vector<T>> sources, destinations;
  std::vector<void *> pointers;
};

/// Checks what a member received.
template <typename T>
void expectReceived(const Collective &c, int n, int member, const Buffers<T> &buffers) {
  for (size_t t = 0; t < c.counts.size(); ++t)
    for (int64_t i = 0; i < destinationCount(c.kind, c.counts[t], n); ++i) {
      bool defined = true;
      int64_t want = expected(c, n, member, t, i, defined);
      if (defined)
        ASSERT_EQ(int64_t(buffers.destination(t)[i]), int64_t(T(want)))
            << nameOf(c.kind) << " member " << member << "/" << n << " tensor " << t << " element " << i
            << " root " << c.root;
    }
}

/// A device whose addresses are not mapped: what does not translate them crashes.
struct Unmapped : par::cpu::CpuDevice {
  Unmapped() : CpuDevice({1, false, uint64_t(0x5A5A) << 48}) {}
};

std::vector<Address> addressesOf(Unmapped &device, const std::vector<void *> &pointers) {
  std::vector<Address> addresses;
  for (void *pointer : pointers)
    addresses.push_back(device.fromProgram(pointer));
  return addresses;
}

/// On memory of the host and on that of a device.
par::io::Status runOn(Unmapped *device, Transport &transport, Group &group, const Collective &c,
                      const std::vector<void *> &pointers, uint64_t &sent) {
  if (!device)
    return transport.run(group, c, pointers.data(), &sent);
  std::vector<Address> addresses = addressesOf(*device, pointers);
  Queue &queue = device->compute();
  return queue.wait(transport.enqueue(group, c, addresses.data(), *device, queue, &sent));
}

template <typename T>
void runOne(Transport &transport, Group &group, const Collective &c, bool inPlace, Unmapped *device) {
  int n = group.size(), member = group.member();
  Buffers<T> buffers(c, n, member, inPlace);
  uint64_t sent = 0;
  par::io::Status status = runOn(device, transport, group, c, buffers.pointers, sent);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(sent, ringBytes(c, n, member));
  SCOPED_TRACE(inPlace ? "in place" : "elsewhere");
  expectReceived(c, n, member, buffers);
  if (!inPlace) // sources stay as they are
    for (size_t t = 0; t < c.counts.size(); ++t)
      ASSERT_EQ(int64_t(buffers.sources[t][0]), int64_t(T(element(member, t, 0))));
}

void runTyped(Transport &transport, Group &group, const Collective &c, bool inPlace, Unmapped *device) {
  if (c.type == Type::f32)
    runOne<float>(transport, group, c, inPlace, device);
  else if (c.type == Type::bf16)
    runOne<Bf16>(transport, group, c, inPlace, device);
  else if (c.type == Type::i32)
    runOne<int32_t>(transport, group, c, inPlace, device);
  else if (c.type == Type::i1)
    runOne<int8_t>(transport, group, c, inPlace, device);
  else
    runOne<int64_t>(transport, group, c, inPlace, device);
}

/// Permutations to try: a shift, a chain with ends, a reversal with a fixed member, nothing at all, random
/// ones.
std::vector<std::vector<int>> permutations(int n) {
  std::vector<int> shift, chain, reversal, none(size_t(n), -1);
  for (int i = 0; i < n; ++i) {
    shift.push_back((i + 1) % n);
    chain.push_back(i + 1 < n ? i + 1 : -1);
    reversal.push_back(n - 1 - i);
  }
  std::vector<std::vector<int>> all = {shift, chain, reversal, none};
  std::mt19937 random(3);
  for (int k = 0; k < 6; ++k) {
    std::vector<int> mixed = everyone(n);
    std::shuffle(mixed.begin(), mixed.end(), random);
    for (int &target : mixed)
      target = random() % 4 == 0 ? -1 : target;
    all.push_back(mixed);
  }
  return all;
}

bool isReduction(Kind kind) {
  return kind == Kind::all_reduce || kind == Kind::reduce_scatter || kind == Kind::reduce_to;
}

bool hasRoot(Kind kind) {
  return kind == Kind::collective_broadcast || kind == Kind::reduce_to || kind == Kind::gather ||
         kind == Kind::scatter;
}

/// Roots and permutations to try: all with sums of f32, some with other types and operations, which know
/// nothing of them.
std::vector<Collective> placements(Collective c, int n) {
  bool isFull = c.type == Type::f32 && c.op == Op::sum;
  std::vector<Collective> list;
  for (int root = 0; root < (hasRoot(c.kind) ? n : 1); root += isFull ? 1 : std::max(n - 1, 1)) {
    c.root = root;
    std::vector<std::vector<int>> moves = {{}};
    if (c.kind == Kind::permute)
      moves = permutations(n);
    for (size_t i = 0; i < moves.size(); i += isFull ? 1 : 3) {
      c.permutation = moves[i];
      EXPECT_EQ(problemOf(c, n), "");
      list.push_back(c);
    }
  }
  return list;
}

/// Every variant of a kind for n members.
std::vector<Collective> variants(Kind kind, int n) {
  std::vector<Collective> all;
  for (Type type : {Type::f32, Type::i32, Type::i64, Type::bf16, Type::i1})
    for (Op op : {Op::sum, Op::max, Op::min}) {
      if ((!isReduction(kind) && op != Op::sum) || (isReduction(kind) && type == Type::i1))
        continue;
      Collective c;
      c.kind = kind, c.op = op, c.type = type;
      c.counts = {int64_t(n) * 13, int64_t(n), int64_t(n) * 4500};
      for (const Collective &placed : placements(c, n))
        all.push_back(placed);
    }
  return all;
}

TEST_P(Conformance, ResultsAreExact) {
  std::vector<Collective> list = variants(kind(), members());
  launch()(members(), [&](Transport &transport, int) {
    Group *group = transport.group(everyone(members()));
    Unmapped device;
    for (const Collective &c : list)
      for (bool inPlace : {false, true})
        for (Unmapped *on : {static_cast<Unmapped *>(nullptr), &device})
          runTyped(transport, *group, c, inPlace, on);
  });
}

TEST_P(Conformance, StartedOnesEndBehindTheirWait) {
  // All variants of f32 under way at once, each with buffers of its own; waited for from both ends.
  std::vector<Collective> list;
  for (const Collective &c : variants(kind(), members()))
    if (c.type == Type::f32)
      list.push_back(c);
  launch()(members(), [&](Transport &transport, int) {
    Group *group = transport.group(everyone(members()));
    std::vector<Buffers<float>> buffers;
    for (size_t i = 0; i < list.size(); ++i)
      buffers.emplace_back(list[i], group->size(), group->member(), i % 2 == 1);
    uint64_t sent = 0, bytes = 0;
    Unmapped device;
    std::unique_ptr<Queue> queue = device.makeQueue(list.size(), {});
    transport.shareCores();
    std::vector<std::vector<Address>> addresses;
    std::vector<uint64_t> tickets;
    for (size_t i = 0; i < list.size(); ++i) {
      addresses.push_back(addressesOf(device, buffers[i].pointers));
      tickets.push_back(transport.enqueue(*group, list[i], addresses.back().data(), device, *queue, &sent));
      bytes += ringBytes(list[i], group->size(), group->member());
    }
    for (size_t k = 0; k < list.size(); ++k) {
      size_t i = k % 2 ? list.size() - 1 - k / 2 : k / 2;
      par::io::Status status = queue->wait(tickets[i]);
      ASSERT_TRUE(status.ok()) << status.message();
      expectReceived(list[i], group->size(), group->member(), buffers[i]);
    }
    EXPECT_EQ(sent, bytes);
  });
}

TEST_P(Conformance, GroupsInTheirOwnOrder) {
  // Two disjoint groups at a time, the members of one in reverse.
  int n = members();
  std::vector<Collective> list = variants(kind(), n);
  launch()(2 * n, [&](Transport &transport, int rank) {
    std::vector<int> low = everyone(n), high;
    for (int i = 0; i < n; ++i)
      high.push_back(2 * n - 1 - i);
    Group *group = transport.group(rank < n ? low : high);
    EXPECT_EQ(group->member(), rank < n ? rank : 2 * n - 1 - rank);
    for (const Collective &c : list)
      runTyped(transport, *group, c, false, nullptr);
  });
}

/// Messages that a member of a broadcast passes on: it is a binomial tree over places counted from the root.
int childrenOf(int place, int n) {
  int children = 0;
  for (int distance = 1; distance < n && (place & distance) == 0; distance *= 2)
    children += place + distance < n;
  return children;
}

/// What a member hands over for tensors of which every member has an equal part. It is what a ring sends, but
/// where all goes to or comes from one member (docs/Package.md, "Traffic").
uint64_t messageBytes(const Collective &c, int n, int member) {
  uint64_t source = 0;
  for (int64_t count : c.counts)
    source += uint64_t(count * bytesOf(c.type));
  switch (c.kind) {
  case Kind::reduce_to:
  case Kind::gather:
    return member == c.root ? 0 : source;
  case Kind::scatter:
    return member == c.root ? ringBytes(c, n, member) : 0;
  case Kind::collective_broadcast:
    return uint64_t(childrenOf((member + n - c.root) % n, n)) * source;
  default:
    return ringBytes(c, n, member);
  }
}

/// What a rank hands over while it runs a collective, without what neighbours compare before.
uint64_t countedBytes(const NamedLaunch &launch, Transport &transport, Group &group, const Collective &c,
                      bool inPlace) {
  const uint64_t fingerprint = launch.sendsMessages ? 16 : 0;
  uint64_t before = transport.handedOver();
  runTyped(transport, group, c, inPlace, nullptr);
  return transport.handedOver() - before - (group.size() > 1 ? fingerprint : 0);
}

/// What all members together move in shared memory beyond what they would send: results of a `reduce_to`, and
/// those of member 0 of a `reduce_scatter` in place, are made by all for one, who need not be given its own
/// share.
uint64_t extraInMemory(const Collective &c, int n, bool inPlace) {
  uint64_t extra = 0;
  for (int64_t count : c.counts) {
    int64_t made = c.kind == Kind::reduce_to ? count : count / n;
    if (c.kind == Kind::reduce_to || (c.kind == Kind::reduce_scatter && inPlace))
      extra += uint64_t((made - made / 16 / n * 16) * bytesOf(c.type));
  }
  return n > 1 ? extra : 0;
}

class Traffic : public Conformance {
protected:
  const NamedLaunch &named() const { return launches()[size_t(std::get<0>(GetParam()))]; }
  /// Parts of whole cache lines; some larger than what is exchanged at once. Of roots the first and the last.
  std::vector<Collective> list() const {
    std::vector<Collective> some;
    for (Collective c : variants(kind(), members()))
      if (c.type == Type::f32 && c.op == Op::sum && (c.root == 0 || c.root == members() - 1)) {
        c.counts = {int64_t(members()) * 80000, int64_t(members()) * 1024};
        some.push_back(c);
      }
    return some;
  }
};

TEST_P(Traffic, BytesHandedOverAreThoseOfARing) {
  int n = members();
  std::vector<Collective> all = list();
  std::vector<std::atomic<uint64_t>> moved(2 * all.size()); // by all members, elsewhere and in place
  launch()(n, [&](Transport &transport, int rank) {
    Group *group = transport.group(everyone(n));
    for (size_t i = 0; i < moved.size(); ++i) {
      const Collective &c = all[i / 2];
      uint64_t bytes = countedBytes(named(), transport, *group, c, i % 2);
      moved[i] += bytes;
      if (named().sendsMessages)
        EXPECT_EQ(bytes, messageBytes(c, n, rank))
            << nameOf(c.kind) << " member " << rank << "/" << n << " root " << c.root;
    }
  });
  if (named().sendsMessages)
    return;
  // Who moves what for whom does not matter where memory is shared; how much does.
  for (size_t i = 0; i < moved.size(); ++i) {
    uint64_t wanted = extraInMemory(all[i / 2], n, i % 2);
    for (int rank = 0; rank < n; ++rank)
      wanted += messageBytes(all[i / 2], n, rank);
    EXPECT_EQ(moved[i], wanted) << nameOf(kind()) << " in place " << i % 2 << " root " << all[i / 2].root;
  }
}

std::string nameOfParam(const testing::TestParamInfo<Param> &info) {
  return std::string(launches()[size_t(std::get<0>(info.param))].name) + "_" +
         std::to_string(std::get<1>(info.param)) + "_" + nameOf(std::get<2>(info.param));
}

auto allSizes() { return testing::Values(1, 2, 3, 4, 7); }
auto allKinds() {
  return testing::Values(Kind::all_reduce, Kind::reduce_scatter, Kind::all_gather, Kind::all_to_all,
                         Kind::collective_broadcast, Kind::reduce_to, Kind::gather, Kind::scatter,
                         Kind::permute);
}

INSTANTIATE_TEST_SUITE_P(Runtime, Conformance,
                         testing::Combine(testing::Range(0, int(launches().size())), allSizes(), allKinds()),
                         nameOfParam);
INSTANTIATE_TEST_SUITE_P(Runtime, Traffic,
                         testing::Combine(testing::Range(0, int(launches().size())), allSizes(), allKinds()),
                         nameOfParam);

TEST(SmallTensors, AreAllReducedInOneExchange) {
  // Up to 4 KiB latency is what they cost: everyone sends the whole tensor to everyone, n/2 times what a ring
  // sends.
  for (const NamedLaunch &named : launches())
    named.launch(4, [&](Transport &transport, int) {
      Group *group = transport.group(everyone(4));
      Collective c;
      c.counts = {1024};
      EXPECT_EQ(countedBytes(named, transport, *group, c, true),
                named.sendsMessages ? 3 * 4096u : ringBytes(c, 4, 0));
    });
}

class AnyTransport : public testing::TestWithParam<int> {
protected:
  const Launch &launch() const { return launches()[size_t(GetParam())].launch; }
};

TEST_P(AnyTransport, SumsInMemberOrder) {
  // 2^24 + 1 - 2^24 depends on the order in f32: ((2^24 + 1) + 1) - 2^24 = 0, other orders give 1 or 2.
  const float values[4] = {16777216.0f, 1.0f, 1.0f, -16777216.0f};
  float expectedSum = ((values[0] + values[1]) + values[2]) + values[3];
  launch()(4, [&](Transport &transport, int rank) {
    Collective c;
    c.counts = {100};
    std::vector<float> data(100, values[rank]);
    void *buffers[2] = {data.data(), data.data()};
    ASSERT_TRUE(transport.run(*transport.group(everyone(4)), c, buffers).ok());
    for (float x : data)
      EXPECT_EQ(x, expectedSum);
  });
}

TEST_P(AnyTransport, Bf16IsSummedInF32AndRoundedOnce) {
  // 256 + 1 + 1 + 1 = 259: bf16 has 8 bits, so rounding after every step would stay at 256. 259 lies between
  // 258 and 260.
  launch()(4, [&](Transport &transport, int rank) {
    Collective c;
    c.type = Type::bf16;
    c.counts = {3000}; // more than one exchange of small tensors
    std::vector<uint16_t> data(3000, roundToBf16(rank == 0 ? 256.0f : 1.0f));
    void *buffers[2] = {data.data(), data.data()};
    ASSERT_TRUE(transport.run(*transport.group(everyone(4)), c, buffers).ok());
    for (uint16_t x : data)
      EXPECT_EQ(widenBf16(x), 260.0f);
  });
}

TEST_P(AnyTransport, NanSurvivesMaxAndMin) {
  launch()(3, [&](Transport &transport, int rank) {
    Group *group = transport.group(everyone(3));
    for (Op op : {Op::max, Op::min, Op::sum})
      for (int bad = 0; bad < 3; ++bad) {
        Collective c;
        c.op = op;
        c.counts = {1};
        float x = rank == bad ? NAN : float(rank);
        void *buffers[2] = {&x, &x};
        ASSERT_TRUE(transport.run(*group, c, buffers).ok());
        EXPECT_TRUE(std::isnan(x));
      }
  });
}

TEST_P(AnyTransport, ThousandsOfBarriersAndOverlappingGroups) {
  launch()(4, [&](Transport &transport, int rank) {
    Group *all = transport.group(everyone(4));
    int row = rank / 2, column = rank % 2;
    Group *rows = transport.group({2 * row, 2 * row + 1}), *columns = transport.group({column, column + 2});
    Collective c;
    c.type = Type::i64;
    c.counts = {1};
    for (int i = 0; i < 2000; ++i) {
      int64_t value = rank;
      void *buffers[2] = {&value, &value};
      ASSERT_TRUE(transport.run(*rows, c, buffers).ok());
      ASSERT_TRUE(transport.run(*columns, c, buffers).ok());
      ASSERT_EQ(value, 6);
      ASSERT_TRUE(transport.barrier(*all).ok());
    }
  });
}

TEST_P(AnyTransport, ChannelsAreGroupsOfTheirOwn) {
  launch()(3, [&](Transport &transport, int rank) {
    Group *first = transport.group(everyone(3)), *second = transport.group(everyone(3), 5);
    EXPECT_NE(first, second);
    for (Group *group : {second, first, second}) {
      Collective c;
      c.type = Type::i64;
      c.counts = {1};
      int64_t value = rank;
      void *buffers[2] = {&value, &value};
      ASSERT_TRUE(transport.run(*group, c, buffers).ok());
      EXPECT_EQ(value, 3);
    }
  });
}

TEST_P(AnyTransport, AbortWakesWaitingMembers) {
  launch()(3, [&](Transport &transport, int rank) {
    Group *group = transport.group(everyone(3));
    if (rank == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      transport.abort();
      return;
    }
    EXPECT_FALSE(transport.barrier(*group).ok());
    EXPECT_FALSE(transport.barrier(*group).ok());
  });
}

TEST_P(AnyTransport, AbortEndsWhatWasStarted) {
  launch()(2, [&](Transport &transport, int rank) {
    Group *group = transport.group(everyone(2));
    Collective c;
    c.counts = {1};
    float x[2] = {1, 2};
    Unmapped device;
    std::vector<Address> first = addressesOf(device, {&x[0], &x[0]}),
                         second = addressesOf(device, {&x[1], &x[1]});
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      transport.abort();
      return;
    }
    std::unique_ptr<Queue> queue = device.makeQueue(2, {});
    uint64_t a = transport.enqueue(*group, c, first.data(), device, *queue),
             b = transport.enqueue(*group, c, second.data(), device, *queue);
    EXPECT_FALSE(queue->wait(b).ok());
    EXPECT_FALSE(queue->wait(a).ok());
  });
}

TEST_P(AnyTransport, MoreThanFitAreStartedWhenOthersHaveEnded) {
  launch()(2, [&](Transport &transport, int) {
    Group *group = transport.group(everyone(2));
    Collective c;
    c.type = Type::i64;
    c.counts = {1};
    int64_t values[20];
    Unmapped device;
    std::vector<Address> addresses[20];
    std::unique_ptr<Queue> queue = device.makeQueue(3, {});
    uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
      values[i] = i;
      addresses[i] = addressesOf(device, {&values[i], &values[i]});
      last = transport.enqueue(*group, c, addresses[i].data(), device, *queue);
    }
    ASSERT_TRUE(queue->wait(last).ok());
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(values[i], 2 * i);
  });
}

TEST_P(AnyTransport, DisagreementIsAnError) {
  launch()(2, [&](Transport &transport, int rank) {
    Collective c;
    c.counts = {rank == 0 ? 4 : 8};
    std::vector<float> data(8);
    void *buffers[2] = {data.data(), data.data()};
    par::io::Status status = transport.run(*transport.group(everyone(2)), c, buffers);
    EXPECT_NE(status.message().find("another all_reduce"), std::string::npos) << status.message();
  });
}

INSTANTIATE_TEST_SUITE_P(Runtime, AnyTransport, testing::Range(0, int(launches().size())),
                         [](const auto &info) { return launches()[size_t(info.param)].name; });

TEST(Reduce, Bf16RoundsToNearestEven) {
  for (float exact : {0.0f, -0.0f, 1.0f, -3.140625f, INFINITY})
    EXPECT_EQ(widenBf16(roundToBf16(exact)), exact);
  EXPECT_EQ(widenBf16(roundToBf16(257.0f)), 256.0f); // a tie goes to the even one
  EXPECT_EQ(widenBf16(roundToBf16(259.0f)), 260.0f);
  EXPECT_EQ(widenBf16(roundToBf16(3.4e38f)), INFINITY);
  EXPECT_TRUE(std::isnan(widenBf16(roundToBf16(NAN))));
}

TEST(Collective, RingBytes) {
  Collective c;
  c.counts = {600, 400}; // 4000 bytes
  EXPECT_EQ(ringBytes(c, 4, 0), 6000u);
  EXPECT_EQ(ringBytes(c, 3, 0), 5333u);
  EXPECT_EQ(ringBytes(c, 1, 0), 0u);
  c.kind = Kind::reduce_scatter;
  EXPECT_EQ(ringBytes(c, 4, 0), 3000u);
  c.kind = Kind::all_gather; // the whole tensor has 16000
  EXPECT_EQ(ringBytes(c, 4, 0), 12000u);
  c.kind = Kind::permute, c.permutation = {1, -1, 2, 0};
  EXPECT_EQ(ringBytes(c, 4, 0), 4000u);
  EXPECT_EQ(ringBytes(c, 4, 1), 0u);
  EXPECT_EQ(ringBytes(c, 4, 2), 0u);
}

TEST(Collective, ProblemsAreNamed) {
  Collective c;
  c.counts = {7};
  c.kind = Kind::reduce_scatter;
  EXPECT_NE(problemOf(c, 2).find("not divisible"), std::string::npos);
  c.kind = Kind::permute, c.permutation = {1, 1};
  EXPECT_NE(problemOf(c, 2).find("twice"), std::string::npos);
  c.permutation = {1, 2};
  EXPECT_NE(problemOf(c, 2).find("names member 2"), std::string::npos);
  c.kind = Kind::gather, c.root = 2;
  EXPECT_NE(problemOf(c, 2).find("root 2"), std::string::npos);
}

} // namespace
