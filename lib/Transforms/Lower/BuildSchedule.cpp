//===- BuildSchedule.cpp - slots and actions of the schedules
//-----------------------------------------------===//
#include "ToRank.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Inputs that have a value per micro-batch; all others have one per step.
bool isPerMicroBatch(StringRef input) {
  return input == "tokens" || input == "targets" || input == "micro_batch";
}

/// What the runtime supplies (docs/IR.md).
bool isKnownInput(StringRef input) {
  static constexpr llvm::StringLiteral known[] = {
      "tokens", "targets", "dropout_key", "micro_batch",  "step", "beta",  "loss_scale", "lr",
      "beta1",  "beta2",   "eps",         "weight_decay", "clip", "bias1", "bias2"};
  return llvm::is_contained(known, input);
}

rank::Category getCategory(VariableOp variable) {
  // The loss, which is summed up as gradients are: no bytes of theirs.
  if (variable.getRole() == Role::Accumulator && !variable.getOf())
    return rank::Category::Workspace;
  switch (variable.getRole()) {
  case Role::Parameter:
    return rank::Category::Parameters;
  case Role::Accumulator:
  case Role::Gradient:
    return rank::Category::Gradients;
  case Role::Moment:
  case Role::Master:
    return rank::Category::Optimizer;
  case Role::Gathered:
    return rank::Category::Communication;
  case Role::Step:
    return rank::Category::Workspace;
  }
  return rank::Category::Workspace;
}

/// What a schedule runs, by the phases of functions.
struct SchedulePhases {
  StringRef name;
  SmallVector<StringRef> before, perMicroBatch, perStep;
  bool reducesInLast = false; ///< the last micro-batch's backward function reduces (par-fuse-reduction)
};

class ScheduleBuilder {
public:
  ScheduleBuilder(ModuleOp module, SchedulePhases phases, int64_t microBatches)
      : module(module), phases(std::move(phases)), microBatches(microBatches), symbols(module),
        builder(module.getContext()) {}

