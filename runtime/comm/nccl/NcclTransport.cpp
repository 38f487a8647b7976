#include "comm/nccl/NcclTransport.h"

#include "comm/nccl/NcclCollectives.h"
#include "comm/nccl/NcclRoute.h"
#include "par/io/Threads.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <numeric>

namespace par::nccl {

using comm::Collective;
using comm::Group;
using comm::Kind;

/// What is sent over the control plane is a group of its own there.
class NcclGroup : public Group {
public:
  NcclGroup(Group &control, int channel)
      : Group(control.members(), control.member()), control(control), channel(channel) {}
  Group &control;
  const int channel;
  std::shared_ptr<NcclCommunicator> communicator; ///< null: not looked for yet, or one member
};

static NcclGroup &own(Group &group) { return static_cast<NcclGroup &>(group); }
static cuda::CudaDevice &own(device::Device &device) { return static_cast<cuda::CudaDevice &>(device); }
static cuda::CudaQueue &own(device::Queue &queue) { return static_cast<cuda::CudaQueue &>(queue); }

io::Status NcclTransport::make(Transport &control, Options options, std::unique_ptr<NcclTransport> &made) {
  const Nccl *nccl = nullptr;
  PAR_TRY(loadNccl(nccl));
  made.reset(new NcclTransport(control, *nccl, std::move(options)));
  return {};
}

NcclTransport::NcclTransport(Transport &control, const Nccl &nccl, Options given)
    : control(control), nccl(nccl), options(std::move(given)),
      watcher(io::startThread("the thread that watches NCCL", [this] { watch(); })) {}

NcclTransport::~NcclTransport() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    leaving = true;
  }
  changed.notify_all();
  watcher.join();
}

Group *NcclTransport::group(const std::vector<int> &ranks, int channel) {
  std::unique_ptr<NcclGroup> &known = groups[{channel, ranks}];
  if (!known)
    known = std::make_unique<NcclGroup>(*control.group(ranks, channel), channel);
  return known.get();
}

io::Status NcclTransport::open(cuda::CudaDevice &device) {
  if (recorder)
    return {};
  auto made = std::make_unique<FlightRecorder>();
  PAR_TRY(made->open(device));
  collectives = made->addLane("collective");
  std::lock_guard<std::mutex> lock(mutex);
  recorder = std::move(made);
  return {};
}

void NcclTransport::keep(const std::shared_ptr<NcclCommunicator> &communicator) {
  std::lock_guard<std::mutex> lock(mutex);
  communicators.push_back(communicator);
}

/// Rank 0 makes the id.
io::Status NcclTransport::makeWorld(Group &all) {
  ncclUniqueId id;
  std::memset(&id, 0, sizeof(id));
  io::Status status;
  if (all.member() == 0)
    status = nccl.status("ncclGetUniqueId", nccl.ncclGetUniqueId(&id));
  Collective broadcast;
  broadcast.kind = Kind::collective_broadcast, broadcast.type = comm::Type::i32;
  broadcast.counts = {int64_t(sizeof(id) / sizeof(int32_t))};
  void *buffers[2] = {&id, &id};
  PAR_TRY(control.run(all, broadcast, buffers)); // the others wait for it whatever became of the id
  PAR_TRY(status);
  std::unique_ptr<NcclCommunicator> made;
  PAR_TRY(NcclCommunicator::make(nccl, id, all.size(), all.member(), {options.timeout, &ended}, made));
  world = std::move(made);
  keep(world);
  return {};
}

/// The number of a group in its division is its color: all ranks know it, also those of no group.
io::Status NcclTransport::divide(const comm::Division &division) {
  int color = ncclSplitNoColor, key = 0;
  for (size_t number = 0; number < division.size(); ++number) {
    const std::vector<int> &ranks = division[number].second;
    auto self = std::find(ranks.begin(), ranks.end(), options.rank);
    if (self != ranks.end())
      color = int(number), key = int(self - ranks.begin());
  }
  std::unique_ptr<NcclCommunicator> made;
  PAR_TRY(world->split(color, key, made));
  if (!made)
    return {};
  std::shared_ptr<NcclCommunicator> &part = parts[division[size_t(color)]];
  part = std::move(made);
  keep(part);
  return {};
}

io::Status NcclTransport::connect(Group &all, const std::vector<comm::Division> &divisions,
                                  device::Device &device) {
  PAR_TRY(open(own(device)));
  if (divisions.empty() || world)
    return {};
  PAR_TRY(makeWorld(own(all).control));
  for (const comm::Division &division : divisions)
    PAR_TRY(divide(division));
  return {};
}

