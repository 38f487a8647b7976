#include "core/Rank.h"

#include "core/Console.h"
#include "core/Error.h"
#include "core/LearningRate.h"
#include "core/Signals.h"
#include "core/Variables.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

namespace par::rt {

/// The largest of each of `count` values over all ranks.
static comm::Collective agreement(int64_t count) {
  comm::Collective collective;
  collective.op = comm::Op::max;
  collective.type = comm::Type::i64;
  collective.counts = {count};
  return collective;
}

Rank::Rank(const Shared &shared, comm::Transport &transport, int number)
    : shared(shared), manifest(shared.manifest), transport(transport), number(number),
      program(manifest, shared.board, shared.failure, shared.fault, transport, number),
      inputs(manifest, shared.options, shared.data, shared.start, number), printer(shared.options.steps),
      agree(agreement(4)), agreeToStop(agreement(1)) {
  if (!shared.loaded.evaluate.empty())
    evaluator = std::make_unique<Evaluator>(manifest, shared.loaded.evalData,
                                            shared.loaded.evaluate[manifest.programNumberOf(number)], number);
}

/// Errors of work on files become FileErrors.
template <typename Work>
static void onFiles(Work work) {
  try {
    work();
  } catch (const Error &error) {
    throw FileError(error.what());
  }
}

void Rank::prepare() {
  program.prepare(arenaBytes(shared.loaded), shared.threads);
  initialiseVariables(manifest, number, program.arenas(),
                      {shared.weights, shared.options.seed, shared.options.allowNonfinite});
  if (shared.resume)
    onFiles([&] { restore(manifest, *shared.resume, number, program.arenas()); });
  program.progress().step = shared.start.step;
  program.createGroups();
  check(transport.barrier(program.world()));
  if (!shared.options.profile)
    return;
  rates = program.onDevice().measureRates(); // on all ranks: they share the machine when they compute, too
  if (number == 0)
    profile = std::make_unique<Profile>(manifest.programOf(number));
  check(transport.barrier(program.world()));
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Ending Rank::run() {
  deferStops();
  if (evaluator && shared.options.steps == 0)
    return evaluate(shared.start.step);
  for (int64_t step = shared.start.step + 1; step <= shared.options.steps; ++step) {
    double begin = now();
    if (profile)
      profile->begin();
    program.resetTraffic();
    inputs.write(program.arenas(), step);
    program.progress().step = step;
    program.setProfile(profile.get());
    program.run(shared.loaded.schedule[manifest.programNumberOf(number)]);
    program.setProfile(nullptr);
    if (profile)
      profile->rest();
    arenaUsed = std::max(arenaUsed, manifest.programOf(number).findSchedule("train")->arenaBytes);
    Ending ending = finishStep(step, begin);
    if (ending != Ending::complete)
      return ending;
  }
  if (profile)
    print(profile->table(rates, shared.threads));
  return Ending::complete;
}

/// The largest peaks and the worst ending are agreed on, so that all ranks stop after the same step.
Ending Rank::finishStep(int64_t step, double begin) {
  Ending own = Ending::complete;
  if (stopRequested() && step < shared.options.steps)
    own = Ending::stopped;
  if (number == 0 && !shared.options.allowNonfinite &&
      (!std::isfinite(program.output("loss")) || !std::isfinite(program.output("grad_norm"))))
    own = Ending::notFinite;
  int asked = savesRequested();
  int64_t values[4] = {program.peakBytes(std::exchange(arenaUsed, 0)), program.hostPeakBytes(), int64_t(own),
                       asked != savesAsked};
  void *buffers[2] = {values, values};
  RankProgress &progress = program.progress();
  progress.collective = -2;
  check(transport.run(program.world(), agree, buffers));
  progress.collective = -1;
  progress.beat();
  if (profile)
    profile->end();
  if (number == 0)
    report(step, now() - begin, {values[0], values[1]}, Ending(values[2]));
  Ending ending = Ending(values[2]);
  // Before the checkpoint: a run that is resumed from it does not evaluate this step again.
  if (ending == Ending::complete && isEvaluated(step))
    ending = evaluate(step);
  int64_t every = shared.options.checkpointEvery;
  bool due = values[3] != 0 || ending == Ending::stopped || step == shared.options.steps ||
             (every && step % every == 0);
  bool finite = ending == Ending::complete || ending == Ending::stopped;
  if (due && finite && shared.checkpointer.wanted()) {
    savesAsked = savesRequested();
    saveCheckpoint(step);
  }
  return ending;
}

void Rank::saveCheckpoint(int64_t step) {
  try {
    shared.checkpointer.save(number, program.arenas(), step, transport, program.world(),
                             [this] { program.progress().beat(); });
  } catch (const Error &error) {
    throw FileError(shared.checkpointer.folderOf(step) + ": cannot be saved: " + error.what() +
                    "; older checkpoints are whole, go on with --resume latest");
  }
  if (number != 0)
    return;
  print("checkpoint " + shared.checkpointer.folderOf(step) + "\n");
}

bool Rank::isEvaluated(int64_t step) const {
  int64_t every = shared.options.evalEvery;
  return evaluator && (step == shared.options.steps || (every && step % every == 0));
}

/// A stop that one rank was asked for is everyone's.
bool Rank::stopAgreed() {
  int64_t stop = stopRequested();
  void *buffers[2] = {&stop, &stop};
  check(transport.run(program.world(), agreeToStop, buffers));
  return stop != 0;
}

/// Every rank has the same loss and so the same ending.
Ending Rank::evaluate(int64_t step) {
  std::optional<EvaluationReport> report = evaluator->run(program, step, [this] { return stopAgreed(); });
  arenaUsed = std::max(arenaUsed, manifest.programOf(number).findSchedule("eval")->arenaBytes);
  if (!report)
    return Ending::stopped;
  if (number == 0) {
    if (shared.metrics.wanted())
      onFiles([&] { shared.metrics.append(metricsLine(*report)); });
    char line[128];
    std::snprintf(line, sizeof(line), "step %lld/%lld  eval_loss %.4f over %lld tokens\n",
                  static_cast<long long>(step), static_cast<long long>(shared.options.steps), report->loss,
                  static_cast<long long>(report->tokens));
    print(line);
  }
  return std::isfinite(report->loss) || shared.options.allowNonfinite ? Ending::complete
                                                                      : Ending::evaluationNotFinite;
}

void Rank::report(int64_t step, double seconds, Peaks peaks, Ending ending) {
  StepReport report;
  report.step = step;
  report.loss = program.output("loss");
  report.gradNorm = program.output("grad_norm");
  report.lr = learningRate(shared.options.hyper, step, shared.options.steps);
  report.seconds = seconds;
  report.tokens = manifest.batch * manifest.sequence;
  report.peakBytes = peaks.device;
  report.hostPeakBytes = peaks.host;
  if (shared.metrics.wanted()) {
    report.sentBytes = program.traffic();
    if (step == shared.start.step + 1) {
      report.pids = shared.pids;
      report.dataHash = hashOfStep(manifest, shared.data, shared.start, step);
    }
    onFiles([&] { shared.metrics.append(metricsLine(report)); });
  }
  printer.print(report, ending != Ending::complete || step == shared.options.steps);
}

void Rank::save() {
  onFiles(
      [&] { shared.saver.save(number, program.arenas(), transport, [this] { program.progress().beat(); }); });
}

} // namespace par::rt
