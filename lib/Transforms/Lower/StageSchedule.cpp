//===- StageSchedule.cpp - what one stage of a pipeline runs
//---------------------------------------------===//
#include "StageSchedule.h"
#include "ScheduleSlots.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Where a function finds an argument or leaves a result.
struct ValueSlot {
  PlaceAttr place;
  RankedTensorType type;
  Value slot;                    ///< the same for every call; null: not known yet, or it is not
  FlightSlots *flight = nullptr; ///< one for each micro-batch in flight
};

/// By arguments, then results.
using FunctionSlots = SmallVector<ValueSlot>;

class StageScheduleBuilder {
public:
  StageScheduleBuilder(const ChunkFunctions &functions, const SymbolTable &symbols, rank::Purpose purpose,
                       const PipelineSchedule &lists, size_t stage, const TiedGradients &tied,
                       Operation *endOfSlots)
      : functions(functions), symbols(symbols), forward(getForwardPhase(purpose)), lists(lists), stage(stage),
        tied(tied), slots(functions, symbols, purpose, lists, stage, endOfSlots),
        builder(OpBuilder::atBlockEnd(endOfSlots->getBlock())), accumulation(functions, symbols) {}

  LogicalResult addEntry(const Action &action) {
    if (std::optional<Message> message = getMessage(action))
      return addMessage(action, *message);
    if (isSum(action.kind))
      return addSum(action);
    func::FuncOp function = functions.find(static_cast<Phase>(action.kind), action.chunk);
    // A module that was written by hand may do without the norm.
    if (!function && action.kind == ActionKind::Norm)
      return success();
    if (!function)
      return symbols.getOp()->emitError("par-to-rank: no function of phase ")
             << stringifyActionKind(action.kind) << (lists.getNumChunks() > 1 ? " and chunk " : "")
             << (lists.getNumChunks() > 1 ? std::to_string(action.chunk) : "")
             << "; par-differentiate-pipeline writes them";
    FailureOr<EmptyAccumulators> found = accumulation.begin(function);
    if (failed(found))
      return failure();
    empty = *found;
    return addAction(function, action);
  }

private:
  //===--------------------------------------------------------------------===//
  // Entries
  //===--------------------------------------------------------------------===//

  LogicalResult addAction(func::FuncOp function, const Action &action) {
    FunctionSlots &known = getSlots(function);
    SmallVector<Value> buffers;
    for (size_t number = 0; number < known.size(); ++number) {
      FailureOr<Value> slot = getSlot(function, known[number], number, action.microBatch);
      if (failed(slot))
        return failure();
      buffers.push_back(*slot);
    }
    Value frame = slots.makeFrame(action.kind);
    ArrayRef<Value> both = buffers;
    builder.create<rank::ActionOp>(function.getLoc(), action.kind, function.getSymName(), frame,
                                   both.take_front(function.getNumArguments()),
                                   both.drop_front(function.getNumArguments()), action.chunk,
                                   action.microBatch, nullptr, nullptr);
    return success();
  }

  /// The function of a chunk that reads what is handed to it.
  func::FuncOp findReader(const Message &message) const {
    if (!message.isGradient)
      return functions.find(forward, message.to);
    for (Phase phase : {Phase::BackwardInput, Phase::Backward, Phase::BackwardLast})
      if (func::FuncOp function = functions.find(phase, message.to))
        return function;
    return {};
  }

  LogicalResult addMessage(const Action &action, const Message &message) {
    func::FuncOp reader = findReader(message);
    SmallVector<Value> buffers;
    if (reader)
      for (ValueSlot &argument : MutableArrayRef(getSlots(reader)).take_front(reader.getNumArguments()))
        if (argument.place && argument.place.getBoundary()) {
          if (!argument.flight)
            argument.flight =
                &slots.getBoundary(message.isGradient ? Flight::Gradient : Flight::Activation,
                                   message.getCut(), *argument.place.getBoundary(), argument.type);
          buffers.push_back(slots.getSlot(*argument.flight, message.microBatch));
        }
    int64_t other = lists.stageOfChunk[message.getOther()];
    SmallVector<Value> none;
    builder.create<rank::ExchangeOp>(reader ? reader.getLoc() : symbols.getOp()->getLoc(), action.kind, other,
                                     message.isAtSender() ? buffers : none,
                                     message.isAtSender() ? none : buffers, action.chunk, action.microBatch,
                                     nullptr, nullptr, nullptr);
    return success();
  }

