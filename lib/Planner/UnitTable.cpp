//===- UnitTable.cpp - what a layer of a model takes ----------------------------------------------------===//
#include "par/Planner/UnitTable.h"
#include "par/Cost/ProgramTimes.h"
#include "par/Dialect/Rank/Analysis/StepLists.h"

using namespace mlir;
using namespace mlir::par;

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
/// the first part made or received. Returns bytes of the received ones.
static double addSplit(ArrayRef<rank::EntryOpInterface> entries, UnitTable &table) {
  DenseSet<Value> made, received;
  double kept = 0;
  for (rank::EntryOpInterface entry : entries) {
    ActionKind kind = entry.getAction().kind;
    auto action = dyn_cast<rank::ActionOp>(*entry);
    if (kind == ActionKind::BackwardInput)
      made.insert(action.getOuts().begin(), action.getOuts().end());
    else if (kind == ActionKind::ReceiveGradient)
      received.insert(entry->getOperands().begin(), entry->getOperands().end());
    if (kind != ActionKind::BackwardWeight && kind != ActionKind::BackwardWeightLast)
      continue;
    for (Value buffer : DenseSet<Value>(action.getIns().begin(), action.getIns().end())) {
      auto slot = buffer.getDefiningOp<rank::SlotOp>();
      if (!slot || slot.getKind() != rank::SlotKind::Residual)
        continue;
      auto bytes = static_cast<double>(rank::getBytes(buffer));
      bool isReceived = received.contains(buffer);
      (isReceived || made.contains(buffer) ? table.handed : table.savedForWeight) += bytes;
      kept += isReceived ? bytes : 0;
    }
  }
  return kept;
}

/// The parameters among its slots. Returns bytes of all that a step stores of variables.
static double addVariables(rank::ScheduleOp train, UnitTable &table) {
  auto module = train->getParentOfType<ModuleOp>();
  double stored = 0;
  for (auto slot : train.getBody().getOps<rank::SlotOp>()) {
    auto variable = module.lookupSymbol<VariableOp>(slot.getName());
    if (slot.getKind() != rank::SlotKind::Variable || !variable)
      continue;
    auto bytes = static_cast<double>(rank::getBytes(slot.getBuffer()));
    if (slot.getCategory() == rank::Category::Parameters)
      table.variables.push_back({variable.getSymName().str(), bytes, variable.isTrained()});
    if (llvm::is_contained({rank::Category::Parameters, rank::Category::Gradients, rank::Category::Optimizer},
                           slot.getCategory()))
      stored += bytes;
  }
  return stored;
}

/// `messages`: bytes of what the stage sends, and of the gradient that it receives, unless that is kept for
/// the second part of the backward pass.
static void addBytes(rank::ScheduleOp train, double messages, UnitTable &table) {
  DictionaryAttr arena = train.getArenaBytesAttr();
  auto get = [&](rank::Category category) {
    auto bytes = arena ? arena.getAs<IntegerAttr>(rank::stringifyCategory(category)) : IntegerAttr();
    return bytes ? static_cast<double>(bytes.getInt()) : 0.0;
  };
  table.saved = get(rank::Category::Activations);
  // Messages have places of their own; where units are neighbours on a stage, none is sent.
  table.saved -= messages;
  table.saved -= std::min(table.saved, table.savedForWeight + table.handed);
  table.workspace = static_cast<double>(train.getPeakBytes().value_or(0)) - get(rank::Category::Activations) -
                    addVariables(train, table);
}

/// Without what ranks of data parallelism exchange, which depends on the plan, not on the unit; and without
/// the sum of squares over ranks, of which there is one for all units.
static TimeTerms measure(ProgramTimes &times, rank::EntryOpInterface entry, ActionKind kind) {
  TimeTerms terms = times.measure(entry);
  terms.data = 0;
  if (kind == ActionKind::Norm)
    terms.tensor = 0;
  return terms;
}

std::optional<std::vector<UnitTable>> par::tabulateUnits(ModuleOp module, const Cluster &cluster) {
  FailureOr<rank::StepLists> step = rank::StepLists::read(module, rank::Purpose::Train);
  if (failed(step))
    return std::nullopt;
  ClusterMachine machine(cluster, getMesh(module));
  ProgramTimes times(module, machine);
  std::vector<UnitTable> units(step->stages.size());
  for (auto [table, train, entries] : llvm::zip(units, step->stages, step->entries)) {
    double messages = 0;
    for (rank::EntryOpInterface entry : entries) {
      ActionKind kind = entry.getAction().kind;
      if (TimeTerms *terms = findTerms(kind, table))
        terms->add(measure(times, entry, kind));
      auto exchange = dyn_cast<rank::ExchangeOp>(*entry);
      double bytes = exchange ? describeExchange(exchange, getMesh(module)).bytes : 0;
      if (kind == ActionKind::SendActivation)
        table.handedOn = bytes;
      if (kind == ActionKind::SendGradient)
        table.handedBack = bytes;
      if (kind == ActionKind::ReceiveGradient)
        table.received = bytes;
      if (llvm::is_contained(
              {ActionKind::SendActivation, ActionKind::SendGradient, ActionKind::ReceiveGradient}, kind))
        messages += bytes;
    }
    double kept = addSplit(entries, table);
    table.received -= std::min(kept, table.received);
    addBytes(train, messages - kept, table);
  }
  return units;
}
