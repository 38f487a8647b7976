//===- BuildSchedule.cpp - slots and actions of the schedules -------------------------------------------===//
#include "ToRank.h"
#include "par/Cost/FunctionTimes.h"
#include "par/Schedule/FlightPlan.h"
#include "par/Schedule/SynthesizeSchedule.h"
#include "par/Target/Target.h"

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

/// The gradients that several stages have, by the stages: they are added up over these.
using TiedGradients = std::map<std::vector<int64_t>, SmallVector<VariableOp>>;

/// Writes the schedule of one purpose and stage.
class ScheduleBuilder {
public:
  ScheduleBuilder(ModuleOp module, const ChunkFunctions &functions, rank::Purpose purpose,
                  const PipelineSchedule &lists, size_t stage, const TiedGradients &tied,
                  const SymbolTable &symbols)
      : module(module), functions(functions), purpose(purpose), lists(lists), stage(stage), tied(tied),
        received(functions), flights(lists, stage, received.getLongFlights(functions, getForward())),
        symbols(symbols), builder(module.getContext()), accumulation(functions, symbols) {}

  LogicalResult run() {
    builder.setInsertionPointToEnd(module.getBody());
    bool isPipeline = llvm::any_of(functions.getStages(), [](int64_t each) { return each > 0; });
    IntegerAttr number = isPipeline ? builder.getI64IntegerAttr(int64_t(stage)) : IntegerAttr();
    auto schedule = builder.create<rank::ScheduleOp>(module.getLoc(), purpose, number, nullptr, nullptr,
                                                     nullptr, nullptr);
    builder.createBlock(&schedule.getBody());
    slots = builder.create<rank::ReturnOp>(module.getLoc(), nullptr);
    for (const Action &action : lists.stages[stage])
      if (failed(addEntry(action)))
        return failure();
    builder.setInsertionPointToEnd(slots->getBlock());
    auto exit = builder.create<rank::ReturnOp>(module.getLoc(), nullptr);
    slots->erase();
    numberValues(schedule, exit);
    return success();
  }

private:
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
      return module.emitError("par-to-rank: no function of phase ")
             << stringifyActionKind(action.kind) << (lists.getNumChunks() > 1 ? " and chunk " : "")
             << (lists.getNumChunks() > 1 ? std::to_string(action.chunk) : "")
             << "; par-differentiate-pipeline writes them";
    FailureOr<EmptyAccumulators> found = accumulation.begin(function);
    if (failed(found))
      return failure();
    empty = *found;
    return addAction(function, action);
  }

  //===--------------------------------------------------------------------===//
  // What crosses stages
  //===--------------------------------------------------------------------===//

  /// The phase that computes from the first chunk to the last one.
  Phase getForward() const {
    switch (purpose) {
    case rank::Purpose::Train:
      return Phase::Forward;
    case rank::Purpose::Eval:
      return Phase::Eval;
    case rank::Purpose::Logits:
      return Phase::Logits;
    }
    llvm_unreachable("unknown purpose");
  }

  /// The function of a chunk that reads what is handed to it.
  func::FuncOp findReader(const Message &message) const {
    if (!message.isGradient)
      return functions.find(getForward(), message.to);
    for (Phase phase : {Phase::BackwardInput, Phase::Backward, Phase::BackwardLast})
      if (func::FuncOp function = functions.find(phase, message.to))
        return function;
    return {};
  }

  LogicalResult addMessage(const Action &action, const Message &message) {
    func::FuncOp reader = findReader(message);
    SmallVector<Value> buffers;
    for (unsigned argument = 0; reader && argument < reader.getNumArguments(); ++argument)
      if (PlaceAttr place = getSlots(reader).places[argument]; place && place.getBoundary())
        buffers.push_back(getBoundarySlot(message.isGradient, message.getCut(), *place.getBoundary(),
                                          message.microBatch,
                                          cast<RankedTensorType>(reader.getArgumentTypes()[argument])));
    int64_t other = lists.stageOfChunk[message.getOther()];
    SmallVector<Value> none;
    builder.setInsertionPointToEnd(slots->getBlock());
    builder.create<rank::ExchangeOp>(
        reader ? reader.getLoc() : module.getLoc(), action.kind, other, message.isAtSender() ? buffers : none,
        message.isAtSender() ? none : buffers, action.chunk, action.microBatch, nullptr, nullptr, nullptr);
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
      auto found = known.find("variable " + variable.getSymName().str());
      if (found == known.end())
        return variable.emitError("par-to-rank: stage ")
               << stage << " has no @" << variable.getSymName() << ", which it adds up with other stages";
      buffers.push_back(found->second);
    }
    builder.setInsertionPointToEnd(slots->getBlock());
    builder.create<rank::ExchangeOp>(module.getLoc(), action.kind, stages, buffers, buffers, action.chunk,
                                     action.microBatch, nullptr, nullptr, nullptr);
    return success();
  }

  /// What crosses the cut behind a chunk, forward or back. Two chunks of one stage have it in common, and
  /// what a chunk hands on as it came is where it came.
  Value getBoundarySlot(bool isGradient, int64_t cut, int64_t number, int64_t microBatch,
                        RankedTensorType type) {
    int64_t maker = isGradient ? cut + 1 : cut;
    if (lists.stageOfChunk[maker] == static_cast<int64_t>(stage))
      if (std::optional<Crossing> before = received.find(isGradient ? Phase::Backward : getForward(), maker,
                                                         PlaceAttr::ofBoundary(module.getContext(), number)))
        return getBoundarySlot(isGradient, before->cut, before->number, microBatch, type);
    Flight flight = isGradient ? Flight::Gradient : Flight::Activation;
    unsigned place = flights.getPlace(flight, cut, microBatch);
    Value &slot = crossings[{flight, cut, number, place}];
    if (slot)
      return slot;
    std::string name =
        (isGradient ? "gradient " : "activation ") + std::to_string(cut) + "." + std::to_string(number);
    if (place)
      name += "." + std::to_string(place);
    return slot = makeSlot(rank::SlotKind::Residual, name, rank::Category::Activations, type);
  }

  Value getBoundarySlot(func::FuncOp function, bool isResult, int64_t number, int64_t microBatch,
                        RankedTensorType type) {
    bool isGradient = isBackward(getPhase(function).getPhase());
    // Behind the chunk are results of forward and arguments of backward functions.
    int64_t cut = getChunk(function) - (isResult == isGradient ? 1 : 0);
    return getBoundarySlot(isGradient, cut, number, microBatch, type);
  }

  FailureOr<Value> getReceivedSlot(func::FuncOp function, unsigned argument, int64_t number,
                                   int64_t microBatch, RankedTensorType type) {
    bool isGradient = isBackward(getPhase(function).getPhase());
    int64_t from = getChunk(function) + (isGradient ? 1 : -1);
    if (from < 0 || from >= lists.getNumChunks())
      return LogicalResult(function.emitError("par-to-rank: argument ")
                           << argument << " of @" << function.getName() << " is boundary " << number
                           << ", but no chunk is there to hand it over; expected chunk " << from);
    return getBoundarySlot(function, /*isResult=*/false, number, microBatch, type);
  }

  //===--------------------------------------------------------------------===//
  // Actions
  //===--------------------------------------------------------------------===//

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
    for (auto entry : schedule.getOps<rank::EntryOpInterface>())
      llvm::TypeSwitch<Operation *>(entry)
          .Case([&](rank::ActionOp action) { numberValues(action, /*isWritten=*/true, now, next); })
          .Case([&](rank::ExchangeOp exchange) {
            std::optional<Message> message = getMessage(exchange.getAction());
            bool isWritten = !message || message->part == MessagePart::Received;
            numberValues(exchange, isWritten, now, next);
          });
    SmallVector<int64_t> values;
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      bool isKept = slot.getKind() == rank::SlotKind::Variable || slot.getKind() == rank::SlotKind::Output;
      values.push_back(isKept ? now.lookup(slot.getBuffer()) : -1);
    }
    exit.setValues(values);
  }

  template <typename Op>
  static void numberValues(Op op, bool isWritten, llvm::DenseMap<Value, int64_t> &now, int64_t &next) {
    SmallVector<int64_t> reads, writes;
    for (Value slot : op.getIns())
      reads.push_back(now.lookup(slot));
    if (isWritten)
      for (Value slot : op.getOuts())
        writes.push_back(now[slot] = next++);
    op.setReads(reads);
    if (isWritten)
      op.setWrites(writes);
  }

  /// What a function takes and returns, and the slots of it that are the same for every micro-batch.
  struct FunctionSlots {
    SmallVector<PlaceAttr> places; ///< of arguments, then of results
    SmallVector<Value> variables;  ///< null: no variable, or not asked for yet
  };

  FunctionSlots &getSlots(func::FuncOp function) {
    FunctionSlots &slots = functionSlots[function];
    if (!slots.places.empty())
      return slots;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      slots.places.push_back(getPlace(function, argument));
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      slots.places.push_back(getResultPlace(function, result));
    slots.variables.resize(slots.places.size());
    return slots;
  }

  Value getVariableSlot(func::FuncOp function, size_t number, RankedTensorType type) {
    FunctionSlots &slots = getSlots(function);
    Value &slot = slots.variables[number];
    if (!slot)
      slot = getVariableSlot(slots.places[number].getVariable().getValue(), type);
    return slot;
  }

  FailureOr<Value> getArgumentSlot(func::FuncOp function, unsigned argument, int64_t microBatch) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
    PlaceAttr place = getSlots(function).places[argument];
    if (!place)
      return function.emitError("par-to-rank: argument ")
             << argument << " of a chunk function has no par.place";
    if (place.getVariable())
      return getVariableSlot(function, argument, type);
    if (place.getResidual())
      return getResidualSlot(function, *place.getResidual(), microBatch, type);
    if (place.getBoundary())
      return getReceivedSlot(function, argument, *place.getBoundary(), microBatch, type);
    if (place.getConstant())
      return getConstantSlot("constant", type, place.getConstant(), place.getStep());
    InputKind input = *place.getInput();
    InputTime time = getTime(input);
    if (time == InputTime::Constant)
      return getConstantSlot("beta", type, builder.getF32FloatAttr(static_cast<float>(empty.getBeta(input))),
                             /*step=*/0);
    return getRuntimeSlot(rank::SlotKind::Input, stringifyInputKind(input), type,
                          time == InputTime::MicroBatch ? microBatch : -1,
                          function.getArgAttrOfType<TypeAttr>(argument, ParDialect::kGlobalTypeAttr),
                          function.getArgAttr(argument, ParDialect::kShardingAttr));
  }

  FailureOr<Value> getResultSlot(func::FuncOp function, unsigned result, int64_t microBatch) {
    auto type = cast<RankedTensorType>(function.getResultTypes()[result]);
    size_t number = function.getNumArguments() + result;
    PlaceAttr place = getSlots(function).places[number];
    if (!place || place.getAlias())
      return function.emitError("par-to-rank: result ")
             << result << " of a chunk function is no variable, output, residual or boundary";
    StringRef output = place.getOutput() ? stringifyOutputKind(*place.getOutput()) : "";
    if (place.getVariable()) {
      Value slot = getVariableSlot(function, number, type);
      if (place.getOutput())
        slot.getDefiningOp<rank::SlotOp>().setOutput(output);
      return slot;
    }
    if (place.getResidual())
      return getResidualSlot(function, *place.getResidual(), microBatch, type);
    if (place.getBoundary())
      return getBoundarySlot(function, /*isResult=*/true, *place.getBoundary(), microBatch, type);
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

  Value getResidualSlot(func::FuncOp function, int64_t number, int64_t microBatch, RankedTensorType type) {
    int64_t chunk = getChunk(function);
    const SavedValue &saved = getSaved(chunk, number);
    if (saved.crossing)
      return getBoundarySlot(saved.crossing->flight == Flight::Gradient, saved.crossing->cut,
                             saved.crossing->number, microBatch, type);
    unsigned which = flights.getPlace(saved.flight, chunk, microBatch);
    Value &slot = residuals[{chunk, number, which}];
    if (slot)
      return slot;
    std::string name = std::to_string(chunk) + "." + std::to_string(number);
    if (which)
      name += "." + std::to_string(which);
    return slot = makeSlot(rank::SlotKind::Residual, name, rank::Category::Activations, type);
  }

  /// What a chunk saves: what it has received lies where messages put it.
  struct SavedValue {
    std::optional<Crossing> crossing;
    Flight flight = Flight::Residuals;
  };
  /// The same for all micro-batches.
  const SavedValue &getSaved(int64_t chunk, int64_t number) {
    auto [entry, isNew] = savedValues.try_emplace({chunk, number});
    if (isNew) {
      auto place = PlaceAttr::ofResidual(module.getContext(), number);
      entry->second = {received.findResidual(chunk, place), findFlight(chunk, place)};
    }
    return entry->second;
  }

  /// How long what a chunk saves lies.
  Flight findFlight(int64_t chunk, PlaceAttr place) const {
    func::FuncOp input = functions.find(Phase::BackwardInput, chunk);
    if (input && findResult(input, place))
      return Flight::HandedResiduals;
    for (Phase phase : {Phase::BackwardWeight, Phase::BackwardWeightLast})
      if (func::FuncOp weight = functions.find(phase, chunk); weight && findArgument(weight, place))
        return Flight::WeightResiduals;
    return Flight::Residuals;
  }

  Value getConstantSlot(StringRef name, RankedTensorType type, TypedAttr first, int64_t step) {
    Value &slot = constants[{name, first, step, type}];
    if (!slot) {
      slot = makeSlot(rank::SlotKind::Constant, name, rank::Category::Workspace, type);
      auto op = slot.getDefiningOp<rank::SlotOp>();
      op.setValueAttr(first);
      op.setStep(step);
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
                                        nullptr, nullptr, nullptr, nullptr, 0);
  }

  ModuleOp module;
  const ChunkFunctions &functions;
  rank::Purpose purpose;
  const PipelineSchedule &lists;
  size_t stage;
  const TiedGradients &tied;
  ReceivedValues received;
  FlightPlan flights;
  const SymbolTable &symbols;
  OpBuilder builder;
  Operation *slots = nullptr; ///< marks where slots end and entries begin
  std::map<std::string, Value> known;
  llvm::DenseMap<std::tuple<StringRef, Attribute, int64_t, Type>, Value> constants; ///< by what they hold
  std::map<std::tuple<int64_t, int64_t, unsigned>, Value> residuals; ///< by chunk, number and place in flight
  /// By what crosses, cut, number and place in flight.
  std::map<std::tuple<Flight, int64_t, int64_t, unsigned>, Value> crossings;
  std::map<std::pair<int64_t, int64_t>, SavedValue> savedValues; ///< by chunk and number
  llvm::DenseMap<func::FuncOp, FunctionSlots> functionSlots;
  Accumulation accumulation;
  EmptyAccumulators empty; ///< of the action that is added
};