  LogicalResult addSum(const Action &action) {
    std::vector<int64_t> stages;
    SmallVector<VariableOp> variables;
    if (action.kind == ActionKind::SumGradients) {
      stages = lists.step->tied[action.chunk];
      variables = tied.at(stages);
    } else {
      for (int64_t each = 0; each < lists.shape.stages; ++each)
        stages.push_back(each);
      if (auto squares = symbols.lookup<VariableOp>(kSquaresVariable))
        variables.push_back(squares);
    }
    SmallVector<Value> buffers;
    for (VariableOp variable : variables) {
      Value slot = slots.findVariable(variable.getSymName());
      if (!slot)
        return variable.emitError("par-to-rank: stage ")
               << stage << " has no @" << variable.getSymName() << ", which it adds up with other stages";
      buffers.push_back(slot);
    }
    builder.create<rank::ExchangeOp>(symbols.getOp()->getLoc(), action.kind, stages, buffers, buffers,
                                     action.chunk, action.microBatch, nullptr, nullptr, nullptr);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Slots of functions
  //===--------------------------------------------------------------------===//

  FunctionSlots &getSlots(func::FuncOp function) {
    auto [entry, isNew] = functionSlots.try_emplace(function);
    FunctionSlots &all = entry->second;
    if (!isNew)
      return all;
    for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
      all.push_back({getPlace(function, number), cast<RankedTensorType>(type), {}});
    for (auto [number, type] : llvm::enumerate(function.getResultTypes()))
      all.push_back({getResultPlace(function, number), cast<RankedTensorType>(type), {}});
    return all;
  }

  FailureOr<Value> getSlot(func::FuncOp function, ValueSlot &value, size_t number, int64_t microBatch) {
    if (!value.slot && !value.flight && failed(findSlot(function, value, number)))
      return failure();
    if (value.flight)
      return slots.getSlot(*value.flight, microBatch);
    if (value.slot)
      return value.slot;
    if (number >= function.getNumArguments())
      return getOutput(function, value, number - function.getNumArguments(), microBatch);
    return getInput(function, value, number, microBatch);
  }

  LogicalResult findSlot(func::FuncOp function, ValueSlot &value, size_t number) {
    if (failed(checkPlace(function, value, number)))
      return failure();
    PlaceAttr place = value.place;
    bool isResult = number >= function.getNumArguments();
    if (place.getVariable()) {
      value.slot = slots.getVariable(place.getVariable().getValue(), value.type);
      if (isResult && place.getOutput())
        value.slot.getDefiningOp<rank::SlotOp>().setOutput(place.getRuntimeName());
    } else if (place.getResidual()) {
      value.flight = &slots.getResidual(getChunk(function), *place.getResidual(), value.type);
    } else if (place.getBoundary()) {
      bool isGradient = isBackward(getPhase(function).getPhase());
      value.flight = &slots.getBoundary(isGradient ? Flight::Gradient : Flight::Activation,
                                        getCut(function, isResult), *place.getBoundary(), value.type);
    } else if (!isResult && place.getConstant()) {
      value.slot = slots.getConstant("constant", value.type, place.getConstant(), place.getStep());
    }
    return success();
  }

  /// Behind the chunk are results of forward and arguments of backward functions.
  static int64_t getCut(func::FuncOp function, bool isResult) {
    bool isGradient = isBackward(getPhase(function).getPhase());
    return getChunk(function) - (isResult == isGradient ? 1 : 0);
  }

  LogicalResult checkPlace(func::FuncOp function, const ValueSlot &value, size_t number) const {
    PlaceAttr place = value.place;
    if (number >= function.getNumArguments()) {
      if (!place || place.getAlias())
        return function.emitError("par-to-rank: result ")
               << number - function.getNumArguments()
               << " of a chunk function is no variable, output, residual or boundary";
      return success();
    }
    if (!place)
      return function.emitError("par-to-rank: argument ")
             << number << " of a chunk function has no par.place";
    bool isGradient = isBackward(getPhase(function).getPhase());
    int64_t from = getChunk(function) + (isGradient ? 1 : -1);
    if (place.getBoundary() && (from < 0 || from >= lists.getNumChunks()))
      return function.emitError("par-to-rank: argument ")
             << number << " of @" << function.getName() << " is boundary " << *place.getBoundary()
             << ", but no chunk is there to hand it over; expected chunk " << from;
    return success();
  }

  Value getInput(func::FuncOp function, const ValueSlot &value, unsigned argument, int64_t microBatch) {
    InputTime time = value.place.getInputTime();
    if (time == InputTime::Constant) {
      auto beta = static_cast<float>(empty.getBeta(*value.place.getInput()));
      return slots.getConstant("beta", value.type, builder.getF32FloatAttr(beta), /*step=*/0);
    }
    Value slot = slots.getRuntime(rank::SlotKind::Input, value.place.getRuntimeName(), value.type,
                                  time == InputTime::MicroBatch ? microBatch : -1,
                                  function.getArgAttrOfType<TypeAttr>(argument, ParDialect::kGlobalTypeAttr),
                                  function.getArgAttr(argument, ParDialect::kShardingAttr));
    if (value.place.getOpenInput())
      slot.getDefiningOp<rank::SlotOp>().setReader(value.place.getInputReader());
    if (FloatAttr weight = value.place.getWeight())
      slot.getDefiningOp<rank::SlotOp>().setValueAttr(weight);
    return slot;
  }

  Value getOutput(func::FuncOp function, const ValueSlot &value, unsigned result, int64_t microBatch) {
    std::string name = value.place.getOutput() ? value.place.getRuntimeName() : "";
    return slots.getRuntime(rank::SlotKind::Output, name, value.type, microBatch,
                            function.getResultAttrOfType<TypeAttr>(result, ParDialect::kGlobalTypeAttr),
                            function.getResultAttr(result, ParDialect::kShardingAttr));
  }

  const ChunkFunctions &functions;
  const SymbolTable &symbols;
  Phase forward;
  const PipelineSchedule &lists;
  size_t stage;
  const TiedGradients &tied;
  ScheduleSlots slots;
  OpBuilder builder; ///< of entries
  llvm::DenseMap<func::FuncOp, FunctionSlots> functionSlots;
  Accumulation accumulation;
  EmptyAccumulators empty; ///< of the action that is added
};
} // namespace

