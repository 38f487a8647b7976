//===- BuildSchedule.cpp - slots and actions of the schedules -------------------------------------------===//
#include "ToRank.h"
#include "par/Schedule/Schedule.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::par;

namespace {
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

class ScheduleBuilder {
public:
  ScheduleBuilder(ModuleOp module, const ChunkFunctions &functions, rank::Purpose purpose)
      : module(module), functions(functions), purpose(purpose), symbols(module), builder(module.getContext()),
        accumulation(module) {}

  LogicalResult run(ArrayRef<Action> actions) {
    builder.setInsertionPointToEnd(module.getBody());
    auto schedule = builder.create<rank::ScheduleOp>(module.getLoc(), purpose, nullptr, nullptr, nullptr,
                                                     nullptr, nullptr);
    builder.createBlock(&schedule.getBody());
    slots = builder.create<rank::ReturnOp>(module.getLoc(), nullptr);
    for (const Action &action : actions)
      if (failed(addAction(action)))
        return failure();
    builder.setInsertionPointToEnd(slots->getBlock());
    auto exit = builder.create<rank::ReturnOp>(module.getLoc(), nullptr);
    slots->erase();
    numberValues(schedule, exit);
    return success();
  }

private:
  LogicalResult addAction(const Action &action) {
    func::FuncOp function = functions.find(static_cast<Phase>(action.kind), action.chunk);
    // A module that was written by hand may do without the norm.
    if (!function && action.kind == ActionKind::Norm)
      return success();
    if (!function)
      return module.emitError("par-to-rank: no function of phase ")
             << stringifyActionKind(action.kind) << "; par-differentiate-pipeline writes them";
    if (failed(refuseBoundaries(function, "par-to-rank")))
      return failure();
    FailureOr<EmptyAccumulators> found = accumulation.begin(function);
    if (failed(found))
      return failure();
    empty = *found;
    beginAction(action);
    if (failed(addAction(function, action)))
      return failure();
    if (endsMicroBatch(action.kind))
      taken[action.chunk].reset(residualPlace);
    return success();
  }

  static bool endsMicroBatch(ActionKind kind) {
    return kind == ActionKind::Backward || kind == ActionKind::BackwardWeight ||
           kind == ActionKind::BackwardLast;
  }

  /// Finds where residuals of the action's micro-batch lie.
  void beginAction(const Action &action) {
    residualPlace = 0;
    if (action.microBatch < 0)
      return;
    llvm::BitVector &places = taken[action.chunk];
    auto [found, isNew] = placeOf.try_emplace({action.chunk, action.microBatch}, 0);
    if (isNew && action.kind == ActionKind::Forward) {
      int free = places.find_first_unset();
      found->second = free < 0 ? places.size() : unsigned(free);
      places.resize(std::max(places.size(), found->second + 1));
      places.set(found->second);
    }
    residualPlace = found->second;
  }

  LogicalResult addAction(func::FuncOp function, const Action &action) {
    SmallVector<Value> buffers;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
      FailureOr<Value> slot = getArgumentSlot(function, argument, action.microBatch);
      if (failed(slot))
        return failure();
      buffers.push_back(*slot);
    }
    for (unsigned result = 0; result < function.getNumResults(); ++result) {
      FailureOr<Value> slot = getResultSlot(function, result, action.microBatch);
      if (failed(slot))
        return failure();
      buffers.push_back(*slot);
    }
    Value frame =
        makeSlot(rank::SlotKind::Frame, stringifyActionKind(action.kind), rank::Category::Workspace, nullptr);
    builder.setInsertionPointToEnd(slots->getBlock());
    ArrayRef<Value> both = buffers;
    builder.create<rank::ActionOp>(function.getLoc(), action.kind, function.getSymName(), frame,
                                   both.take_front(function.getNumArguments()),
                                   both.drop_front(function.getNumArguments()), action.chunk,
                                   action.microBatch, nullptr, nullptr);
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
    PlaceAttr place = getPlace(function, argument);
    if (!place)
      return function.emitError("par-to-rank: argument ")
             << argument << " of a chunk function has no par.place";
    if (place.getVariable())
      return getVariableSlot(place.getVariable().getValue(), type);
    if (place.getResidual())
      return getResidualSlot(function, *place.getResidual(), type);
    InputKind input = *place.getInput();
    InputTime time = getTime(input);
    if (time == InputTime::Constant)
      return getConstantSlot(input, type, empty.getBeta(input));
    return getRuntimeSlot(rank::SlotKind::Input, stringifyInputKind(input), type,
                          time == InputTime::MicroBatch ? microBatch : -1,
                          function.getArgAttrOfType<TypeAttr>(argument, ParDialect::kGlobalTypeAttr),
                          function.getArgAttr(argument, ParDialect::kShardingAttr));
  }