/// Builds the schedules of all purposes and stages.
class SchedulesBuilder {
public:
  SchedulesBuilder(ModuleOp module, int64_t microBatches)
      : module(module), microBatches(microBatches), functions(module), symbols(module) {}

  LogicalResult run(StringRef name) {
    FailureOr<PipelineSchedule> train = buildTrain(name);
    if (failed(train) || failed(build(rank::Purpose::Train, *train)))
      return failure();
    // Forward only, and only where the graph has the functions.
    for (auto [purpose, kind, runs] : {std::tuple{rank::Purpose::Eval, ActionKind::Eval, microBatches},
                                       std::tuple{rank::Purpose::Logits, ActionKind::Logits, int64_t(1)}})
      if (functions.has(static_cast<Phase>(kind)) &&
          failed(build(purpose, buildForwardOnly(kind, runs, listStages(static_cast<Phase>(kind))))))
        return failure();
    return success();
  }

private:
  FailureOr<PipelineSchedule> buildTrain(StringRef name) {
    std::vector<int64_t> stageOf = functions.getStages();
    if (stageOf.empty())
      stageOf.push_back(0);
    int64_t stages = *llvm::max_element(stageOf) + 1, chunks = static_cast<int64_t>(stageOf.size());
    PipelineShape shape{stages, microBatches, chunks / stages};
    llvm::Expected<PipelineSchedule> schedule =
        name == kAutoSchedule ? synthesizeSchedule(shape, measureChunks(chunks), ScheduleMemory())
                              : buildSchedule(name, shape);
    if (!schedule)
      return LogicalResult(module.emitError("par-to-rank: ") << llvm::toString(schedule.takeError()));
    for (func::FuncOp function : functions.getAll())
      if (int64_t chunk = getChunk(function);
          chunk >= schedule->getNumChunks() || schedule->stageOfChunk[chunk] != getStage(function))
        return LogicalResult(
            function.emitError("par-to-rank: @")
            << function.getName() << " is of chunk " << chunk << " on stage " << getStage(function)
            << "; schedule " << name << " has " << schedule->getNumChunks() << " chunks on " << stages
            << " stages"
            << (chunk < schedule->getNumChunks()
                    ? " and this one on stage " + std::to_string(schedule->stageOfChunk[chunk])
                    : ""));
    StepParts parts;
    parts.gathers = functions.has(Phase::Gather);
    parts.reducesInLast = functions.getReducedInLast();
    for (auto &[tiedStages, variables] : findTied())
      parts.tied.push_back(tiedStages);
    return completeStep(std::move(*schedule), std::move(parts));
  }

