#include "core/Rank.h"

#include "core/Console.h"
#include "core/Error.h"
#include "core/LearningRate.h"
#include "core/Signals.h"
#include "core/Topology.h"
#include "core/TraceFile.h"
#include "core/Variables.h"
#include "par/io/Files.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
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

/// Whether a rank is the first one that has an output: it tells the others.
static bool isFirstWith(const Manifest &manifest, const char *output, int rank) {
  size_t program = manifest.programWith(output);
  return program < manifest.programs.size() && firstRankOf(manifest, program) == rank;
}

static std::vector<std::string> reportedOutputs(const Manifest &manifest) {
  std::vector<std::string> outputs = {"loss", "grad_norm"};
  for (const ManifestLoss &loss : manifest.losses)
    if (!loss.isMain())
      outputs.push_back(loss.output());
  return outputs;
}

static std::vector<bool> toldOutputs(const Manifest &manifest, int rank) {
  std::vector<bool> tells;
  for (const std::string &output : reportedOutputs(manifest))
    tells.push_back(isFirstWith(manifest, output.c_str(), rank));
  return tells;
}

/// The count of what agreeOnStep agrees on before the outputs.
static constexpr size_t agreedBefore = 4;

static comm::Collective gatherOfPeaks() {
  comm::Collective collective;
  collective.kind = comm::Kind::gather;
  collective.type = comm::Type::i64;
  collective.counts = {2};
  return collective;
}

