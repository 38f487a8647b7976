#include "core/RankProgram.h"

#include "core/AttentionChoice.h"
#include "core/Devices.h"
#include "core/Divisions.h"
#include "core/Error.h"
#include "core/Paint.h"
#include "core/ProductWays.h"
#include "core/Topology.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <set>
#include <unistd.h>

namespace par::rt {

/// Of the environment; empty where it is not set.
static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

RankProgram::RankProgram(const Manifest &manifest, ProgressBoard &board, Failure &failure, const Fault &fault,
                         comm::Transport &transport, int number)
    : manifest(manifest), program(manifest.programOf(number)), board(board), failure(failure), fault(fault),
      transport(transport), number(number), delays(variable("PAR_TEST_DELAY"), number), place(board[number]),
      coordinates(coordinatesOf(manifest.axes, number)),
      communicationDelays(variable("PAR_TEST_DELAY"), manifest.worldSize + number),
      transferDelays(variable("PAR_TEST_DELAY"), 2 * manifest.worldSize + number) {
  context.program = this;
  context.beats = &place.beats;
}

RankProgram::~RankProgram() {
  messages.reset();
  transport.leave();
}

void RankProgram::prepare(const std::vector<std::string> &schedules, const Place &where) {
  int64_t bytes = 0;
  for (const std::string &name : schedules)
    bytes = std::max(bytes, program.arenaFor(name));
  place.prepare(Preparation::program);
  device = makeDevice(manifest, number, where);
  accelerator = device->accelerator();
  context.device = device.get();
  bool isRecordable = manifest.worldSize == 1 || transport.isRecordable();
  if (accelerator) // faults that are asked for are the host's
    accelerator->setRecords(isRecordable && fault.kind == Fault::Kind::none);
  installCrashHandler(&place, number, program);
  place.prepare(Preparation::memory);
  allocateArenas(bytes);
  writeConstants();
}

void RankProgram::allocate(device::Memory &where, device::Space space, int64_t wanted, const char *what) {
  size_t bytes = std::max<size_t>(size_t((wanted + 63) / 64 * 64), 64);
  if (!where.allocate(*device, space, bytes))
    throw Error(manifest.path + ": rank " + std::to_string(number) + " needs " + what + " of " +
                std::to_string(bytes) + " bytes" +
                (accelerator && space == device::Space::device
                     ? " on " + accelerator->describeMemory()
                     : ", which this machine cannot give; compile for more ranks or a smaller batch"));
  arenas().fill(where.begin(), device::paintWord, int64_t(bytes));
}

void RankProgram::allocateArenas(int64_t wanted) {
  arenaBytes = wanted;
  allocate(memory, device::Space::device, wanted, "an arena");
  context.arena = device->inProgram(memory.begin());
  if (program.hostArenaBytes) {
    allocate(hostMemory, device::Space::host, program.hostArenaBytes, "an arena in host memory");
    context.host_arena = device->inProgram(hostMemory.begin());
  }
  context.coords = coordinates.data();
}

void RankProgram::writeConstants() {
  for (const Constant &constant : program.constants) {
    device::Address where = memory.begin() + constant.offset;
    auto write = [&](auto type) {
      std::vector<decltype(type)> values;
      for (int64_t i = 0; i < constant.count; ++i)
        values.push_back(decltype(type)(constant.value + double(i) * double(constant.step)));
      device->write(where, values.data(), sizeof(type) * values.size());
    };
    constant.type == ElementType::f32 ? write(float()) : write(int32_t());
    if (accelerator && constant.type == ElementType::f32 && constant.count == 1)
      accelerator->keepConstant(where, float(constant.value));
  }
}

/// The largest of each value over all ranks.
void RankProgram::agreeOnMost(std::vector<int64_t> &values) {
  comm::Collective agreement;
  agreement.op = comm::Op::max, agreement.type = comm::Type::i64;
  agreement.counts = {int64_t(values.size())};
  void *buffers[2] = {values.data(), values.data()};
  WaitForAll wait(place);
  check(transport.run(*all, agreement, buffers));
}

/// In the arena, which is as at the beginning afterwards.
void RankProgram::tuneProducts(double seconds, std::string &note) {
  place.prepare(Preparation::products);
  ProductWays ways(manifest, number);
  if (!accelerator || ways.size() == 0)
    return;
  if (seconds > 0 && !ways.areAlike(gather(ways.hashMachine(*accelerator))))
    seconds = 0;
  std::vector<int64_t> told;
  finish(ways.tell(*accelerator, {memory.begin(), arenaBytes, seconds, [this] { place.beat(); }}, told));
  if (ways.hasMeasured()) {
    arenas().fill(memory.begin(), device::paintWord, arenaBytes);
    writeConstants();
  }
  agreeOnMost(told);
  ways.take(*accelerator, told);
  note = ways.note();
}

/// What every rank tells, on all ranks.
std::vector<int64_t> RankProgram::gather(int64_t own) {
  comm::Collective collective;
  collective.kind = comm::Kind::all_gather, collective.type = comm::Type::i64, collective.counts = {1};
  std::vector<int64_t> told(size_t(manifest.worldSize));
  void *buffers[2] = {&own, told.data()};
  WaitForAll wait(place);
  check(transport.run(*all, collective, buffers));
  return told;
}

void RankProgram::chooseAttention(AttentionChoice wanted, std::string &note) {
  place.prepare(Preparation::attention);
  AttentionVote vote(manifest, accelerator, wanted);
  if (vote.isOpen()) {
    std::vector<int64_t> answer = {vote.ask()};
    agreeOnMost(answer);
    vote.take(answer[0]);
  }
  note = vote.note();
}

static std::string trafficKey(const Manifest &manifest, const ManifestCollective &collective) {
  return comm::nameOf(collective.what.kind) + (":" + nameOf(manifest, collective.members));
}

/// Programs that start nothing run their collectives in the order of what is computed. Others run all of them
/// in one queue, so that they keep their order, and transfers in another: a copy would else wait behind a
/// reduction that waits for another rank.
void RankProgram::createGroups() {
  place.prepare(Preparation::groups);
  WaitForAll wait(place); // communicators come together when all are here
  std::vector<int> ranks(size_t(manifest.worldSize));
  std::iota(ranks.begin(), ranks.end(), 0);
  all = transport.group(ranks);
  if (io::Status status = transport.connect(*all, divisionsOf(manifest), *device); !status.ok())
    throw Error(manifest.path + ": groups of rank " + std::to_string(number) + ": " + status.message());
  std::map<GroupKey, comm::Group *> known;
  for (const GroupKey &key : groupKeysOf(manifest, number))
    known[key] = transport.group(key.second, key.first);
  messages = std::make_unique<Messages>(manifest, number, transport, *device);
  bool started = false;
  for (const ManifestCollective &collective : program.collectives) {
    comm::Group *group = known[groupKeyOf(manifest, number, collective.members)];
    size_t tensors = collective.what.counts.size();
    collectives.push_back(
        {group, trafficKey(manifest, collective), 0, 0, std::vector<device::Address>(2 * tensors)});
    if (io::Status status = transport.prepare(*group, collective.what, *device); !status.ok())
      throw Error(manifest.path + ": collective of rank " + std::to_string(number) + ": " + status.message());
    started |= collective.started;
  }
  if (started) {
    communication = makeQueue(collectives.size(), communicationDelays);
    transport.shareCores();
  }
  for (Collective &one : collectives)
    sent.push_back(&one.sent);
  messages->addCounters(sent);
  constexpr size_t most = 256; // a layer's state is a few dozen tensors
  if (program.transfers)
    transfers = makeQueue(most, transferDelays);
}

std::unique_ptr<device::Queue> RankProgram::makeQueue(size_t most, Delays &late) {
  device::QueueHooks hooks;
  hooks.begin = [this] { installCrashHandler(&place, number, program); };
  hooks.before = [&late] { late.wait(); };
  return device->makeQueue(most, std::move(hooks));
}

/// A step that was recorded is done without the program's code: it sends what it sent then.
void RankProgram::launch(Schedule schedule) {
  std::vector<uint64_t> &counts = sentBySchedule[schedule];
  int64_t actions = place.actions;
  counts.resize(sent.size());
  std::vector<uint64_t> before(sent.size());
  for (size_t i = 0; i < sent.size(); ++i)
    before[i] = *sent[i];
  if (marks)
    marks->begin();
  device->launch(schedule, context);
  if (marks)
    finish(marks->close(device->compute()));
  bool isReplayed = place.actions == actions;
  for (size_t i = 0; i < sent.size(); ++i)
    if (isReplayed)
      *sent[i] += counts[i];
    else
      counts[i] = *sent[i] - before[i];
}

void RankProgram::run(Schedule schedule) {
  if (!schedule)
    return;
  if (accelerator)
    launch(schedule);
  else
    device->launch(schedule, context);
  if (accelerator)
    finish(accelerator->finish([this](int32_t action) {
      place.action.store(action, std::memory_order_relaxed);
      place.beat();
    }));
  if (marks)
    finish(marks->tellAll());
  place.action = -1;
  place.beat();
}

void RankProgram::enterAction(int32_t action) {
  if (action < 0 || size_t(action) >= program.actions.size())
    failure.end(number, program.file + ": entered action " + std::to_string(action) + " of " +
                            std::to_string(program.actions.size()) + "; compile the package again");
  place.action.store(action, std::memory_order_relaxed);
  place.actions.store(place.actions.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  place.beat();
  if (accelerator)
    accelerator->mark(action);
  note({StepMark::Kind::action, action});
  delays.wait();
  note({StepMark::Kind::rest});
  if (!fault.hits(number, place.step, action))
    return;
  if (fault.kind == Fault::Kind::fail)
    failure.end(number, "rank " + std::to_string(number) + " failed " + board.whereabouts(number) +
                            ": asked for by PAR_TEST_FAULT; the run was ended");
  if (fault.kind == Fault::Kind::kill)
    raise(SIGKILL); // as a machine's system does, or whoever ends processes
  while (true)
    pause(); // a stall
}

RankProgram::Collective &RankProgram::checked(int32_t index) {
  if (index < 0 || size_t(index) >= collectives.size())
    failure.end(number, program.file + ": ran collective " + std::to_string(index) + " of " +
                            std::to_string(collectives.size()) + "; compile the package again");
  return collectives[size_t(index)];
}

void RankProgram::runCollective(int32_t index, void *const *buffers) {
  checked(index);
  place.beat();
  delays.wait();
  place.collective.store(index, std::memory_order_relaxed);
  takeBuffers(index, buffers);
  beginCollective(index);
  endCollective(index);
}

void RankProgram::runSum(int32_t index, void *const *buffers) {
  note({StepMark::Kind::sum});
  runCollective(index, buffers);
}

void RankProgram::takeBuffers(int32_t index, void *const *buffers) {
  Collective &one = collectives[size_t(index)];
  for (size_t i = 0; i < one.buffers.size(); ++i)
    one.buffers[i] = device->fromProgram(buffers[i]);
}

/// Behind what was computed so far.
void RankProgram::beginCollective(int32_t index) {
  Collective &one = collectives[size_t(index)];
  device::Queue &queue = queueOfCollectives();
  finish(queue.await(device->compute(), device->compute().record()));
  note({StepMark::Kind::collectiveBegin, index}, queue);
  one.event = transport.enqueue(*one.group, program.collectives[size_t(index)].what, one.buffers.data(),
                                *device, queue, &one.sent);
}

/// What is computed from now on is behind it.
void RankProgram::endCollective(int32_t index) {
  io::Status status = device->compute().await(queueOfCollectives(), collectives[size_t(index)].event);
  place.collective.store(-1, std::memory_order_relaxed);
  place.beat();
  finish(status);
  note({StepMark::Kind::collectiveEnd, index});
}

void RankProgram::finish(const io::Status &status) {
  if (!status.ok())
    failure.end(number, "rank " + std::to_string(number) + " failed " + board.whereabouts(number) + ": " +
                            status.message() + "; the run was ended");
}

/// What is received means nothing before the wait.
void RankProgram::discardReceived(int32_t index) {
  const comm::Collective &what = program.collectives[size_t(index)].what;
  const Collective &one = collectives[size_t(index)];
  size_t tensors = what.counts.size();
  for (size_t tensor = 0; tensor < tensors; ++tensor)
    if (one.buffers[tensor] != one.buffers[tensors + tensor])
      device->discard(one.buffers[tensors + tensor],
                      size_t(comm::destinationCount(what.kind, what.counts[tensor], one.group->size()) *
                             comm::bytesOf(what.type)));
}

void RankProgram::startCollective(int32_t index, void *const *buffers) {
  checked(index);
  if (!communication)
    failure.end(number, program.file + ": started collective " + std::to_string(index) +
                            ", which the manifest does not say; compile the package again");
  place.beat();
  delays.wait();
  takeBuffers(index, buffers);
  discardReceived(index);
  beginCollective(index);
}

void RankProgram::waitForCollective(int32_t index) {
  checked(index);
  place.beat();
  place.collective.store(index, std::memory_order_relaxed);
  endCollective(index);
}

size_t RankProgram::checkedMessage(int32_t index) {
  if (index < 0 || size_t(index) >= messages->size())
    failure.end(number, program.file + ": message " + std::to_string(index) + " of " +
                            std::to_string(messages->size()) + "; compile the package again");
  return size_t(index);
}

void RankProgram::startMessage(int32_t index, void *const *buffers) {
  size_t message = checkedMessage(index);
  place.beat();
  note({StepMark::Kind::message});
  delays.wait();
  note({StepMark::Kind::messageBegin, index});
  finish(messages->start(message, buffers));
}

void RankProgram::waitForMessage(int32_t index) {
  size_t message = checkedMessage(index);
  if (!messages->isUnderWay(message))
    failure.end(number, program.file + ": waited for message " + std::to_string(index) +
                            ", which has not begun; compile the package again");
  place.beat();
  note({StepMark::Kind::message});
  place.message.store(index, std::memory_order_relaxed);
  io::Status status = messages->wait(message);
  place.message.store(-1, std::memory_order_relaxed);
  place.beat();
  finish(status);
  if (marks)
    finish(marks->mark({StepMark::Kind::messageEnd, index}, device->compute(), messages->endOfLast(message)));
}

void RankProgram::refuseEntry(int32_t kind) {
  failure.end(number, program.file + ": an entry of kind " + std::to_string(kind) +
                          ", which this runtime does not know; compile the package again");
}

int64_t RankProgram::startTransfer(void *destination, const void *source, int64_t bytes) {
  if (!transfers)
    failure.end(number,
                program.file +
                    ": started a transfer, which the manifest does not say; compile the package again");
  place.beat();
  device::Address to = device->fromProgram(destination);
  device->discard(to, size_t(bytes)); // means nothing before the wait
  finish(transfers->await(device->compute(), device->compute().record()));
  return int64_t(device->copy(*transfers, to, device->fromProgram(source), size_t(bytes)));
}

void RankProgram::waitForTransfer(int64_t event) {
  finish(device->compute().await(*transfers, uint64_t(event)));
  place.beat();
}

device::Accelerator &RankProgram::numbered(const char *what, int32_t number) {
  if (!accelerator)
    failure.end(this->number, program.file + ": called " + what + " " + std::to_string(number) +
                                  " of a list, which programs of GPUs have; compile the package again");
  place.beat();
  return *accelerator;
}

void RankProgram::launchKernel(int32_t kernel, void *const *buffers) {
  finish(numbered("kernel", kernel).launch(kernel, buffers));
}

void RankProgram::multiply(int32_t product, void *const *buffers, const void *scale) {
  finish(numbered("product", product).multiply(product, buffers, scale));
}

void RankProgram::attend(int32_t attention, void *const *buffers) {
  finish(numbered("attention", attention).attend(attention, buffers));
}

/// The end of what is not the paint, below `end`; at least `known`, which was found before.
int64_t RankProgram::writtenEnd(device::Address begin, int64_t known, int64_t end) {
  while (end > known) {
    int64_t from = (end - 1) / int64_t(scanned.size()) * int64_t(scanned.size()); // a word's beginning
    device->read(scanned.data(), begin + from, size_t(end - from));
    if (int64_t written = findWritten(scanned.data(), end - from))
      return std::max(known, from + written);
    end = from;
  }
  return known;
}

int64_t RankProgram::peakBytes(int64_t end) { return peak = writtenEnd(memory.begin(), peak, end); }

int64_t RankProgram::hostPeakBytes() {
  return hostPeak = writtenEnd(hostMemory.begin(), hostPeak, program.hostArenaBytes);
}

float RankProgram::output(const char *name, size_t microBatch) const {
  float value = NAN;
  for (const Output &output : program.outputs)
    if (output.name == name && microBatch < output.offsets.size())
      device->read(&value, memory.begin() + output.offsets[microBatch], 4);
  return value;
}

std::vector<std::string> trafficKeys(const Manifest &manifest) {
  std::set<std::string> keys;
  for (const Program &program : manifest.programs)
    for (const ManifestCollective &collective : program.collectives)
      keys.insert(trafficKey(manifest, collective));
  if (hasMessages(manifest))
    keys.insert(messageTrafficKey());
  return {keys.begin(), keys.end()};
}

std::map<std::string, uint64_t> RankProgram::traffic() const {
  std::map<std::string, uint64_t> bytes;
  for (const Collective &one : collectives)
    if (one.sent)
      bytes[one.key] += one.sent;
  messages->addTraffic(bytes);
  return bytes;
}

} // namespace par::rt