  /// By the cost model, on this module's target.
  StepTimes measureChunks(int64_t chunks) {
    const DeviceRates &rates = getTarget(module)->rates;
    FunctionTimes times(module, rates);
    auto measure = [&](Phase phase, int64_t chunk) {
      func::FuncOp function = functions.find(phase, chunk);
      return function ? times.measure(function) : 0;
    };
    StepTimes step;
    step.chunks.clear();
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      step.chunks.push_back({measure(Phase::Forward, chunk), measure(Phase::BackwardInput, chunk),
                             measure(Phase::BackwardWeight, chunk), measureTransfer(chunk, rates)});
    return step;
  }

  /// Over the cut behind a chunk: what its results take on the link.
  double measureTransfer(int64_t chunk, const DeviceRates &rates) {
    func::FuncOp function = functions.find(Phase::Forward, chunk);
    double bytes = 0;
    for (unsigned result = 0; function && result < function.getNumResults(); ++result)
      if (PlaceAttr place = getResultPlace(function, result); place && place.getBoundary())
        bytes += double(rank::getBytes(function.getResultTypes()[result]));
    return bytes > 0 ? rates.latency + bytes / rates.link : 0;
  }

  /// By chunk, up to the last one that has a function of the phase.
  std::vector<int64_t> listStages(Phase phase) const {
    std::vector<int64_t> stageOf = functions.getStages();
    stageOf.resize(size_t(getChunk(functions.getAll(phase).back())) + 1);
    return stageOf;
  }

