//===- ModelDivision.cpp - a model in chunks, and what they take ----------------------------------------===//
#include "par/Planner/ModelDivision.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Cost/StageCuts.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir::par;

static double sum(llvm::ArrayRef<double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

/// Of a micro-batch, forward and back.
static double sumPasses(const UnitTable &unit) {
  return unit.forward.sum() + unit.backward.sum() + unit.backwardInput.sum() + unit.backwardWeight.sum();
}

/// Each kind's part of the time of all, in 1e-12: what only differs in rows is cut alike.
static std::vector<int64_t> getShares(llvm::ArrayRef<double> passes) {
  double total = std::max(sum(passes), std::numeric_limits<double>::min());
  std::vector<int64_t> shares;
  for (double seconds : passes)
    shares.push_back(std::llround(seconds / total * 1e12));
  return shares;
}

const std::vector<int64_t> &ModelDivisions::chooseCuts(const DividedModel &model, int64_t chunks) {
  std::vector<double> passes; // by kind
  for (const UnitTable &kind : model.kinds)
    passes.push_back(sumPasses(kind));
  return cuts.get({getShares(passes), chunks}, [&](std::vector<int64_t> &chosen) {
    std::vector<double> seconds;
    for (int64_t kind : model.units.kinds)
      seconds.push_back(passes[static_cast<size_t>(kind)]);
    chosen = chooseStageCuts(seconds, chunks);
  });
}

//===----------------------------------------------------------------------===//
// Computing and holding of chunks
//===----------------------------------------------------------------------===//

/// So many that are alike, one behind the other.
static void addUnits(const UnitTable &unit, int64_t count, ChunkTable &chunk) {
  auto times = static_cast<double>(count);
  if (chunk.units == 0)
    chunk.handedBack = unit.handedBack;
  chunk.units += count;
  chunk.unitsBack += unit.hasBackward() ? count : 0;
  chunk.handedOn = unit.handedOn;
  chunk.received = unit.received;
  chunk.forward += times * unit.forward.sum();
  chunk.backwardInput += times * (unit.backward.sum() + unit.backwardInput.sum());
  chunk.backwardWeight += times * unit.backwardWeight.sum();
  chunk.saved += times * unit.saved;
  chunk.savedForWeight += times * unit.savedForWeight;
  chunk.handed += times * unit.handed;
  chunk.workspace = std::max(chunk.workspace, unit.workspace);
}

/// Calls `see(kind, first, count, isMoved)` for units of one kind that follow each other, of those from
/// `begin` to `end`. What is neither the model's first nor its last unit may be moved.
template <typename See>
static void visitRuns(llvm::ArrayRef<int64_t> kinds, size_t begin, size_t end, See see) {
  for (size_t unit = begin, next; unit < end; unit = next) {
    for (next = unit + 1; next < end && kinds[next] == kinds[unit];)
      ++next;
    bool isMoved = next - unit > static_cast<size_t>((unit == 0) + (next == kinds.size()));
    see(static_cast<size_t>(kinds[unit]), unit, static_cast<int64_t>(next - unit), isMoved);
  }
}

/// Calls `see(begin, end, isLikeLast)` for every chunk.
template <typename See>
static void visitChunks(llvm::ArrayRef<int64_t> kinds, llvm::ArrayRef<int64_t> cuts, See see) {
  llvm::ArrayRef<int64_t> before;
  for (size_t at = 0; at <= cuts.size(); ++at) {
    auto begin = static_cast<size_t>(at == 0 ? 0 : cuts[at - 1]);
    auto end = at < cuts.size() ? static_cast<size_t>(cuts[at]) : kinds.size();
    llvm::ArrayRef<int64_t> part = kinds.slice(begin, end - begin);
    see(begin, end, at > 0 && part == before);
    before = part;
  }
}

const ModelDivision &ModelDivisions::get(const DividedModel &model, const MeshRanks &ranks, int64_t chunks,
                                         const std::vector<int64_t> &given) {
  auto kinds = static_cast<int64_t>(reinterpret_cast<intptr_t>(&model.kinds));
  return divisions.get({{kinds, ranks.stages, chunks, ranks.all}, given}, [&](ModelDivision &division) {
    division.cuts = given.empty() && chunks > 1 ? chooseCuts(model, chunks) : given;
    division.number = cutNumbers.get(division.cuts, [&](int64_t &next) { next = ++numbered; });
    int64_t concurrent = std::min(ranks.all / ranks.stages, cluster.nodeRanks);
    ChunkTable chunk;
    visitChunks(model.units.kinds, division.cuts, [&](size_t begin, size_t end, bool isLikeLast) {
      double input = begin > 0 ? chunk.handedOn : 0;
      if (isLikeLast && chunk.input == input)
        return division.chunks.repeatLast();
      chunk = ChunkTable();
      visitRuns(model.units.kinds, begin, end, [&](size_t kind, size_t, int64_t count, bool isMoved) {
        addUnits(model.kinds[kind], count, chunk);
        if (isMoved)
          chunk.savedMoved = std::max(chunk.savedMoved, model.kinds[kind].saved);
      });
      chunk.input = input;
      chunk.transfer = getMessageSeconds(chunk.handedOn, ranks.all, concurrent, cluster);
      division.chunks.add(chunk);
    });
  });
}

//===----------------------------------------------------------------------===//
// State of kinds of units
//===----------------------------------------------------------------------===//

/// What collectives make or take whole while an action runs: parameters that are gathered, and gradients that
/// are still to be scattered.
static void addWhole(const StateRows &rows, KindState &sums) {
  double forward = 0, backward = 0, input = 0;
  for (auto [row, sum] : llvm::zip(rows.collectives, sums.all.exchanged)) {
    double bytes = sum.bytes * row.perByte;
    if (row.kind == CollectiveKind::AllGather && row.action == ActionKind::Forward)
      forward += bytes;
    else if (row.kind == CollectiveKind::AllGather && row.action == ActionKind::Backward)
      backward += bytes;
    else if (row.kind == CollectiveKind::AllGather && row.action == ActionKind::BackwardInput)
      input += bytes;
    else if (row.kind == CollectiveKind::ReduceScatter && row.action == ActionKind::Backward)
      sums.reduced += bytes;
    else if (row.kind == CollectiveKind::ReduceScatter && row.action == ActionKind::BackwardInput)
      sums.reducedInput += bytes;
    else if (row.kind == CollectiveKind::ReduceScatter && row.action == ActionKind::BackwardWeight)
      sums.reducedWeight += bytes;
  }
  sums.gathered = std::max({forward, backward, input});
}

/// `shared`: names of variables that another unit may read. What an update takes of a variable is its part of
/// the bytes.
static KindState sumKind(const UnitTable &kind, const std::set<std::string> &shared, const StateRows &rows,
                         const StateSummer &summer) {
  KindState sums;
  double updated = 0;
  std::vector<const VariableTable *> all, own;
  for (const VariableTable &variable : kind.variables)
    updated += variable.isTrained ? variable.bytes : 0;
  double update = updated > 0 ? kind.update.sum() / updated : 0; // per byte
  for (const VariableTable &variable : kind.variables) {
    all.push_back(&variable);
    if (shared.count(variable.name))
      sums.shared[variable.name] = summer.sum({&variable}, update);
    else
      own.push_back(&variable);
  }
  sums.own = summer.sum(own, update);
  sums.all = shared.empty() ? sums.own : summer.sum(all, update);
  addWhole(rows, sums);
  return sums;
}

static std::vector<KindState> sumKinds(const DividedModel &model, const StateSummer &summer) {
  std::vector<KindState> sums;
  std::vector<std::set<std::string>> shared(model.kinds.size());
  for (auto [kind, variables] : llvm::zip(model.units.kinds, model.units.shared))
    for (const SharedVariable &variable : variables)
      shared[static_cast<size_t>(kind)].insert(variable.like);
  for (auto [kind, names] : llvm::zip(model.kinds, shared))
    sums.push_back(sumKind(kind, names, model.rows, summer));
  return sums;
}

//===----------------------------------------------------------------------===//
// State of chunks
//===----------------------------------------------------------------------===//

namespace {
/// Adds up units to chunks.
class StateAdder {
public:
  StateAdder(const DividedModel &model, llvm::ArrayRef<KindState> sums, const StateSummer &summer)
      : units(model.units), rows(model.rows), sums(sums), summer(summer),
        gathersAhead(rows.starts(CollectiveKind::AllGather,
                                 {ActionKind::Forward, ActionKind::Backward, ActionKind::BackwardInput})),
        reducesBehind(
            rows.starts(CollectiveKind::ReduceScatter, {ActionKind::Backward, ActionKind::BackwardWeight})),
        startsAny(llvm::any_of(rows.collectives, [](const CollectiveRow &row) { return row.isStarted; })) {}

  void run(llvm::ArrayRef<int64_t> cuts, ChunkStates &chunks) const;

private:
  ChunkState sumChunk(size_t begin, size_t end) const;
  void addUnits(const KindState &kind, int64_t count, ChunkState &chunk) const;
  void addWhole(const KindState &kind, const KindState *before, int64_t count, ChunkState &chunk) const;
  void addShared(size_t unit, ChunkState &chunk) const;
  void joinExchanges(ChunkState &chunk) const;

  const FoldedUnits &units;
  const StateRows &rows;
  const llvm::ArrayRef<KindState> sums;
  const StateSummer &summer;
  const bool gathersAhead, reducesBehind, startsAny;
};
} // namespace

void StateAdder::addUnits(const KindState &kind, int64_t count, ChunkState &chunk) const {
  auto times = static_cast<double>(count);
  chunk.own.add(kind.own, count);
  chunk.exchanged.resize(kind.all.exchanged.size());
  for (auto [sum, more] : llvm::zip(chunk.exchanged, kind.all.exchanged)) {
    sum.bytes += times * more.bytes;
    sum.seconds += times * more.seconds;
  }
  chunk.largest.raise({kind.all.device, kind.all.host});
}

/// What may lie whole of one of them, or of two of which one is the last of `before`, if there is any.
void StateAdder::addWhole(const KindState &kind, const KindState *before, int64_t count,
                          ChunkState &chunk) const {
  auto add = [&](double KindState::*bytes, bool isBeside, double &most) {
    double other = isBeside && count > 1 ? kind.*bytes : 0;
    if (isBeside && before)
      other = std::max(other, before->*bytes);
    most = std::max(most, kind.*bytes + other);
  };
  add(&KindState::gathered, gathersAhead, chunk.gathered);
  add(&KindState::reduced, reducesBehind, chunk.reduced);
  add(&KindState::reducedInput, reducesBehind, chunk.reducedInput);
  add(&KindState::reducedWeight, reducesBehind, chunk.reducedWeight);
}

/// Of several units that read a variable the first one counts.
void StateAdder::addShared(size_t unit, ChunkState &chunk) const {
  const KindState &kind = sums[static_cast<size_t>(units.kinds[unit])];
  for (const SharedVariable &variable : units.shared[unit])
    if (llvm::none_of(chunk.shared, [&](auto &known) { return known.number == variable.number; }))
      chunk.shared.push_back({variable.number, kind.shared.lookup(variable.like)});
}

/// What is not begun beside other units travels together with theirs, as far as it is small.
void StateAdder::joinExchanges(ChunkState &chunk) const {
  double largest = 0;
  for (const ExchangeSum &sum : chunk.exchanged)
    largest = std::max(largest, sum.bytes);
  if (startsAny || largest >= rows.bucketBytes)
    return;
  StateTable each;
  each.exchanged = chunk.exchanged;
  summer.join(each);
  chunk.exchanged = each.exchanged;
  summer.join(chunk.own);
  for (SharedState &variable : chunk.shared) { // what it takes beside the others
    StateTable with = StageVariables().add(chunk.own, variable);
    summer.join(with);
    for (auto [own, joined, all] : llvm::zip(variable.state.exchanged, chunk.own.exchanged, with.exchanged))
      own.seconds = all.seconds - joined.seconds;
  }
}

ChunkState StateAdder::sumChunk(size_t begin, size_t end) const {
  ChunkState chunk;
  const KindState *before = nullptr;
  visitRuns(units.kinds, begin, end, [&](size_t number, size_t first, int64_t count, bool isMoved) {
    const KindState &kind = sums[number];
    addUnits(kind, count, chunk);
    addWhole(kind, std::exchange(before, &kind), count, chunk);
    if (isMoved)
      chunk.moved.raise({kind.all.device, kind.all.host});
    for (size_t each = first; each < first + static_cast<size_t>(count); ++each)
      addShared(each, chunk);
  });
  joinExchanges(chunk);
  return chunk;
}

/// What chunks share with others, they may share with different ones.
void StateAdder::run(llvm::ArrayRef<int64_t> cuts, ChunkStates &chunks) const {
  bool hasShared = false; // the last one
  visitChunks(units.kinds, cuts, [&](size_t begin, size_t end, bool isLikeLast) {
    if (isLikeLast && !hasShared)
      return chunks.repeatLast();
    ChunkState chunk = sumChunk(begin, end);
    hasShared = !chunk.shared.empty();
    chunks.add(std::move(chunk));
  });
}

int64_t ModelDivisions::numberVariables(const std::vector<UnitTable> &kinds) {
  return variables.get(&kinds, [&](int64_t &number) {
    std::vector<double> sizes;
    for (const UnitTable &kind : kinds) {
      sizes.push_back(kind.update.sum());
      for (const VariableTable &variable : kind.variables)
        sizes.push_back(variable.bytes);
    }
    number = variableNumbers.get(sizes, [&](int64_t &next) { next = ++numbered; });
  });
}

const ChunkStates &ModelDivisions::getStates(const DividedModel &model, const MeshRanks &ranks,
                                             const ModelDivision &division, bool anyGroup) {
  auto rows = static_cast<int64_t>(reinterpret_cast<intptr_t>(&model.rows));
  StateKey key{numberVariables(model.kinds), rows, ranks.stages, ranks.data, ranks.tensor,
               anyGroup ? 0 : ranks.parts,   0};
  StateKey ofCuts = key;
  ofCuts.back() = division.number;
  StateSummer summer(model.rows, ranks, anyGroup, cluster, times);
  return states.get(ofCuts, [&](ChunkStates &chunks) {
    const std::vector<KindState> &kinds =
        kindStates.get(key, [&](std::vector<KindState> &sums) { sums = sumKinds(model, summer); });
    StateAdder(model, kinds, summer).run(division.cuts, chunks);
  });
}
