//===- UnitTables.cpp - what the layers of a model take, kind by kind -----------------------------------===//
#include "par/Planner/UnitTables.h"
#include "par/Cost/ProgramTimes.h"
#include "par/Dialect/Rank/Analysis/StepLists.h"
#include "par/Planner/FoldUnits.h"

#include <numeric>

using namespace mlir;
using namespace mlir::par;

UnitTables::UnitTables(MLIRContext &context, const Cluster &cluster, PlanTrials::Import import)
    : cluster(cluster), import(std::move(import)),
      trials(context, CompilePhase::Import, [this](const Plan &plan) {
        OwningOpRef<ModuleOp> module = this->import(plan);
        if (module)
          kinds = foldUnits(*module);
        return module;
      }) {}

const std::vector<int64_t> &UnitTables::getKinds(const Plan &plan) {
  if (kinds.empty())
    if (OwningOpRef<ModuleOp> module = import(plan))
      kinds = foldUnits(*module);
  return kinds;
}

/// One micro-batch through a stage for each kind, on ranks that only tensor parallelism tells apart.
Plan UnitTables::restrictToUnit(const Plan &plan) const {
  Plan unit = plan;
  int64_t count = 1 + *std::max_element(kinds.begin(), kinds.end());
  unit.mesh = {{kPipelineAxis.str(), count}, {"dp", 1}, {"tp", plan.getAxis("tp")}};
  unit.batch =
      plan.batch / (plan.microBatches * (plan.countRanks() / plan.countStages() / plan.getAxis("tp")));
  unit.microBatches = 1;
  unit.zero = 0;
  unit.zero3Gather = GatherTime::PerMicroBatch;
  unit.overlap = false;
  unit.prefetchLimit = std::nullopt;
  unit.offload = OffloadKind::None;
  bool isSplit = splitsBackward(plan.schedule) && plan.countStages() > 1;
  unit.schedule = isSplit && count > 1 ? ScheduleKind::ZbH1 : ScheduleKind::OneFOneB;
  unit.chunks = 1;
  unit.cuts.resize(static_cast<size_t>(count - 1));
  std::iota(unit.cuts.begin(), unit.cuts.end(), 1);
  return unit;
}

/// Where the terms of an entry count; null: nowhere.
static TimeTerms *findTerms(ActionKind kind, UnitTable &table) {
  switch (kind) {
  case ActionKind::Forward:
    return &table.forward;
  case ActionKind::Backward:
  case ActionKind::BackwardLast:
    return &table.backward;
  case ActionKind::BackwardInput:
    return &table.backwardInput;
  case ActionKind::BackwardWeight:
  case ActionKind::BackwardWeightLast:
    return &table.backwardWeight;
  case ActionKind::Reduce:
  case ActionKind::Norm:
  case ActionKind::Update:
    return &table.update;
  default:
    return nullptr;
  }
}

/// Of the values that the second part of a backward pass reads: those that were saved before, and those that
/// the first part made or received.
static void addSplit(ArrayRef<rank::EntryOpInterface> entries, UnitTable &table) {
  DenseSet<Value> made;
  for (rank::EntryOpInterface entry : entries) {
    ActionKind kind = entry.getAction().kind;
    auto action = dyn_cast<rank::ActionOp>(*entry);
    if (kind == ActionKind::BackwardInput)
      made.insert(action.getOuts().begin(), action.getOuts().end());
    else if (kind == ActionKind::ReceiveGradient)
      made.insert(entry->getOperands().begin(), entry->getOperands().end());
    if (kind != ActionKind::BackwardWeight && kind != ActionKind::BackwardWeightLast)
      continue;
    for (Value buffer : DenseSet<Value>(action.getIns().begin(), action.getIns().end())) {
      auto slot = buffer.getDefiningOp<rank::SlotOp>();
      if (slot && slot.getKind() == rank::SlotKind::Residual)
        (made.contains(buffer) ? table.handed : table.savedForWeight) +=
            static_cast<double>(rank::getBytes(buffer));
    }
  }
}

