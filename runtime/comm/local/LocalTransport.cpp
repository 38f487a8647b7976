#include "comm/local/LocalTransport.h"

#include "comm/local/LocalCollectives.h"
#include "comm/local/LocalDeviceRoutes.h"
#include "comm/local/LocalDevices.h"
#include "comm/local/LocalRoutes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

namespace par::comm {

namespace {
/// What the members of one group share. Every member posts what it is about to run, then all meet.
struct SharedGroup {
  explicit SharedGroup(int members)
      : barrier(members), posts(members), onDevice{std::vector<DevicePost>(size_t(members)),
                                                   std::vector<DevicePost>(size_t(members))} {}
  struct Post {
    const Collective *collective = nullptr;
    void *const *buffers = nullptr;
  };
  FutexBarrier barrier;
  std::vector<Post> posts;
  /// Of collectives on a device, in turn: some members still read the last ones when others post the next.
  std::array<std::vector<DevicePost>, 2> onDevice;
};

class LocalGroup : public Group {
public:
  LocalGroup(std::vector<int> ranks, int member, SharedGroup &shared)
      : Group(std::move(ranks), member), shared(shared), buffers(size()) {}
  SharedGroup &shared;
  // Kept here to allocate nothing in a step.
  std::vector<void *const *> buffers; ///< of all members, copied from the posts
  /// On a device, in turn: a fence is recorded anew only when all have waited for what it was before.
  std::array<DeviceFences, 2> fences;
  size_t turn = 0;
};
} // namespace

struct LocalWorld::State {
  State(int size, EmulatedLink link) : size(size), link(link) {}
  const int size;
  const EmulatedLink link;
  std::mutex mutex;
  std::atomic<bool> aborted{false};
  std::map<std::pair<int, std::vector<int>>, std::unique_ptr<SharedGroup>> groups; ///< by channel and ranks
  /// By sender and receiver.
  std::map<std::pair<int, int>, std::unique_ptr<Mailbox>> mailboxes;
  std::map<std::pair<int, int>, std::unique_ptr<DeviceMailbox>> deviceMailboxes;
};

LocalWorld::LocalWorld(int size, EmulatedLink link) : state(new State(size, link)) {}
LocalWorld::~LocalWorld() = default;
int LocalWorld::size() const { return state->size; }

void LocalWorld::abort() {
  std::lock_guard<std::mutex> lock(state->mutex);
  state->aborted = true;
  for (auto &entry : state->groups)
    entry.second->barrier.abort();
  for (auto &entry : state->mailboxes)
    entry.second->abort();
  for (auto &entry : state->deviceMailboxes)
    entry.second->abort();
}

static io::Status abortedStatus() { return io::Status::error("the job was ended"); }

class LocalTransport : public Transport {
public:
  LocalTransport(LocalWorld &world, int rank) : world(world), rank(rank) {}