  LogicalResult run() {
    builder.setInsertionPointToEnd(module.getBody());
    auto schedule =
        builder.create<rank::ScheduleOp>(module.getLoc(), phases.name, nullptr, nullptr, nullptr, nullptr);
    builder.createBlock(&schedule.getBody());
    slots = builder.create<rank::ReturnOp>(module.getLoc(), nullptr);
    for (StringRef phase : phases.before)
      if (failed(addActions(phase, -1)))
        return failure();
    for (int64_t microBatch = 0; microBatch < microBatches; ++microBatch)
      for (StringRef phase : phases.perMicroBatch) {
        bool isLast = phase == "backward" && phases.reducesInLast && microBatch == microBatches - 1;
        if (failed(addActions(isLast ? "backward_last" : phase, microBatch)))
          return failure();
      }
    for (StringRef phase : phases.perStep)
      if (failed(addActions(phase, -1)))
        return failure();
    builder.setInsertionPointToEnd(slots->getBlock());
    auto exit = builder.create<rank::ReturnOp>(module.getLoc(), nullptr);
    slots->erase();
    numberValues(schedule, exit);
    return success();
  }

private:
  LogicalResult addActions(StringRef phase, int64_t microBatch) {
    bool found = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      auto name = function->getAttrOfType<StringAttr>(ParDialect::kPhaseAttr);
      if (!name || name != phase)
        continue;
      found = true;
      if (failed(addAction(function, phase, microBatch)))
        return failure();
    }
    if (!found && phase != "norm" && phase != "gather")
      return module.emitError("par-to-rank: no function of phase ")
             << phase << "; par-differentiate-pipeline writes them";
    return success();
  }

  LogicalResult addAction(func::FuncOp function, StringRef phase, int64_t microBatch) {
    SmallVector<Value> buffers;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
      FailureOr<Value> slot = getArgumentSlot(function, argument, microBatch);
      if (failed(slot))
        return failure();
      buffers.push_back(*slot);
    }
    for (unsigned result = 0; result < function.getNumResults(); ++result) {
      FailureOr<Value> slot = getResultSlot(function, result, microBatch);
      if (failed(slot))
        return failure();
      buffers.push_back(*slot);
    }
    auto chunk = function->getAttrOfType<IntegerAttr>(ParDialect::kChunkAttr);
    Value frame = makeSlot(rank::SlotKind::Frame, phase, rank::Category::Workspace, nullptr);
    builder.setInsertionPointToEnd(slots->getBlock());
    ArrayRef<Value> both = buffers;
    builder.create<rank::ActionOp>(function.getLoc(), phase, function.getSymName(), frame,
                                   both.take_front(function.getNumArguments()),
                                   both.drop_front(function.getNumArguments()), chunk ? chunk.getInt() : 0,
                                   microBatch, nullptr, nullptr);
    return success();
  }

  /// Says which value every action reads from a slot and writes to it, and what the runtime finds at the end.
  void numberValues(rank::ScheduleOp schedule, rank::ReturnOp exit) {
    llvm::DenseMap<Value, int64_t> now;
    int64_t next = 0;
    for (auto slot : schedule.getOps<rank::SlotOp>())
      now[slot.getBuffer()] = next++;
    for (auto action : schedule.getOps<rank::ActionOp>()) {
      SmallVector<int64_t> reads, writes;
      for (Value slot : action.getIns())
        reads.push_back(now.lookup(slot));
      for (Value slot : action.getOuts())
        writes.push_back(now[slot] = next++);
      action.setReads(reads);
      action.setWrites(writes);
    }
    SmallVector<int64_t> values;
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      bool isKept = slot.getKind() == rank::SlotKind::Variable || slot.getKind() == rank::SlotKind::Output;
      values.push_back(isKept ? now.lookup(slot.getBuffer()) : -1);
    }
    exit.setValues(values);
  }

  FailureOr<Value> getArgumentSlot(func::FuncOp function, unsigned argument, int64_t microBatch) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
    if (auto bind = function.getArgAttrOfType<FlatSymbolRefAttr>(argument, ParDialect::kBindAttr))
      return getVariableSlot(bind.getValue(), type);
    if (auto residual = function.getArgAttrOfType<IntegerAttr>(argument, ParDialect::kResidualAttr))
      return getResidualSlot(function, residual.getInt(), type);
    auto input = function.getArgAttrOfType<StringAttr>(argument, ParDialect::kInputAttr);
    if (!input)
      return function.emitError("par-to-rank: argument ")
             << argument << " has no par.bind, par.input or par.residual";
    if (!isKnownInput(input))
      return function.emitError("par-to-rank: argument ")
             << argument << " has par.input = " << input
             << ", which the runtime does not supply (docs/IR.md lists what it does)";
    if (input == "beta")
      return getConstantSlot(type, microBatch > 0 ? 1.0 : 0.0);
    return getRuntimeSlot(rank::SlotKind::Input, input, type, isPerMicroBatch(input) ? microBatch : -1,
                          function.getArgAttrOfType<TypeAttr>(argument, ParDialect::kGlobalTypeAttr),
                          function.getArgAttr(argument, ParDialect::kShardingAttr));
  }

  FailureOr<Value> getResultSlot(func::FuncOp function, unsigned result, int64_t microBatch) {
    auto type = cast<RankedTensorType>(function.getResultTypes()[result]);
    auto output = function.getResultAttrOfType<StringAttr>(result, ParDialect::kOutputAttr);
    if (auto bind = function.getResultAttrOfType<FlatSymbolRefAttr>(result, ParDialect::kBindAttr)) {
      Value slot = getVariableSlot(bind.getValue(), type);
      if (output)
        slot.getDefiningOp<rank::SlotOp>().setOutputAttr(output);
      return slot;
    }
    if (auto residual = function.getResultAttrOfType<IntegerAttr>(result, ParDialect::kResidualAttr))
      return getResidualSlot(function, residual.getInt(), type);
    if (!output)
      return function.emitError("par-to-rank: result ")
             << result << " has no par.bind, par.output or par.residual";
    return getRuntimeSlot(rank::SlotKind::Output, output, type, microBatch,
                          function.getResultAttrOfType<TypeAttr>(result, ParDialect::kGlobalTypeAttr),
                          function.getResultAttr(result, ParDialect::kShardingAttr));
  }

  /// What the manifest says of an input or output: its logical shape and how it is split.
  static void describe(Value slot, RankedTensorType type, TypeAttr global, Attribute sharding) {
    auto op = slot.getDefiningOp<rank::SlotOp>();
    op.setGlobalTypeAttr(global ? global : TypeAttr::get(type));
    if (sharding)
      op.setShardingAttr(sharding);
  }

  Value getVariableSlot(StringRef name, RankedTensorType type) {
    auto variable = symbols.lookup<VariableOp>(name);
    auto owner = variable.getAlias() ? symbols.lookup<VariableOp>(*variable.getAlias()) : VariableOp();
    if (owner && isStoredAlike(variable, owner))
      if (auto shared = known.find("variable " + variable.getAlias()->str());
          shared != known.end() && slotType(shared->second) == type) {
        Value &slot = known["variable " + name.str()];
        if (!slot) {
          slot = shared->second;
          addAlias(slot, name);
        }
        return slot;
      }
    Value &slot = known["variable " + name.str()];
    // A gathered copy means nothing between steps: its memory is others' when the last backward is over.
    bool isKept = variable.getRole() != Role::Gathered;
    if (!slot)
      slot = makeSlot(isKept ? rank::SlotKind::Variable : rank::SlotKind::Residual, name,
                      getCategory(variable), type,
                      variable.getSpace() == MemorySpace::Host ? rank::Space::Pinned : rank::Space::Device);
    return slot;
  }

  static Type slotType(Value slot) { return slot.getDefiningOp<rank::SlotOp>().getTensor().value_or(Type()); }

  /// `also` lists the variables that live in a slot beside the one it is named after.
  void addAlias(Value slot, StringRef name) {
    auto op = slot.getDefiningOp<rank::SlotOp>();
    SmallVector<Attribute> names;
    if (ArrayAttr also = op.getAlsoAttr())
      names.assign(also.begin(), also.end());
    names.push_back(builder.getStringAttr(name));
    op.setAlsoAttr(builder.getArrayAttr(names));
  }

  Value getResidualSlot(func::FuncOp function, int64_t number, RankedTensorType type) {
    auto chunk = function->getAttrOfType<IntegerAttr>(ParDialect::kChunkAttr);
    std::string name = std::to_string(chunk ? chunk.getInt() : 0) + "." + std::to_string(number);
    Value &slot = known["residual " + name];
    if (!slot)
      slot = makeSlot(rank::SlotKind::Residual, name, rank::Category::Activations, type);
    return slot;
  }

  Value getConstantSlot(RankedTensorType type, double value) {
    Value &slot = known["constant " + std::to_string(value)];
    if (!slot) {
      slot = makeSlot(rank::SlotKind::Constant, "beta", rank::Category::Workspace, type);
      slot.getDefiningOp<rank::SlotOp>().setValueAttr(builder.getF32FloatAttr(static_cast<float>(value)));
    }
    return slot;
  }

  /// An input or output of the runtime.
  Value getRuntimeSlot(rank::SlotKind kind, StringRef name, RankedTensorType type, int64_t microBatch,
                       TypeAttr global, Attribute sharding) {
    Value &slot = known[(rank::stringifySlotKind(kind) + " " + name + " " + Twine(microBatch)).str()];
    if (slot)
      return slot;
    slot = makeSlot(kind, name, rank::Category::Workspace, type);
    slot.getDefiningOp<rank::SlotOp>().setMicroBatch(microBatch);
    describe(slot, type, global, sharding);
    return slot;
  }

  Value makeSlot(rank::SlotKind kind, StringRef name, rank::Category category, RankedTensorType type,
                 rank::Space space = rank::Space::Device) {
    builder.setInsertionPoint(slots);
    auto buffer = rank::BufferType::get(module.getContext(), type ? rank::getBytes(type) : 0, space);
    return builder.create<rank::SlotOp>(module.getLoc(), buffer, kind, name, category,
                                        type ? TypeAttr::get(type) : TypeAttr(), -1, nullptr, nullptr,
                                        nullptr, nullptr, nullptr, nullptr);
  }

  ModuleOp module;
  SchedulePhases phases;
  int64_t microBatches;
  SymbolTable symbols;
  OpBuilder builder;
  Operation *slots = nullptr; ///< marks where slots end and actions begin
  std::map<std::string, Value> known;
};
} // namespace

static bool hasPhase(ModuleOp module, StringRef phase) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
    auto name = function->getAttrOfType<StringAttr>(ParDialect::kPhaseAttr);
    return name && name == phase;
  });
}

LogicalResult par::buildSchedules(ModuleOp module, int64_t microBatches) {
  SchedulePhases train{"train", {"gather"}, {"forward", "backward"}, {"reduce", "norm", "update"}};
  if (hasPhase(module, "backward_last")) {
    train.reducesInLast = true;
    llvm::erase(train.perStep, "reduce");
  }
  if (failed(ScheduleBuilder(module, train, microBatches).run()))
    return failure();
  // Forward only, and only where the graph has the functions.
  if (hasPhase(module, "eval") &&
      failed(ScheduleBuilder(module, {"eval", {}, {"eval"}, {}}, microBatches).run()))
    return failure();
  if (hasPhase(module, "logits") && failed(ScheduleBuilder(module, {"logits", {}, {"logits"}, {}}, 1).run()))
    return failure();
  return success();
}