/// `messages`: bytes of what the stage sends, and of the gradient that it receives.
static void addBytes(rank::ScheduleOp train, double messages, UnitTable &table) {
  DictionaryAttr arena = train.getArenaBytesAttr();
  auto get = [&](rank::Category category) {
    auto bytes = arena ? arena.getAs<IntegerAttr>(rank::stringifyCategory(category)) : IntegerAttr();
    return bytes ? static_cast<double>(bytes.getInt()) : 0.0;
  };
  table.parameters = get(rank::Category::Parameters);
  table.gradients = get(rank::Category::Gradients);
  table.optimizer = get(rank::Category::Optimizer);
  table.saved = get(rank::Category::Activations);
  for (auto slot : train.getBody().getOps<rank::SlotOp>())
    if (slot.getKind() == rank::SlotKind::Variable && slot.getCategory() == rank::Category::Parameters)
      table.tensors.push_back(static_cast<double>(rank::getBytes(slot.getBuffer())));
  // Messages have places of their own; where units are neighbours on a stage, none is sent.
  table.saved -= messages;
  table.saved -= std::min(table.saved, table.savedForWeight + table.handed);
  table.workspace = static_cast<double>(train.getPeakBytes().value_or(0)) - table.parameters -
                    table.gradients - table.optimizer - get(rank::Category::Activations);
}

std::optional<std::vector<UnitTable>> UnitTables::compile(const Plan &unit) {
  OwningOpRef<ModuleOp> module = trials.compile(unit);
  if (!module)
    return std::nullopt;
  FailureOr<rank::StepLists> step = rank::StepLists::read(*module, rank::Purpose::Train);
  if (failed(step))
    return std::nullopt;
  ClusterMachine machine(cluster, getMesh(*module));
  ProgramTimes times(*module, machine);
  std::vector<UnitTable> units(step->stages.size());
  for (auto [table, train, entries] : llvm::zip(units, step->stages, step->entries)) {
    double messages = 0;
    for (rank::EntryOpInterface entry : entries) {
      ActionKind kind = entry.getAction().kind;
      if (TimeTerms *terms = findTerms(kind, table))
        terms->add(times.measure(entry));
      auto exchange = dyn_cast<rank::ExchangeOp>(*entry);
      double bytes = exchange ? describeExchange(exchange, getMesh(*module)).bytes : 0;
      if (kind == ActionKind::SendActivation)
        table.handedOn = bytes;
      if (llvm::is_contained(
              {ActionKind::SendActivation, ActionKind::SendGradient, ActionKind::ReceiveGradient}, kind))
        messages += bytes;
    }
    addSplit(entries, table);
    addBytes(train, messages, table);
  }
  return units;
}

const std::vector<UnitTable> *UnitTables::get(const Plan &plan) {
  return getKinds(plan).empty() ? nullptr : getCompiled(restrictToUnit(plan));
}

/// Tokens of a micro-batch that are enough for a device to be busy: with more rows none takes less.
static constexpr int64_t kUsualTokens = 1 << 16;
/// By how much tables may be off: tiles of fewer rows may fit better.
static constexpr double kLeastShare = 0.97;

/// A micro-batch of so many times the rows. What is run again saves at least what a unit is handed.
static UnitTable scale(UnitTable unit, double times) {
  for (TimeTerms *terms : {&unit.forward, &unit.backward}) {
    TimeTerms before = std::exchange(*terms, TimeTerms());
    terms->add(before, times * kLeastShare);
  }
  unit.handedOn *= times;
  unit.saved = std::min(unit.saved * times, unit.handedOn);
  unit.workspace = 0;
  return unit;
}

const std::vector<UnitTable> *UnitTables::getLeast(const Plan &plan) {
  if (getKinds(plan).empty())
    return nullptr;
  Plan unit = restrictToUnit(plan);
  int64_t rows = unit.batch;
  unit.batch = std::max<int64_t>(1, kUsualTokens / std::max<int64_t>(plan.seq, 1));
  unit.recompute = RecomputeKind::None;
  unit.schedule = ScheduleKind::OneFOneB;
  const std::vector<UnitTable> *table = getCompiled(unit);
  if (!table)
    return nullptr;
  auto [entry, isNew] = least.try_emplace({table, rows});
  if (isNew)
    for (const UnitTable &known : *table)
      entry->second.push_back(scale(known, static_cast<double>(rows) / static_cast<double>(unit.batch)));
  return &entry->second;
}

const std::vector<UnitTable> *UnitTables::getCompiled(const Plan &unit) {
  auto [entry, isNew] = tables.try_emplace(unit);
  if (isNew)
    entry->second = compile(unit);
  return entry->second ? &*entry->second : nullptr;
}
