#include "comm/nccl/NcclTransport.h"

#include "comm/nccl/NcclCollectives.h"
#include "comm/nccl/NcclRoute.h"

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
  NcclGroup(Group &control) : Group(control.members(), control.member()), control(control) {}
  Group &control;
  std::shared_ptr<NcclCommunicator> communicator; ///< null: not connected, or one member
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
    : control(control), nccl(nccl), options(std::move(given)), watcher([this] { watch(); }) {}

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
    known = std::make_unique<NcclGroup>(*control.group(ranks, channel));
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

/// The first member makes the id.
io::Status NcclTransport::makeCommunicator(Group &group, std::shared_ptr<NcclCommunicator> &made) {
  ncclUniqueId id;
  std::memset(&id, 0, sizeof(id));
  io::Status status;
  if (group.member() == 0)
    status = nccl.status("ncclGetUniqueId", nccl.ncclGetUniqueId(&id));
  Collective broadcast;
  broadcast.kind = Kind::collective_broadcast, broadcast.type = comm::Type::i32;
  broadcast.counts = {int64_t(sizeof(id) / sizeof(int32_t))};
  void *buffers[2] = {&id, &id};
  PAR_TRY(control.run(group, broadcast, buffers)); // the others wait for it whatever became of the id
  PAR_TRY(status);
  std::unique_ptr<NcclCommunicator> fresh;
  PAR_TRY(NcclCommunicator::make(nccl, id, group.size(), group.member(), {options.timeout, &ended}, fresh));
  made = std::move(fresh);
  std::lock_guard<std::mutex> lock(mutex);
  communicators.push_back(made);
  return {};
}

io::Status NcclTransport::connect(Group &group, device::Device &device) {
  PAR_TRY(open(own(device)));
  if (group.size() == 1 || own(group).communicator)
    return {};
  return makeCommunicator(own(group).control, own(group).communicator);
}

/// Communicators go while the device is there. All members give theirs back in the order in which they were
/// made; after an error nobody waits for the others.
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
  for (std::shared_ptr<NcclCommunicator> &communicator : going)
    communicator.reset();
}

io::Status NcclTransport::prepare(Group &, const Collective &collective, device::Device &device) {
  mostRoom = std::max(mostRoom, roomOf(collective));
  return mostRoom ? device.accelerator()->reserve(0, mostRoom) : io::Status();
}

io::Status NcclTransport::enqueueOn(NcclGroup &group, const Collective &collective,
                                    const device::Address *buffers, cuda::CudaDevice &device,
                                    cuda::CudaQueue &queue) {
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
  PAR_TRY(makeCommunicator(*control.group({ends.from, ends.to}), communicator));
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