io::Status NcclTransport::find(const comm::GroupKey &key, std::shared_ptr<NcclCommunicator> &found) const {
  auto part = parts.find(key);
  if (part != parts.end()) {
    found = part->second;
    return {};
  }
  std::string ranks;
  for (int rank : key.second)
    ranks += " " + std::to_string(rank);
  return io::Status::error(
      (key.first == comm::messageChannel ? "messages between ranks" + ranks
                                         : "ranks" + ranks + " on channel " + std::to_string(key.first)) +
      " have no communicator of NCCL: call connect before, with a division that has them");
}

/// Once for a group: it keeps what is found.
io::Status NcclTransport::find(NcclGroup &group) const {
  if (group.size() == 1 || group.communicator)
    return {};
  return find({group.channel, group.members()}, group.communicator);
}

/// Communicators go while the device is there. All ranks give theirs back in the same order, the last that
/// was made first, and so parts before what they are parts of; after an error nobody waits for the others.
void NcclTransport::leave() {
  if (std::uncaught_exceptions())
    ended = true;
  std::vector<std::shared_ptr<NcclCommunicator>> going;
  std::unique_ptr<FlightRecorder> record;
  {
    std::lock_guard<std::mutex> lock(mutex);
    going.swap(communicators), record.swap(recorder);
  }
  for (auto &entry : groups)
    entry.second->communicator.reset();
  parts.clear();
  world.reset();
  while (!going.empty())
    going.pop_back();
}

io::Status NcclTransport::prepare(Group &group, const Collective &collective, device::Device &device) {
  PAR_TRY(find(own(group)));
  mostRoom = std::max(mostRoom, roomOf(collective));
  return mostRoom ? device.accelerator()->reserve(0, mostRoom) : io::Status();
}

io::Status NcclTransport::enqueueOn(NcclGroup &group, const Collective &collective,
                                    const device::Address *buffers, cuda::CudaDevice &device,
                                    cuda::CudaQueue &queue) {
  PAR_TRY(find(group));
  int64_t elements = std::accumulate(collective.counts.begin(), collective.counts.end(), int64_t(0));
  PAR_TRY(recorder->begin(collectives, queue,
                          {nameOf(collective.kind), elements * bytesOf(collective.type), action()}));
  PAR_TRY(enqueueCollective(
      {nccl, group.communicator.get(), collective, buffers, group.size(), group.member(), device, queue}));
  return recorder->end(collectives, queue);
}

uint64_t NcclTransport::enqueue(Group &group, const Collective &collective, const device::Address *buffers,
                                device::Device &device, device::Queue &queue, uint64_t *sent) {
  io::Status status = enqueueOn(own(group), collective, buffers, own(device), own(queue));
  if (!status.ok())
    queue.fail(status);
  uint64_t bytes = ringBytes(collective, group.size(), group.member());
  moved += bytes;
  if (sent)
    *sent += bytes;
  return queue.record();
}

io::Status NcclTransport::makeRoute(int other, bool sends, size_t, size_t, device::Device &device,
                                    std::unique_ptr<comm::DeviceRoute> &made) {
  PAR_TRY(open(own(device)));
  comm::RouteEnds ends{sends ? options.rank : other, sends ? other : options.rank};
  std::shared_ptr<NcclCommunicator> communicator;
  PAR_TRY(find({comm::messageChannel, {ends.from, ends.to}}, communicator));
  int lane = recorder->addLane(sends ? "message to rank " + std::to_string(other)
                                     : "message from rank " + std::to_string(other));
  made = std::make_unique<NcclRoute>(*this, std::move(communicator), sends, lane, own(device));
  return {};
}

io::Status NcclTransport::barrier(Group &group) { return control.barrier(own(group).control); }

io::Status NcclTransport::execute(Group &group, const Collective &collective, void *const *buffers) {
  return control.run(own(group).control, collective, buffers);
}

void NcclTransport::abort() {
  stop();
  control.abort();
}

void NcclTransport::stop() {
  ended = true;
  std::lock_guard<std::mutex> lock(mutex);
  for (const std::shared_ptr<NcclCommunicator> &communicator : communicators)
    communicator->abort();
}

std::string NcclTransport::flightRecord() const {
  std::lock_guard<std::mutex> lock(mutex);
  return recorder ? recorder->text(options.rank) : "";
}

/// Looks for what breaks on its own: the rank's thread may be waiting for its GPU.
void NcclTransport::watch() {
  constexpr auto period = std::chrono::milliseconds(100);
  std::unique_lock<std::mutex> lock(mutex);
  io::Status status;
  while (status.ok() && !changed.wait_for(lock, period, [&] { return leaving; }))
    for (const std::shared_ptr<NcclCommunicator> &communicator : communicators)
      if (status.ok())
        status = communicator->asyncError();
  lock.unlock();
  if (!status.ok() && !ended && options.failed)
    options.failed(status.message());
}

} // namespace par::nccl