  /// Gradients that functions of several stages know.
  const TiedGradients &findTied() {
    llvm::DenseMap<Attribute, std::set<int64_t>> stagesOf;
    for (func::FuncOp function : functions.getAll()) {
      for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
        if (FlatSymbolRefAttr variable = getVariable(function, argument))
          stagesOf[variable.getAttr()].insert(getStage(function));
      for (unsigned result = 0; result < function.getNumResults(); ++result)
        if (FlatSymbolRefAttr variable = getResultVariable(function, result))
          stagesOf[variable.getAttr()].insert(getStage(function));
    }
    for (auto variable : module.getOps<VariableOp>())
      if (const std::set<int64_t> &stages = stagesOf[variable.getSymNameAttr()];
          variable.getRole() == Role::Gradient && stages.size() > 1)
        tied[std::vector<int64_t>(stages.begin(), stages.end())].push_back(variable);
    return tied;
  }

  LogicalResult build(rank::Purpose purpose, const PipelineSchedule &lists) {
    for (size_t stage = 0; stage < lists.stages.size(); ++stage)
      if (failed(ScheduleBuilder(module, functions, purpose, lists, stage, tied, symbols).run()))
        return failure();
    return success();
  }

  ModuleOp module;
  int64_t microBatches;
  ChunkFunctions functions;
  SymbolTable symbols;
  TiedGradients tied;
};
} // namespace

LogicalResult par::buildSchedules(ModuleOp module, int64_t microBatches, StringRef name) {
  return SchedulesBuilder(module, microBatches).run(name);
}
