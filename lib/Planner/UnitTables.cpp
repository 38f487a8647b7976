//===- UnitTables.cpp - what the layers of a model take, kind by kind -----------------------------------===//
#include "par/Planner/UnitTables.h"

#include <numeric>

using namespace mlir;
using namespace mlir::par;

int64_t UnitTables::countKinds(const Plan &plan) {
  const std::vector<int64_t> &kinds = getKinds(plan);
  return kinds.empty() ? 0 : 1 + *std::max_element(kinds.begin(), kinds.end());
}

/// Backward passes have parts where there are stages, of which each has a kind at least.
bool UnitTables::splitsUnits(const Plan &plan) {
  return splitsBackward(plan.schedule) && plan.countStages() > 1 && countKinds(plan) > 1;
}

/// One micro-batch through a stage for each kind, on ranks that only tensor parallelism tells apart.
Plan UnitTables::restrictToUnit(const Plan &plan) {
  Plan unit = plan;
  int64_t count = countKinds(plan);
  int64_t tensor = plan.countRanks(AxisRole::Tensor), data = plan.countRanks(AxisRole::Batch);
  unit.mesh = makeMesh(
      {{AxisRole::Pipeline, count}, {AxisRole::Batch, isGraph ? data : 1}, {AxisRole::Tensor, tensor}});
  unit.batch = plan.batch / (isGraph ? plan.microBatches : plan.microBatches * data);
  unit.microBatches = 1;
  unit.zero = 0;
  unit.zero3Gather = GatherTime::PerMicroBatch;
  unit.overlap = false;
  unit.prefetchLimit = std::nullopt;
  unit.offload = OffloadKind::None;
  unit.freeze.clear(); // what is frozen is marked, and patterns may be of layers that are folded
  unit.schedule = splitsUnits(plan) ? ScheduleKind::ZbH1 : ScheduleKind::OneFOneB;
  unit.chunks = 1;
  unit.cuts.resize(static_cast<size_t>(count - 1));
  std::iota(unit.cuts.begin(), unit.cuts.end(), 1);
  return unit;
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

static int64_t getLeastFactor(int64_t number) {
  for (int64_t factor = 2; factor * factor <= number; ++factor)
    if (number % factor == 0)
      return factor;
  return number;
}

/// The fewest ranks that tell apart those that have parts of state and those that have the same parts. A
/// graph's rows are divided over them.
static NamedAxes makeDataMesh(int64_t rows) {
  auto [replicas, parts] = getStateParts(getAxisName(AxisRole::Batch));
  int64_t ofParts = getLeastFactor(rows), ofReplicas = getLeastFactor(rows / ofParts);
  NamedAxes mesh;
  if (ofReplicas > 1)
    mesh.emplace_back(replicas.str(), ofReplicas);
  mesh.emplace_back(parts.str(), ofParts);
  return mesh;
}

/// Two micro-batches, so that the last one is told apart, through units of all kinds, one behind the other,
/// on ranks that only data parallelism tells apart. Every tensor travels alone: which ones are small is
/// another question on other ranks.
Plan UnitTables::restrictToState(const Plan &plan, bool isSplit) {
  Plan unit = restrictToUnit(plan);
  int64_t rows = isGraph ? plan.getGraphBatch() : 4;
  unit.microBatches = 2;
  unit.batch = rows * unit.microBatches;
  unit.mesh = makeDataMesh(rows);
  unit.cuts.clear();
  unit.schedule = ScheduleKind::OneFOneB;
  if (isSplit) {
    unit.mesh.insert(unit.mesh.begin(), {getAxisName(AxisRole::Pipeline).str(), 2});
    unit.cuts = {1};
    unit.schedule = ScheduleKind::ZbH1;
  }
  unit.sequenceParallel = unit.shardingSearch = false;
  unit.parameterLimit = std::nullopt;
  unit.recompute = RecomputeKind::None;
  unit.recomputeLimit.clear();
  unit.bucketBytes = 0;
  unit.zero = plan.zero;
  unit.zero3Gather = plan.zero3Gather;
  unit.overlap = plan.overlap;
  unit.offload = plan.offload;
  return unit;
}

/// The size below which tensors travel together (`--bucket-bytes`).
static double getBucketBytes(const Plan &plan) {
  return static_cast<double>(plan.bucketBytes.value_or(4 << 20));
}

UnitTables::StateTraits UnitTables::getStateTraits(const Plan &plan, bool isSplit) {
  return {plan.zero, plan.zero3Gather, plan.overlap, plan.offload, isSplit, plan.bucketBytes};
}

/// A schedule may have both.
static void addWholePasses(const StateRows &whole, StateRows &rows) {
  for (const CollectiveRow &row : whole.collectives)
    if (row.action == ActionKind::Backward)
      rows.collectives.push_back(row);
}

const StateRows *UnitTables::getRows(const Plan &plan, bool isSplit) {
  std::optional<StateRows> &made = states.get(getStateTraits(plan, isSplit), [&](auto &rows) {
    if (getKinds(plan).empty())
      return;
    rows = workers.tabulateState(restrictToState(plan, isSplit));
    const StateRows *whole = rows && isSplit ? getRows(plan, /*isSplit=*/false) : nullptr;
    if (whole)
      addWholePasses(*whole, *rows);
    if (rows)
      rows->bucketBytes = getBucketBytes(plan);
  });
  return made ? &*made : nullptr;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Tokens of a micro-batch that are enough for a device to be busy: with more rows none takes less.
static constexpr int64_t kUsualTokens = 1 << 16;
/// By how much tables may be off: tiles of fewer rows may fit better.
static constexpr double kLeastShare = 0.97;
/// Of what tensor parallelism waits for, this much is waited for beside overlap too: at least, and by
/// estimate.
static constexpr double kLeastTensorShare = 0.5, kOverlappedShare = 0.7;

/// Of one rank of a tensor-parallel group, other ranks' collectives do not show.
static bool overlapsTensor(const Plan &plan) { return plan.overlap && plan.countRanks(AxisRole::Tensor) > 1; }

/// A micro-batch of so many times the rows. Whatever is run again, at least what a unit is handed is saved.
static UnitTable scale(UnitTable unit, double times, bool overlap, bool anyRecompute) {
  for (TimeTerms *terms : {&unit.forward, &unit.backward}) {
    TimeTerms before = std::exchange(*terms, TimeTerms());
    terms->add(before, times * kLeastShare);
    if (overlap)
      terms->tensor *= kLeastTensorShare;
  }
  for (double *message : {&unit.handedOn, &unit.handedBack, &unit.received})
    *message *= times;
  unit.saved *= times * kLeastShare;
  if (anyRecompute)
    unit.saved = std::min(unit.saved, unit.handedOn);
  unit.workspace = 0;
  return unit;
}

Plan UnitTables::restrictToLeast(const Plan &plan) {
  Plan unit = restrictToUnit(plan);
  if (!isGraph)
    unit.batch = std::max<int64_t>(1, kUsualTokens / std::max<int64_t>(plan.seq, 1));
  unit.schedule = ScheduleKind::OneFOneB;
  return unit;
}

UnitTables::Traits UnitTables::getTraits(const Plan &plan) {
  return {plan.countRanks(AxisRole::Tensor), plan.sequenceParallel, plan.recompute,
          plan.batch / (plan.microBatches * plan.countRanks(AxisRole::Batch)), plan.overlap};
}

const std::vector<UnitTable> *UnitTables::getLeast(const Plan &plan, bool anyRecompute) {
  Traits traits = getTraits(plan);
  std::optional<std::vector<UnitTable>> &made = least.get({traits, anyRecompute}, [&](auto &scaled) {
    if (getKinds(plan).empty())
      return;
    Plan unit = restrictToLeast(plan);
    const std::vector<UnitTable> *table = getCompiled(unit);
    if (!table)
      return;
    scaled.emplace();
    double times = isGraph ? 1 : static_cast<double>(std::get<3>(traits)) / static_cast<double>(unit.batch);
    for (const UnitTable &known : *table)
      scaled->push_back(scale(known, times, plan.overlap, anyRecompute));
  });
  return made ? &*made : nullptr;
}

const std::vector<UnitTable> *UnitTables::get(const Plan &plan) {
  if (getKinds(plan).empty())
    return nullptr;
  const std::vector<UnitTable> *table = getCompiled(restrictToUnit(plan));
  if (!table || !overlapsTensor(plan))
    return table;
  auto [entry, isNew] = overlapped.try_emplace(table, *table);
  if (isNew)
    for (UnitTable &unit : entry->second)
      for (TimeTerms *terms : {&unit.forward, &unit.backward, &unit.backwardInput, &unit.backwardWeight})
        terms->tensor *= kOverlappedShare;
  return &entry->second;
}

const std::vector<UnitTable> *UnitTables::getExact(const Plan &plan) {
  if (getKinds(plan).empty())
    return nullptr;
  Plan unit = restrictToUnit(plan);
  unit.overlap = overlapsTensor(plan);
  return getCompiled(unit);
}

void UnitTables::expect(const Plan &plan) {
  if (!getKinds(plan).empty())
    workers.expectTable(restrictToUnit(plan));
}

void UnitTables::expectLeast(const Plan &plan) {
  if (getKinds(plan).empty())
    return;
  if (expected.insert(getTraits(plan)).second)
    workers.expectTable(restrictToLeast(plan));
  if (expectedStates.insert(getStateTraits(plan, /*isSplit=*/false)).second)
    workers.expectState(restrictToState(plan, /*isSplit=*/false));
}

const std::vector<UnitTable> *UnitTables::getCompiled(const Plan &unit) {
  const std::optional<std::vector<UnitTable>> &table = workers.tabulate(unit);
  return table ? &*table : nullptr;
}
