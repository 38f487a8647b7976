#include "core/Rank.h"

#include "core/Error.h"
#include "core/LearningRate.h"
#include "core/Topology.h"
#include "core/Variables.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <unistd.h>

namespace par::rt {

void Rank::FreeArena::operator()(char *arena) const { std::free(arena); }

/// Of the environment; empty where it is not set.
static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

Rank::Rank(const Shared &shared, comm::Transport &transport, int number)
    : shared(shared), manifest(shared.manifest), transport(transport), number(number),
      board(shared.board[number]), coordinates(coordinatesOf(manifest.axes, number)),
      inputs(manifest, shared.options, shared.data, shared.start, number),
      delays(variable("PAR_TEST_DELAY"), number), printer(shared.options.steps) {
  context.rank = this;
  context.beats = &board.beats;
  std::string poison = variable("PAR_POISON");
  context.poison = !poison.empty() && poison != "0";
}

void Rank::allocateArena() {
  size_t bytes = size_t((manifest.program.arenaBytes + 63) / 64 * 64);
  arena.reset(static_cast<char *>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
  if (!arena)
    throw Error(manifest.path + ": rank " + std::to_string(number) + " needs an arena of " +
                std::to_string(bytes) +
                " bytes, which this machine cannot give; compile for more ranks or a smaller batch");
  std::memset(arena.get(), 0xFF, bytes);
  context.arena = arena.get();
  context.coords = coordinates.data();
}

void Rank::writeConstants() {
  for (const Constant &constant : manifest.program.constants) {
    char *out = arena.get() + constant.offset;
    if (constant.type == ElementType::f32) {
      float value = float(constant.value);
      std::memcpy(out, &value, 4);
    } else {
      int32_t value = int32_t(constant.value);
      std::memcpy(out, &value, 4);
    }
  }
}

void Rank::createGroups() {
  std::vector<int> all(size_t(manifest.worldSize));
  std::iota(all.begin(), all.end(), 0);
  world = transport.group(all);
  std::map<std::vector<int>, comm::Group *> known; // collectives over the same ranks share a group
  for (const ManifestCollective &collective : manifest.program.collectives) {
    std::vector<int> ranks = groupOf(manifest.axes, number, collective.axes);
    comm::Group *&group = known[ranks];
    if (!group)
      group = transport.group(ranks);
    groups.push_back(group);
    sentKeys.push_back(comm::nameOf(collective.what.kind) + (":" + meshAxesOf(manifest, collective.axes)));
  }
  sent.assign(groups.size(), 0);
}

void Rank::prepare() {
  cpu::setThreads(1);
  if (shared.threads > 1)
    pool = std::make_unique<cpu::Pool>(shared.threads);
  context.pool = pool.get();
  installCrashHandler(&board, number, manifest.program);
  allocateArena();
  writeConstants();
  initialiseVariables(manifest, number, arena.get(), shared.weights, shared.options.seed);
  if (shared.resume)
    restore(manifest, *shared.resume, number, arena.get());
  board.step = shared.start.step;
  createGroups();
  check(transport.barrier(*world));
}

void Rank::enterAction(int32_t action) {
  if (action < 0 || size_t(action) >= manifest.program.actions.size())
    shared.failure.end(number, manifest.program.file + ": entered action " + std::to_string(action) + " of " +
                                   std::to_string(manifest.program.actions.size()) +
                                   "; compile the package again");
  board.action.store(action, std::memory_order_relaxed);
  board.actions.store(board.actions.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  board.beat();
  delays.wait();
  if (!shared.fault.hits(number, board.step, action))
    return;
  if (shared.fault.kind == Fault::Kind::fail)
    shared.failure.end(number, "rank " + std::to_string(number) + " failed in " + shared.board.place(number) +
                                   ": asked for by PAR_TEST_FAULT; the run was ended");
  while (true)
    pause(); // a stall
}

void Rank::runCollective(int32_t index, void *const *buffers) {
  if (index < 0 || size_t(index) >= groups.size())
    shared.failure.end(number, manifest.program.file + ": ran collective " + std::to_string(index) + " of " +
                                   std::to_string(groups.size()) + "; compile the package again");
  board.beat();
  delays.wait();
  board.collective.store(index, std::memory_order_relaxed);
  io::Status status = transport.run(*groups[size_t(index)], manifest.program.collectives[size_t(index)].what,
                                    buffers, &sent[size_t(index)]);
  board.collective.store(-1, std::memory_order_relaxed);
  board.beat();
  if (!status.ok())
    shared.failure.end(number, "rank " + std::to_string(number) + " failed in " + shared.board.place(number) +
                                   ": " + status.message());
}

int64_t Rank::peakBytes() const {
  const char *bytes = arena.get();
  int64_t end = manifest.program.arenaBytes;
  while (end > 0 && static_cast<unsigned char>(bytes[end - 1]) == 0xFF)
    --end;
  return end;
}

float Rank::output(const char *name) const {
  float value = NAN;
  for (const Output &output : manifest.program.outputs)
    if (output.name == name)
      std::memcpy(&value, arena.get() + output.offset, 4);
  return value;
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Ending Rank::run() {
  for (int64_t step = shared.start.step + 1; step <= shared.options.steps; ++step) {
    double begin = now();
    std::fill(sent.begin(), sent.end(), 0);
    inputs.write(arena.get(), step);
    board.step = step;
    shared.schedule(&context);
    board.action = -1;
    board.beat();
    Ending ending = finishStep(step, begin);
    if (ending != Ending::complete)
      return ending;
  }
  return Ending::complete;
}

/// The largest peak and the worst ending are agreed on, so that all ranks stop after the same step.
Ending Rank::finishStep(int64_t step, double begin) {
  static const comm::Collective agree = [] {
    comm::Collective collective;
    collective.op = comm::Op::max;
    collective.type = comm::Type::i64;
    collective.counts = {3};
    return collective;
  }();
  Ending own = Ending::complete;
  if (stopRequested() && step < shared.options.steps)
    own = Ending::stopped;
  if (number == 0 && !shared.options.allowNonfinite &&
      (!std::isfinite(output("loss")) || !std::isfinite(output("grad_norm"))))
    own = Ending::notFinite;
  int asked = savesRequested();
  int64_t values[3] = {peakBytes(), int64_t(own), asked != savesAsked};
  void *buffers[2] = {values, values};
  board.collective = -2;
  check(transport.run(*world, agree, buffers));
  board.collective = -1;
  board.beat();
  if (number == 0)
    report(step, now() - begin, values[0], Ending(values[1]));
  Ending ending = Ending(values[1]);
  int64_t every = shared.options.checkpointEvery;
  bool due = values[2] != 0 || ending == Ending::stopped || step == shared.options.steps ||
             (every && step % every == 0);
  if (due && ending != Ending::notFinite && shared.checkpointer.wanted()) {
    savesAsked = savesRequested();
    saveCheckpoint(step);
  }
  return ending;
}

void Rank::saveCheckpoint(int64_t step) {
  shared.checkpointer.save(number, arena.get(), step, transport, *world, [this] { board.beat(); });
  if (number != 0)
    return;
  std::printf("checkpoint %s\n", shared.checkpointer.folderOf(step).c_str());
  std::fflush(stdout);
}

void Rank::report(int64_t step, double seconds, int64_t peak, Ending ending) {
  StepReport report;
  report.step = step;
  report.loss = output("loss");
  report.gradNorm = output("grad_norm");
  report.lr = learningRate(shared.options.hyper, step, shared.options.steps);
  report.seconds = seconds;
  report.tokens = manifest.batch * manifest.sequence;
  report.peakBytes = peak;
  for (size_t i = 0; i < sent.size(); ++i)
    if (sent[i])
      report.sentBytes[sentKeys[i]] += sent[i];
  report.pids = shared.pids;
  if (shared.metrics.wanted()) {
    report.dataHash = hashOfStep(manifest, shared.data, shared.start, step);
    shared.metrics.append(metricsLine(report));
  }
  printer.print(report, ending != Ending::complete || step == shared.options.steps);
}

void Rank::save() { shared.saver.save(number, arena.get(), transport); }

} // namespace par::rt