LogicalResult par::buildStageSchedule(const ChunkFunctions &functions, const SymbolTable &symbols,
                                      rank::Purpose purpose, const PipelineSchedule &lists, size_t stage,
                                      const TiedGradients &tied) {
  auto module = cast<ModuleOp>(symbols.getOp());
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  bool isPipeline = llvm::any_of(functions.getStages(), [](int64_t each) { return each > 0; });
  IntegerAttr number = isPipeline ? builder.getI64IntegerAttr(static_cast<int64_t>(stage)) : IntegerAttr();
  auto schedule =
      builder.create<rank::ScheduleOp>(module.getLoc(), purpose, number, nullptr, nullptr, nullptr, nullptr);
  builder.createBlock(&schedule.getBody());
  // Marks where slots end and entries begin.
  auto endOfSlots = builder.create<rank::ReturnOp>(module.getLoc(), nullptr);
  StageScheduleBuilder entries(functions, symbols, purpose, lists, stage, tied, endOfSlots);
  for (const Action &action : lists.stages[stage])
    if (failed(entries.addEntry(action)))
      return failure();
  builder.setInsertionPointToEnd(endOfSlots->getBlock());
  auto exit = builder.create<rank::ReturnOp>(module.getLoc(), nullptr);
  endOfSlots->erase();
  numberValues(schedule, exit);
  return success();
}
