#include "core/RankProgram.h"

#include "core/Error.h"
#include "core/Topology.h"
#include "cpu/ThreadMemory.h"
#include "par/runtime.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

namespace par::rt {

void RankProgram::FreeArena::operator()(char *arena) const { std::free(arena); }

/// Of the environment; empty where it is not set.
static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

RankProgram::RankProgram(const Manifest &manifest, ProgressBoard &board, Failure &failure, const Fault &fault,
                         comm::Transport &transport, int number)
    : manifest(manifest), board(board), failure(failure), fault(fault), transport(transport), number(number),
      delays(variable("PAR_TEST_DELAY"), number), place(board[number]),
      coordinates(coordinatesOf(manifest.axes, number)),
      communicationDelays(variable("PAR_TEST_DELAY"), manifest.worldSize + number),
      transferDelays(variable("PAR_TEST_DELAY"), 2 * manifest.worldSize + number) {
  context.program = this;
  context.beats = &place.beats;
  std::string poison = variable("PAR_POISON");
  context.poison = !poison.empty() && poison != "0";
}

void RankProgram::prepare(int64_t bytes, int threads) {
  cpu::setThreads(1);
  if (threads > 1)
    pool = std::make_unique<cpu::Pool>(threads);
  context.pool = pool.get();
  cpu::prepareThreadMemory(pool.get());
  installCrashHandler(&place, number, manifest.program);
  allocateArenas(bytes);
  writeConstants();
}

/// Memory in huge pages where it fills some and the system gives them: rows of a matrix are often pages
/// apart, and products lose up to a quarter of their speed to misses of the TLB. Null when there is none.
static void *allocateArena(size_t bytes) {
  constexpr size_t hugePage = size_t(2) << 20, line = 64;
  void *begin = nullptr;
  if (posix_memalign(&begin, bytes < hugePage ? line : hugePage, bytes) != 0)
    return nullptr;
  if (bytes >= hugePage)
    madvise(begin, bytes / hugePage * hugePage, MADV_HUGEPAGE); // advice: without it all works as well
  return begin;
}

/// Painted, so that what is used of it can be measured.
char *RankProgram::allocate(int64_t wanted, const char *what) const {
  size_t bytes = std::max<size_t>(size_t((wanted + 63) / 64 * 64), 64);
  void *begin = allocateArena(bytes);
  if (!begin)
    throw Error(manifest.path + ": rank " + std::to_string(number) + " needs " + what + " of " +
                std::to_string(bytes) +
                " bytes, which this machine cannot give; compile for more ranks or a smaller batch");
  std::memset(begin, 0xFF, bytes);
  return static_cast<char *>(begin);
}

void RankProgram::allocateArenas(int64_t wanted) {
  memory.reset(allocate(wanted, "an arena"));
  if (manifest.program.hostArenaBytes)
    hostMemory.reset(allocate(manifest.program.hostArenaBytes, "an arena in host memory"));
  context.arena = memory.get();
  context.host_arena = hostMemory.get();
  context.coords = coordinates.data();
}

void RankProgram::writeConstants() {
  for (const Constant &constant : manifest.program.constants) {
    char *out = memory.get() + constant.offset;
    if (constant.type == ElementType::f32) {
      float value = float(constant.value);
      std::memcpy(out, &value, 4);
    } else {
      int32_t value = int32_t(constant.value);
      std::memcpy(out, &value, 4);
    }
  }
}

void RankProgram::createGroups() {
  std::vector<int> ranks(size_t(manifest.worldSize));
  std::iota(ranks.begin(), ranks.end(), 0);
  all = transport.group(ranks);
  std::map<std::vector<int>, comm::Group *> known; // collectives over the same ranks share a group
  for (const ManifestCollective &collective : manifest.program.collectives) {
    std::vector<int> members = groupOf(manifest.axes, number, collective.axes);
    comm::Group *&group = known[members];
    if (!group)
      group = transport.group(members);
    groups.push_back(group);
    sentKeys.push_back(comm::nameOf(collective.what.kind) + (":" + meshAxesOf(manifest, collective.axes)));
  }
  sent.assign(groups.size(), 0);
  createCommunication();
  createTransfers();
}

/// Programs that start nothing run their collectives on the rank's own thread. Others run all of them on one
/// thread, so that they keep their order.
void RankProgram::createCommunication() {
  const std::vector<ManifestCollective> &all = manifest.program.collectives;
  if (std::none_of(all.begin(), all.end(), [](const ManifestCollective &one) { return one.started; }))
    return;
  tickets.assign(all.size(), 0);
  comm::CommunicationThread::Hooks hooks;
  hooks.begin = [this] { installCrashHandler(&place, number, manifest.program); };
  hooks.before = [this] { communicationDelays.wait(); };
  communication = std::make_unique<comm::CommunicationThread>(transport, all.size(), std::move(hooks));
}

void RankProgram::createTransfers() {
  constexpr size_t most = 256; // a layer's state is a few dozen tensors
  if (!manifest.program.transfers)
    return;
  TransferThread::Hooks hooks;
  hooks.begin = [this] { installCrashHandler(&place, number, manifest.program); };
  hooks.before = [this] { transferDelays.wait(); };
  transfers = std::make_unique<TransferThread>(most, std::move(hooks));
}

void RankProgram::run(Schedule schedule) {
  schedule(&context);
  place.action = -1;
  place.beat();
}

void RankProgram::enterAction(int32_t action) {
  if (action < 0 || size_t(action) >= manifest.program.actions.size())
    failure.end(number, manifest.program.file + ": entered action " + std::to_string(action) + " of " +
                            std::to_string(manifest.program.actions.size()) + "; compile the package again");
  place.action.store(action, std::memory_order_relaxed);
  place.actions.store(place.actions.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  place.beat();
  delays.wait();
  if (profile)
    profile->rest();
  if (!fault.hits(number, place.step, action))
    return;
  if (fault.kind == Fault::Kind::fail)
    failure.end(number, "rank " + std::to_string(number) + " failed in " + board.place(number) +
                            ": asked for by PAR_TEST_FAULT; the run was ended");
  while (true)
    pause(); // a stall
}

void RankProgram::checkNumber(int32_t index) {
  if (index < 0 || size_t(index) >= groups.size())
    failure.end(number, manifest.program.file + ": ran collective " + std::to_string(index) + " of " +
                            std::to_string(groups.size()) + "; compile the package again");
}

void RankProgram::runCollective(int32_t index, void *const *buffers) {
  checkNumber(index);
  place.beat();
  delays.wait();
  place.collective.store(index, std::memory_order_relaxed);
  if (communication) {
    beginCollective(index, buffers);
    endCollective(communication->wait(tickets[size_t(index)]));
    return;
  }
  endCollective(transport.run(*groups[size_t(index)], manifest.program.collectives[size_t(index)].what,
                              buffers, &sent[size_t(index)]));
}

void RankProgram::beginCollective(int32_t index, void *const *buffers) {
  tickets[size_t(index)] =
      communication->start(*groups[size_t(index)], manifest.program.collectives[size_t(index)].what, buffers,
                           &sent[size_t(index)]);
}

void RankProgram::endCollective(const io::Status &status) {
  place.collective.store(-1, std::memory_order_relaxed);
  place.beat();
  if (!status.ok())
    failure.end(number, "rank " + std::to_string(number) + " failed in " + board.place(number) + ": " +
                            status.message());
}

/// What is received means nothing before the wait.
static void discardReceived(RankContext &context, const comm::Collective &what, int members,
                            void *const *buffers) {
  size_t tensors = what.counts.size();
  for (size_t tensor = 0; tensor < tensors; ++tensor)
    if (buffers[tensor] != buffers[tensors + tensor])
      par_discard(&context, buffers[tensors + tensor],
                  comm::destinationCount(what.kind, what.counts[tensor], members) * comm::bytesOf(what.type));
}

void RankProgram::startCollective(int32_t index, void *const *buffers) {
  checkNumber(index);
  if (!communication)
    failure.end(number, manifest.program.file + ": started collective " + std::to_string(index) +
                            ", which the manifest does not say; compile the package again");
  place.beat();
  delays.wait();
  discardReceived(context, manifest.program.collectives[size_t(index)].what, groups[size_t(index)]->size(),
                  buffers);
  beginCollective(index, buffers);
}

void RankProgram::waitForCollective(int32_t index) {
  checkNumber(index);
  place.beat();
  place.collective.store(index, std::memory_order_relaxed);
  endCollective(communication ? communication->wait(tickets[size_t(index)]) : io::Status());
}

int64_t RankProgram::startTransfer(void *destination, const void *source, int64_t bytes) {
  if (!transfers)
    failure.end(number,
                manifest.program.file +
                    ": started a transfer, which the manifest does not say; compile the package again");
  place.beat();
  par_discard(&context, destination, bytes); // means nothing before the wait
  return int64_t(transfers->start(destination, source, size_t(bytes)));
}

void RankProgram::waitForTransfer(int64_t ticket) {
  transfers->wait(uint64_t(ticket));
  place.beat();
}

/// The end of what is not the paint, below `end`; at least `known`, which was found before.
static int64_t writtenEnd(const char *bytes, int64_t known, int64_t end) {
  while (end > known && static_cast<unsigned char>(bytes[end - 1]) == 0xFF)
    --end;
  return std::max(known, end);
}

int64_t RankProgram::peakBytes(int64_t end) { return peak = writtenEnd(memory.get(), peak, end); }

int64_t RankProgram::hostPeakBytes() {
  return hostPeak = writtenEnd(hostMemory.get(), hostPeak, manifest.program.hostArenaBytes);
}

float RankProgram::output(const char *name, size_t microBatch) const {
  float value = NAN;
  for (const Output &output : manifest.program.outputs)
    if (output.name == name && microBatch < output.offsets.size())
      std::memcpy(&value, memory.get() + output.offsets[microBatch], 4);
  return value;
}

std::map<std::string, uint64_t> RankProgram::traffic() const {
  std::map<std::string, uint64_t> bytes;
  for (size_t i = 0; i < sent.size(); ++i)
    if (sent[i])
      bytes[sentKeys[i]] += sent[i];
  return bytes;
}

} // namespace par::rt