  Group *group(const std::vector<int> &ranks, int channel) override {
    std::lock_guard<std::mutex> lock(world.state->mutex);
    std::unique_ptr<SharedGroup> &shared = world.state->groups[{channel, ranks}];
    if (!shared)
      shared = std::make_unique<SharedGroup>(int(ranks.size()));
    if (world.state->aborted)
      shared->barrier.abort();
    int member = int(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    own.push_back(std::make_unique<LocalGroup>(ranks, member, *shared));
    return own.back().get();
  }

  Route *route(int other, bool sends, size_t most, size_t buffers) override {
    Mailbox &mailbox = mailboxOf(world.state->mailboxes, other, sends);
    Mailbox::End end = sends ? Mailbox::sender : Mailbox::receiver;
    mailbox.open(end, most, buffers);
    routes.push_back(std::make_unique<LocalRoute>(mailbox, end));
    return routes.back().get();
  }

  io::Status makeRoute(int other, bool sends, size_t most, size_t buffers, device::Device &device,
                       std::unique_ptr<DeviceRoute> &made) override {
    if (!device.accelerator())
      return Transport::makeRoute(other, sends, most, buffers, device, made);
    DeviceMailbox &mailbox = mailboxOf(world.state->deviceMailboxes, other, sends);
    made = std::make_unique<LocalDeviceRoute>(mailbox, sends ? Mailbox::sender : Mailbox::receiver, most,
                                              buffers, device);
    return {};
  }

  io::Status prepare(Group &base, const Collective &collective, device::Device &device) override {
    device::Accelerator *accelerator = device.accelerator();
    if (!accelerator)
      return Transport::prepare(base, collective, device);
    auto &group = static_cast<LocalGroup &>(base);
    for (DeviceFences &fences : group.fences)
      if (!fences.ready)
        fences = {&accelerator->makeFence(), &accelerator->makeFence(), &accelerator->makeFence()};
    int64_t elements = 0, bytes = 0;
    roomOf(collective, group.size(), elements, bytes);
    mostElements = std::max(mostElements, elements), mostBytes = std::max(mostBytes, bytes);
    return accelerator->reserve(mostElements, mostBytes);
  }

  uint64_t enqueue(Group &base, const Collective &collective, const device::Address *buffers,
                   device::Device &device, device::Queue &queue, uint64_t *sent) override {
    if (!device.accelerator())
      return Transport::enqueue(base, collective, buffers, device, queue, sent);
    auto &group = static_cast<LocalGroup &>(base);
    io::Status status = meetOnDevice(group, collective, buffers, device, queue);
    if (!status.ok())
      queue.fail(status);
    if (sent)
      *sent += ringBytes(collective, group.size(), group.member());
    return queue.record();
  }

  io::Status barrier(Group &group) override {
    return static_cast<LocalGroup &>(group).shared.barrier.wait() ? io::Status() : abortedStatus();
  }

  uint64_t handedOver() const override {
    uint64_t bytes = moved;
    for (const Mailbox *mailbox : sending)
      bytes += mailbox->copied();
    return bytes;
  }
  void abort() override { world.abort(); }

protected:
  io::Status execute(Group &base, const Collective &collective, void *const *buffers) override {
    LocalGroup &group = static_cast<LocalGroup &>(base);
    SharedGroup &shared = group.shared;
    const EmulatedLink &link = world.state->link;
    shared.posts[group.member()] = {&collective, buffers};
    if (!shared.barrier.wait())
      return abortedStatus();
    Clock::time_point met = link.isEmulated() ? Clock::now() : Clock::time_point();
    if (io::Status status = readPosts(group, collective); !status.ok()) {
      // Everyone sees a difference to someone, and a post must live until all have read it.
      (void)shared.barrier.wait();
      return status;
    }
    size_t tensors = collective.counts.size();
    bool anySecond = false;
    for (size_t tensor = 0; tensor < tensors; ++tensor) {
      LocalExchange exchange = exchangeOf(group, collective, tensor);
      bool second = needsSecond(exchange);
      anySecond |= second;
      moveFirst(exchange, second);
    }
    if (!shared.barrier.wait())
      return abortedStatus();
    for (size_t tensor = 0; tensor < tensors && anySecond; ++tensor) {
      LocalExchange exchange = exchangeOf(group, collective, tensor);
      if (needsSecond(exchange))
        moveSecond(exchange);
    }
    if (anySecond && !shared.barrier.wait())
      return abortedStatus();
    if (link.isEmulated() && group.size() > 1)
      sleepUntil(met + duration(link.latency + double(ringBytes(collective, group.size(), group.member())) /
                                                   link.bytesPerSecond));
    return {};
  }

private:
  using Clock = std::chrono::steady_clock;

  /// That of the way to another rank or from it, which both ends share.
  template <typename Box>
  Box &mailboxOf(std::map<std::pair<int, int>, std::unique_ptr<Box>> &all, int other, bool sends) {
    std::lock_guard<std::mutex> lock(world.state->mutex);
    int from = sends ? rank : other, to = sends ? other : rank;
    std::unique_ptr<Box> &mailbox = all[{from, to}];
    if (!mailbox)
      mailbox = std::make_unique<Box>(RouteEnds{from, to}, world.state->link);
    if (world.state->aborted)
      mailbox->abort();
    if (sends)
      sending.push_back(mailbox.get());
    return *mailbox;
  }

  static Clock::duration duration(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  /// In pieces, so that `abort` ends it soon.
  void sleepUntil(Clock::time_point end) {
    while (Clock::now() < end && !world.state->aborted)
      std::this_thread::sleep_until(std::min(end, Clock::now() + std::chrono::milliseconds(50)));
  }

  /// The host meets so that events are recorded before others wait for them; it waits for nothing that is
  /// computed.
  io::Status meetOnDevice(LocalGroup &group, const Collective &collective, const device::Address *buffers,
                          device::Device &device, device::Queue &queue) {
    SharedGroup &shared = group.shared;
    size_t turn = group.turn++ % 2;
    const DeviceFences &own = group.fences[turn];
    std::vector<DevicePost> &posts = shared.onDevice[turn];
    posts[size_t(group.member())] = {&collective, buffers, own};
    PAR_TRY(own.ready->record(queue));
    PAR_TRY(meet(group));
    io::Status same =
        samePosts(group, collective, [&](int member) { return posts[size_t(member)].collective; });
    DeviceExchange exchange{collective, posts.data(), group.size(), group.member(), device, queue};
    bool staged = same.ok() && isStaged(exchange);
    PAR_TRY(awaitOthers(group, posts, queue, &DeviceFences::ready));
    if (same.ok())
      same = moveOnDevice(exchange);
    if (staged) {
      PAR_TRY(own.read->record(queue));
      PAR_TRY(meet(group));
      PAR_TRY(awaitOthers(group, posts, queue, &DeviceFences::read));
      PAR_TRY(unstage(exchange));
    }
    PAR_TRY(own.done->record(queue));
    PAR_TRY(meet(group)); // posts live until all have read them
    PAR_TRY(awaitOthers(group, posts, queue, &DeviceFences::done));
    return same;
  }

  static io::Status meet(LocalGroup &group) {
    return group.shared.barrier.wait() ? io::Status() : abortedStatus();
  }

  static io::Status awaitOthers(LocalGroup &group, const std::vector<DevicePost> &posts, device::Queue &queue,
                                device::Fence *DeviceFences::*which) {
    for (int member = 0; member < group.size(); ++member)
      if (member != group.member())
        PAR_TRY((posts[size_t(member)].fences.*which)->await(queue));
    return {};
  }

  LocalExchange exchangeOf(LocalGroup &group, const Collective &collective, size_t tensor) {
    return {collective, group.size(), group.member(), group.buffers.data(), tensor, &moved};
  }

  /// Members that are in different collectives would read past each other's buffers.
  template <typename PostOf>
  io::Status samePosts(LocalGroup &group, const Collective &collective, PostOf postOf) {
    for (int i = 0; i < group.size(); ++i)
      if (const Collective &other = *postOf(i); !sameCollective(collective, other))
        return io::Status::error("rank " + std::to_string(rank) + " is in " + nameOf(collective.kind) +
                                 " while rank " + std::to_string(group.members()[i]) + " is in another " +
                                 nameOf(other.kind) + " of the same group");
    return {};
  }

  io::Status readPosts(LocalGroup &group, const Collective &collective) {
    PAR_TRY(samePosts(group, collective, [&](int i) { return group.shared.posts[i].collective; }));
    for (int i = 0; i < group.size(); ++i)
      group.buffers[i] = group.shared.posts[i].buffers;
    return {};
  }

  LocalWorld &world;
  int rank;
  uint64_t moved = 0;
  int64_t mostElements = 0, mostBytes = 0; ///< of collectives on this rank's device
  std::vector<std::unique_ptr<LocalGroup>> own;
  std::vector<std::unique_ptr<LocalRoute>> routes;
  std::vector<const Mailbox *> sending;
};

std::unique_ptr<Transport> LocalWorld::connect(int rank) {
  return std::make_unique<LocalTransport>(*this, rank);
}

} // namespace par::comm