  FailureOr<Value> getResultSlot(func::FuncOp function, unsigned result, int64_t microBatch) {
    auto type = cast<RankedTensorType>(function.getResultTypes()[result]);
    PlaceAttr place = getResultPlace(function, result);
    if (!place || place.getAlias())
      return function.emitError("par-to-rank: result ")
             << result << " of a chunk function is no variable, output or residual";
    StringRef output = place.getOutput() ? stringifyOutputKind(*place.getOutput()) : "";
    if (place.getVariable()) {
      Value slot = getVariableSlot(place.getVariable().getValue(), type);
      if (place.getOutput())
        slot.getDefiningOp<rank::SlotOp>().setOutput(output);
      return slot;
    }
    if (place.getResidual())
      return getResidualSlot(function, *place.getResidual(), type);
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
    std::string name = std::to_string(getChunk(function)) + "." + std::to_string(number);
    if (residualPlace)
      name += "." + std::to_string(residualPlace);
    Value &slot = known["residual " + name];
    if (!slot)
      slot = makeSlot(rank::SlotKind::Residual, name, rank::Category::Activations, type);
    return slot;
  }

  Value getConstantSlot(InputKind input, RankedTensorType type, double value) {
    Value &slot = known["constant " + std::to_string(value)];
    if (!slot) {
      slot = makeSlot(rank::SlotKind::Constant, stringifyInputKind(input), rank::Category::Workspace, type);
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
  const ChunkFunctions &functions;
  rank::Purpose purpose;
  SymbolTable symbols;
  OpBuilder builder;
  Operation *slots = nullptr; ///< marks where slots end and actions begin
  std::map<std::string, Value> known;
  /// Places for residuals that are held, by chunk, and the place of each chunk and micro-batch: what is in
  /// flight at once lies apart.
  std::map<int64_t, llvm::BitVector> taken;
  std::map<std::pair<int64_t, int64_t>, unsigned> placeOf;
  Accumulation accumulation;
  // Of the action that is added.
  unsigned residualPlace = 0;
  EmptyAccumulators empty;
};
} // namespace

LogicalResult par::buildSchedules(ModuleOp module, int64_t microBatches, StringRef name) {
  ChunkFunctions functions(module);
  for (func::FuncOp function : functions.getAll())
    if (getChunk(function) != 0)
      return function.emitError("par-to-rank: @")
             << function.getName() << " is of chunk " << getChunk(function)
             << ", but pipelines are not built; expected chunk 0 only";
  llvm::Expected<PipelineSchedule> schedule = buildSchedule(name, {1, microBatches, 1});
  if (!schedule)
    return module.emitError("par-to-rank: ") << llvm::toString(schedule.takeError());
  StepParts parts{functions.has(Phase::Gather), true, functions.has(Phase::BackwardLast)};
  std::vector<Action> train = completeStep(std::move(*schedule), parts).stages.front();
  if (failed(ScheduleBuilder(module, functions, rank::Purpose::Train).run(train)))
    return failure();
  // Forward only, and only where the graph has the functions.
  for (auto [purpose, kind, runs] : {std::tuple{rank::Purpose::Eval, ActionKind::Eval, microBatches},
                                     std::tuple{rank::Purpose::Logits, ActionKind::Logits, int64_t(1)}})
    if (functions.has(static_cast<Phase>(kind)) &&
        failed(ScheduleBuilder(module, functions, purpose).run(buildForwardOnly(kind, runs))))
      return failure();
  return success();
}