Rank::Rank(const Shared &shared, comm::Transport &transport, int number)
    : shared(shared), manifest(shared.manifest), transport(transport), number(number),
      program(manifest, shared.board, shared.failure, shared.fault, transport, number),
      inputs(manifest, inputSources(), number),
      printer(shared.start.step, shared.options.steps, shared.options.logEvery),
      outputs(reportedOutputs(manifest)), tells(toldOutputs(manifest, number)),
      tellsEvaluation(isFirstWith(manifest, "eval_loss", number)),
      agree(agreement(int64_t(agreedBefore + outputs.size()))), agreeOnOne(agreement(1)),
      gather(gatherOfPeaks()), peaks(2 * size_t(number == 0 ? manifest.worldSize : 0)) {
  agreed.reserve(agreedBefore + outputs.size());
  if (!shared.loaded.evaluate.empty())
    evaluator = std::make_unique<Evaluator>(shared.loaded, inputSources(),
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
  std::vector<std::string> schedules = {"train"};
  if (evaluator)
    schedules.push_back("eval");
  program.progress().step = shared.start.step;
  program.prepare(schedules, shared.place);
  program.createGroups();
  chooseAttention();
  tuneProducts();
  program.progress().prepare(Preparation::values);
  initialiseVariables(manifest, number, program.arenas(),
                      {shared.weights, shared.options.seed, shared.options.allowNonfinite},
                      shared.place.threads);
  if (shared.resume) {
    program.progress().prepare(Preparation::checkpoint);
    onFiles([&] { restore(manifest, *shared.resume, number, program.arenas()); });
  }
  if (shared.options.kernels.areEmulated())
    program.emulate(
        std::make_unique<EmulatedKernels>(manifest, number, shared.options.kernels, shared.options.link));
  if (!shared.options.trace.empty())
    trace = std::make_unique<Trace>(manifest.programOf(number));
  peak = peakOfGpus();
  waitForAll();
  if (shared.options.profile) {
    rates = program.onDevice().measureRates(); // on all ranks: they share the machine when they compute, too
    if (number == 0)
      profile = std::make_unique<Profile>(manifest);
    waitForAll();
  }
  if (profile || trace)
    marks = std::make_unique<StepMarks>(profile.get(), trace.get(), program.onDevice().accelerator());
  program.progress().prepare(Preparation::none);
}

void Rank::waitForAll() {
  WaitForAll wait(program.progress());
  check(transport.barrier(program.world()));
}

/// cuDNN adds up gradients by atomics.
void Rank::chooseAttention() {
  const RunOptions &options = shared.options;
  std::string note;
  program.chooseAttention(options.deterministic ? AttentionChoice::generated : options.attention, note);
  if (number == 0 && !note.empty())
    print(note);
}

/// The time that the others wait in is not all that they may: --timeout ends them.
void Rank::tuneProducts() {
  const RunOptions &options = shared.options;
  double seconds = options.deterministic ? 0 : std::min(options.tuneSeconds, options.timeout / 2);
  std::string note;
  program.tuneProducts(seconds, note);
  if (number == 0 && !note.empty())
    print(note);
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Ending Rank::run() {
  deferStops();
  Ending ending = runSteps();
  if (number == 0)
    print(shared.metrics.note());
  if (trace)
    writeTrace();
  if (profile && ending == Ending::complete)
    print(profile->table(rates, shared.place.threads));
  return ending;
}

void Rank::writeTrace() {
  std::vector<RankTrace> ranks = gatherTraces(*trace, transport, program.world());
  if (number != 0)
    return;
  onFiles([&] { check(io::writeFile(shared.options.trace, traceText(manifest, ranks))); });
  print(noteLost(shared.options.trace, ranks));
}

Ending Rank::runSteps() {
  if (evaluator && shared.options.steps == 0)
    return evaluate(shared.start.step);
  savedAt = now();
  for (int64_t step = shared.start.step + 1; step <= shared.options.steps; ++step) {
    double begin = now();
    if (profile)
      profile->begin(program.onDevice().attentionPairs());
    program.resetTraffic();
    program.progress().step = step;
    inputs.write(program.arenas(), step);
    program.setMarks(marks.get());
    if (trace)
      trace->beginStep(step);
    program.run(shared.loaded.schedule[manifest.programNumberOf(number)]);
    program.setMarks(nullptr);
    if (trace)
      trace->endStep();
    if (profile)
      profile->rest(Profile::Clock::now());
    arenaUsed = std::max(arenaUsed, manifest.programOf(number).arenaFor("train"));
    Ending ending = finishStep(step, begin);
    if (ending != Ending::complete)
      return ending;
  }
  return Ending::complete;
}

/// A number as one of those whose largest is agreed on, where one rank tells it.
static int64_t told(bool tells, double value) {
  if (!tells)
    return INT64_MIN;
  int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static double toldValue(int64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

double Rank::agreedValue(bool tells, double value) {
  int64_t bits = told(tells, value);
  void *buffers[2] = {&bits, &bits};
  check(transport.run(program.world(), agreeOnOne, buffers));
  return toldValue(bits);
}

/// By a signal, or on rank 0 by its clock.
bool Rank::asksForSave() const {
  double minutes = shared.options.saveMinutes;
  return savesRequested() != savesAsked || (number == 0 && minutes && now() - savedAt >= 60 * minutes);
}

/// The largest peaks, the worst ending, loss and norm are agreed on, so that all ranks stop after the same
/// step.
Rank::Agreed Rank::agreeOnStep(double begin, StepReport &report) {
  bool stops = stopRequested() && report.step < shared.options.steps;
  Peaks own{program.peakBytes(std::exchange(arenaUsed, 0)), program.hostPeakBytes()};
  agreed.assign({own.device, own.host, int64_t(stops ? Ending::stopped : Ending::complete), asksForSave()});
  for (size_t i = 0; i < outputs.size(); ++i)
    agreed.push_back(told(tells[i], program.output(outputs[i].c_str())));
  void *buffers[2] = {agreed.data(), agreed.data()};
  RankProgress &progress = program.progress();
  progress.collective = -2;
  check(transport.run(program.world(), agree, buffers));
  progress.collective = -1;
  progress.beat();
  if (profile)
    profile->end(program.onDevice().attentionPairs());
  report.seconds = now() - begin;
  takeOutputs(report);
  report.peakBytes = agreed[0];
  report.hostPeakBytes = agreed[1];
  report.isEmulated = shared.options.kernels.areEmulated();
  bool isFinite = report.isEmulated || (std::isfinite(report.loss) && std::isfinite(report.gradNorm));
  Ending ending = isFinite || shared.options.allowNonfinite ? Ending(agreed[2]) : Ending::notFinite;
  if (ending != Ending::complete || report.step == shared.options.steps)
    gatherPeaks(own);
  return {ending, agreed[3] != 0};
}

void Rank::takeOutputs(StepReport &report) const {
  auto value = [&](size_t output) { return float(toldValue(agreed[agreedBefore + output])); };
  report.loss = value(0);
  report.gradNorm = value(1);
  for (size_t output = 2; output < outputs.size(); ++output)
    report.losses.emplace_back(outputs[output].substr(outputs[output].find('.') + 1), value(output));
}

Ending Rank::finishStep(int64_t step, double begin) {
  StepReport report;
  report.step = step;
  Agreed agreed = agreeOnStep(begin, report);
  bool isLast = agreed.ending != Ending::complete || step == shared.options.steps;
  if (isLast && manifest.programs.size() > 1)
    report.mostSentBytes = agreeOnTraffic();
  if (number == 0)
    write(report, isLast);
  // Before the checkpoint: a run that is resumed from it does not evaluate this step again.
  evalLoss.reset();
  if (agreed.ending == Ending::complete && isEvaluated(step))
    agreed.ending = evaluate(step);
  if (shared.checkpointer.wanted() && isSaved(step, agreed))
    saveCheckpoint(step);
  return agreed.ending;
}

bool Rank::isSaved(int64_t step, const Agreed &agreed) {
  if (agreed.ending != Ending::complete && agreed.ending != Ending::stopped)
    return false;
  int64_t every = shared.options.checkpointEvery;
  bool isBest = evalLoss && shared.options.keepBest &&
                agreedValue(number == 0, number == 0 && shared.checkpointer.isBest(*evalLoss)) != 0;
  return isBest || agreed.savesAsked || agreed.ending == Ending::stopped || step == shared.options.steps ||
         (every && step % every == 0);
}

void Rank::saveCheckpoint(int64_t step) {
  savesAsked = savesRequested();
  try {
    shared.checkpointer.save(number, program.arenas(), {step, evalLoss}, transport, program.world(),
                             [this] { program.progress().beat(); });
  } catch (const Error &error) {
    throw FileError(shared.checkpointer.folderOf(step) + ": cannot be saved: " + error.what() +
                    "; older checkpoints are whole, go on with --resume latest");
  }
  savedAt = now();
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
  check(transport.run(program.world(), agreeOnOne, buffers));
  return stop != 0;
}

/// Every rank has the same loss and so the same ending.
Ending Rank::evaluate(int64_t step) {
  std::optional<EvaluationReport> report = evaluator->run(
      program, step, [this] { return stopAgreed(); },
      [this](double sum) { return agreedValue(tellsEvaluation, sum); });
  arenaUsed = std::max(arenaUsed, manifest.programOf(number).arenaFor("eval"));
  if (!report)
    return Ending::stopped;
  evalLoss = report->loss;
  if (number == 0)
    write(*report);
  return std::isfinite(report->loss) || shared.options.allowNonfinite ? Ending::complete
                                                                      : Ending::evaluationNotFinite;
}

void Rank::gatherPeaks(Peaks own) {
  int64_t mine[2] = {own.device, own.host};
  void *buffers[2] = {mine, peaks.data()};
  check(transport.run(program.world(), gather, buffers));
}

std::map<std::string, uint64_t> Rank::agreeOnTraffic() {
  std::vector<std::string> keys = trafficKeys(manifest);
  std::map<std::string, uint64_t> sent = program.traffic(), most;
  std::vector<int64_t> bytes;
  for (const std::string &key : keys)
    bytes.push_back(int64_t(sent[key]));
  void *buffers[2] = {bytes.data(), bytes.data()};
  if (!keys.empty())
    check(transport.run(program.world(), agreement(int64_t(keys.size())), buffers));
  for (size_t i = 0; i < keys.size(); ++i)
    if (bytes[i])
      most[keys[i]] = uint64_t(bytes[i]);
  return most;
}

/// Every process has a GPU: ranks that are threads share one.
double Rank::peakOfGpus() const {
  device::Accelerator *accelerator = program.onDevice().accelerator();
  device::Element type = manifest.dtype == "bf16" ? device::Element::bf16 : device::Element::f32;
  double gpus = double(std::set<int64_t>(shared.pids.begin(), shared.pids.end()).size());
  return accelerator ? accelerator->peakFlops(type) * gpus : 0;
}

/// Rank 0: to the metrics and the terminal.
void Rank::write(StepReport &report, bool isLast) {
  report.lr = learningRate(shared.options.hyper, report.step, shared.options.steps);
  int64_t tokensOfRow = manifest.sequence ? manifest.sequence : 1;
  report.unit = manifest.sequence ? "tokens" : "rows";
  report.tokens = manifest.batch * tokensOfRow;
  if (peak > 0 && !report.isEmulated)
    report.mfu = manifest.modelFlops / (peak * report.seconds);
  report.tokensSeen = shared.start.firstWindow(report.step + 1, manifest.batch) * tokensOfRow;
  if (shared.metrics.wanted()) {
    report.sentBytes = program.traffic();
    if (report.step == shared.start.step + 1) {
      report.pids = shared.pids;
      report.dataHash = hashOfStep(manifest, inputSources(), report.step);
    }
    for (size_t i = 0; isLast && i < peaks.size(); i += 2) {
      report.peaks.push_back(peaks[i]);
      report.hostPeaks.push_back(peaks[i + 1]);
    }
    onFiles([&] { shared.metrics.append(report); });
  }
  printer.print(report, isLast);
}

void Rank::write(const EvaluationReport &report) {
  if (shared.metrics.wanted())
    onFiles([&] { shared.metrics.append(report); });
  char line[160];
  std::snprintf(line, sizeof(line), "step %lld/%lld  eval_loss %.4f  perplexity %.4g over %lld tokens\n",
                static_cast<long long>(report.step), static_cast<long long>(shared.options.steps),
                report.loss, report.perplexity(), static_cast<long long>(report.tokens));
  print(line);
}

void Rank::save() {
  onFiles(
      [&] { shared.saver.save(number, program.arenas(), transport, [this] { program.progress().beat(); }); });
}

} // namespace par::rt
