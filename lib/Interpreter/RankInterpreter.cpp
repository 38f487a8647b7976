//===- RankInterpreter.cpp - evaluates rank programs over their arena -----------------------------------===//
#include "par/Interpreter/RankInterpreter.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Arena
//===----------------------------------------------------------------------===//

static int64_t getWidth(RankedTensorType type) {
  return rank::getBytes(type) / std::max<int64_t>(type.getNumElements(), 1);
}

/// A write takes whole elements only: what it cuts through is dead.
void InterpretedArena::discard(int64_t offset, int64_t bytes) {
  for (int64_t byte = offset; byte > 0 && states[byte] == State::Further; --byte)
    states[byte - 1] = states[byte - 1] == State::First ? State::Dead : states[byte - 1];
  std::fill_n(states.begin() + offset, bytes, State::Dead);
}

void InterpretedArena::write(int64_t offset, const Tensor &tensor) {
  int64_t width = getWidth(tensor.type);
  discard(offset, width * tensor.size());
  for (int64_t element = 0; element < tensor.size(); ++element) {
    int64_t first = offset + element * width;
    states[first] = State::First;
    std::fill_n(states.begin() + first + 1, width - 1, State::Further);
    values[first] = tensor.values[element];
  }
}

std::optional<Tensor> InterpretedArena::read(int64_t offset, RankedTensorType type) const {
  Tensor tensor(type);
  int64_t width = getWidth(type);
  for (int64_t element = 0; element < tensor.size(); ++element) {
    int64_t first = offset + element * width;
    if (states[first] != State::First)
      return std::nullopt;
    for (int64_t byte = first + 1; byte < first + width; ++byte)
      if (states[byte] != State::Further)
        return std::nullopt;
    tensor.values[element] = values[first];
  }
  return tensor;
}

void InterpretedArena::copy(int64_t from, int64_t to, int64_t bytes) {
  std::vector<State> movedStates(states.begin() + from, states.begin() + from + bytes);
  std::vector<double> movedValues(values.begin() + from, values.begin() + from + bytes);
  discard(to, bytes);
  std::copy(movedStates.begin(), movedStates.end(), states.begin() + to);
  std::copy(movedValues.begin(), movedValues.end(), values.begin() + to);
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

RankInterpreter::RankInterpreter(ModuleOp module, MeshAttr mesh)
    : StepInterpreter(mesh), module(module), symbols(module), interpreter(module, mesh) {
  for (auto schedule : module.getOps<rank::ScheduleOp>())
    if (schedule.getPurpose() == rank::Purpose::Train)
      stages.push_back(schedule);
}

void RankInterpreter::enter(rank::ScheduleOp schedule) {
  stage = schedule.getStage().value_or(0);
  arenas = MutableArrayRef(allArenas).slice(stage * getNumRanks(), getNumRanks());
}

std::unique_ptr<RankInterpreter> RankInterpreter::create(ModuleOp module) {
  std::unique_ptr<RankInterpreter> program(new RankInterpreter(module, par::getMesh(module)));
  if (program->stages.empty()) {
    module.emitError("cannot interpret: the module has no rank.schedule train; run par-lower-pipeline");
    return nullptr;
  }
  return succeeded(program->initialise()) ? std::move(program) : nullptr;
}

LogicalResult RankInterpreter::initialise() {
  int64_t bytes = 0, hostBytes = 0;
  for (auto each : module.getOps<rank::ScheduleOp>()) {
    if (!each.getPeakBytes())
      return each.emitError("cannot interpret: memory is not planned; run rank-plan-memory");
    if (each.getStage().value_or(0) >= stages.size())
      return each.emitError("cannot interpret: is of stage ")
             << *each.getStage() << ", but the module trains on " << stages.size() << " stages";
    bytes = std::max<int64_t>(bytes, *each.getPeakBytes());
    hostBytes = std::max<int64_t>(hostBytes, each.getHostPeakBytes().value_or(0));
  }
  hostBegin = bytes;
  allArenas.assign(stages.size() * getNumRanks(), InterpretedArena(bytes + hostBytes));
  for (rank::ScheduleOp schedule : stages)
    if (failed(findSlots(schedule)))
      return failure();
  return success();
}

LogicalResult RankInterpreter::findSlots(rank::ScheduleOp schedule) {
  enter(schedule);
  for (auto slot : schedule.getOps<rank::SlotOp>()) {
    if (!slot.getOffset() || failed(checkBounds(slot, getAddress(slot), slot.getType().getBytes())))
      return slot.emitOpError("cannot be interpreted: the slot lies outside the arena of ")
             << *schedule.getPeakBytes() << " bytes";
    if (slot.getKind() != rank::SlotKind::Variable)
      continue;
    slots.emplace(slot.getName().str(), slot);
    if (ArrayAttr also = slot.getAlsoAttr())
      for (StringRef name : also.getAsValueRange<StringAttr>())
        slots.emplace(name.str(), slot);
    writeAll(getAddress(slot), Tensors(getNumRanks(), Tensor(cast<RankedTensorType>(*slot.getTensor()))));
  }
  return success();
}

/// Null on one rank: shardings are then only plans.
static ShardingAttr getVariableSharding(VariableOp variable, MeshAttr mesh) {
  return mesh ? getStorage(variable) : ShardingAttr();
}

static ShardingAttr getSlotSharding(rank::SlotOp slot, MeshAttr mesh) {
  return mesh ? dyn_cast_or_null<ShardingAttr>(slot.getShardingAttr()) : ShardingAttr();
}

bool RankInterpreter::setVariable(StringRef name, const Tensor &value) {
  auto [found, end] = slots.equal_range(name.str());
  auto variable = symbols.lookup<VariableOp>(name);
  if (found == end || !variable || value.shape() != variable.getTensorType().getShape())
    return false;
  Tensor global = value;
  global.type = variable.getTensorType();
  if (interpreter.isRounding())
    global.round();
  for (; found != end; ++found) {
    rank::SlotOp slot = found->second;
    enter(slot->getParentOfType<rank::ScheduleOp>());
    writeAll(getAddress(slot), shard(global, getVariableSharding(variable, mesh),
                                     cast<RankedTensorType>(*slot.getTensor()), 0.0));
  }
  return true;
}

std::optional<Tensor> RankInterpreter::getVariable(StringRef name) {
  auto found = slots.find(name.str());
  auto variable = symbols.lookup<VariableOp>(name);
  if (found == slots.end() || !variable)
    return std::nullopt;
  rank::SlotOp slot = found->second;
  enter(slot->getParentOfType<rank::ScheduleOp>());
  FailureOr<Tensors> shards = readAll(slot, getAddress(slot), cast<RankedTensorType>(*slot.getTensor()));
  if (failed(shards))
    return std::nullopt;
  return unshard(*shards, getVariableSharding(variable, mesh), variable.getTensorType());
}

std::map<std::string, Tensor> RankInterpreter::getVariables(Role role) {
  std::map<std::string, Tensor> values;
  for (auto &[name, slot] : slots)
    if (symbols.lookup<VariableOp>(name).getRole() == role)
      if (std::optional<Tensor> value = getVariable(name))
        values[name] = std::move(*value);
  return values;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult RankInterpreter::checkBounds(Operation *op, int64_t offset, int64_t bytes) const {
  if (arenas.front().contains(offset, bytes))
    return success();
  return op->emitOpError("cannot be interpreted: bytes ")
         << offset << " to " << offset + bytes << " lie outside the arena";
}

FailureOr<Tensors> RankInterpreter::readAll(Operation *op, int64_t offset, RankedTensorType type) const {
  if (failed(checkBounds(op, offset, rank::getBytes(type))) ||
      failed(checkStarted(op, offset, rank::getBytes(type), /*writes=*/false)))
    return failure();
  Tensors tensors;
  for (auto [rank, arena] : llvm::enumerate(arenas)) {
    std::optional<Tensor> tensor = arena.read(offset, type);
    if (!tensor)
      return op->emitOpError("reads memory that holds no whole ")
             << type << " at byte " << offset << " on rank " << rank
             << ": it was not written, or is overwritten while it is alive";
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

void RankInterpreter::writeAll(int64_t offset, const Tensors &tensors) {
  for (auto [arena, tensor] : llvm::zip(arenas, tensors))
    arena.write(offset, tensor);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

LogicalResult RankInterpreter::fillSlot(rank::SlotOp slot, const TrainStep &step) {
  int64_t offset = getAddress(slot);
  switch (slot.getKind()) {
  case rank::SlotKind::Variable:
    return success();
  case rank::SlotKind::Constant: {
    auto integer = dyn_cast<IntegerAttr>(*slot.getValue());
    double value = integer ? double(integer.getInt()) : cast<FloatAttr>(*slot.getValue()).getValueAsDouble();
    Tensor tensor(cast<RankedTensorType>(*slot.getTensor()), value);
    for (auto [number, element] : llvm::enumerate(tensor.values))
      element += double(number) * double(slot.getStep());
    writeAll(offset, Tensors(getNumRanks(), tensor));
    return success();
  }
  case rank::SlotKind::Input: {
    auto global = cast<RankedTensorType>(*slot.getGlobalType());
    int64_t microBatch = std::max<int64_t>(slot.getMicroBatch(), 0);
    auto error = [&] { return slot.emitOpError(); };
    FailureOr<Tensor> value = slot.getReader()
                                  ? makeOpenInput(slot.getName(), global, step, microBatch, error)
                                  : makeInput({*slot.getInputKind(), slot.getName().str(),
                                               dyn_cast_or_null<FloatAttr>(slot.getValueAttr())},
                                              global, step, microBatch, EmptyAccumulators(), error);
    if (failed(value))
      return failure();
    ShardingAttr sharding = getSlotSharding(slot, mesh);
    Tensors shards =
        shard(*value, sharding, cast<RankedTensorType>(*slot.getTensor()), getInputFill(slot.getName()));
    shards.resize(getNumRanks(), shards.front());
    writeAll(offset, shards);
    return success();
  }
  case rank::SlotKind::Output:
  case rank::SlotKind::Residual:
  case rank::SlotKind::Frame:
    for (InterpretedArena &arena : arenas)
      arena.discard(offset, slot.getType().getBytes());
    return success();
  }
  llvm_unreachable("unknown SlotKind");
}

FailureOr<rank::SlotOp> RankInterpreter::findOutput(ArrayRef<rank::ScheduleOp> schedules, OutputKind output) {
  for (rank::ScheduleOp schedule : schedules)
    for (auto slot : schedule.getOps<rank::SlotOp>())
      if (slot.getOutputKind() == output)
        return slot;
  return module.emitError("cannot interpret: no schedule of the rank program has the output \"")
         << stringifyOutputKind(output) << "\"";
}

FailureOr<double> RankInterpreter::readScalar(rank::SlotOp slot) {
  enter(slot->getParentOfType<rank::ScheduleOp>());
  FailureOr<Tensors> values = readAll(slot, getAddress(slot), cast<RankedTensorType>(*slot.getTensor()));
  if (failed(values))
    return failure();
  return values->front().scalar();
}

LogicalResult RankInterpreter::run(ArrayRef<rank::ScheduleOp> schedules, const TrainStep &step) {
  running.clear(), routes.clear(), messages.clear(), flights.clear();
  for (rank::ScheduleOp schedule : schedules) {
    enter(schedule);
    for (auto slot : schedule.getOps<rank::SlotOp>())
      if (failed(fillSlot(slot, step)))
        return failure();
    running.push_back({schedule, schedule.getBody().front().begin()});
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (Running &each : running)
      if (failed(advance(each, progress)))
        return failure();
  }
  for (Running &each : running)
    if (!isa<rank::ReturnOp>(*each.next))
      return each.next->emitOpError("cannot be interpreted: no other stage comes to what it waits for");
  return success();
}

/// Runs entries up to one that waits for another stage, or to the end.
LogicalResult RankInterpreter::advance(Running &each, bool &progress) {
  enter(each.schedule);
  for (; !isa<rank::ReturnOp>(*each.next); ++each.next, progress = true) {
    if (auto action = dyn_cast<rank::ActionOp>(*each.next)) {
      if (failed(runAction(action)))
        return failure();
      continue;
    }
    auto exchange = dyn_cast<rank::ExchangeOp>(*each.next);
    if (!exchange)
      continue;
    FailureOr<bool> isDone = runExchange(exchange);
    if (failed(isDone))
      return failure();
    if (!*isDone)
      return success();
  }
  return success();
}

LogicalResult RankInterpreter::runAction(rank::ActionOp action) {
  SmallVector<int64_t> buffers;
  for (Value buffer : action.getBuffers())
    buffers.push_back(getAddress(buffer.getDefiningOp<rank::SlotOp>()));
  int64_t frame = *action.getFrame().getDefiningOp<rank::SlotOp>().getOffset();
  return runFunction(symbols.lookup<rank::FuncOp>(action.getCallee()), frame, buffers);
}

FailureOr<TrainResult> RankInterpreter::step(const TrainStep &step) {
  if (failed(run(stages, step)))
    return failure();
  FailureOr<rank::SlotOp> loss = findOutput(stages, OutputKind::Loss),
                          norm = findOutput(stages, OutputKind::GradNorm);
  if (failed(loss) || failed(norm))
    return failure();
  std::map<std::string, double> losses;
  for (rank::ScheduleOp schedule : stages)
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      if (slot.getOutputKind() != OutputKind::Loss)
        continue;
      FailureOr<double> loss = readScalar(slot);
      if (failed(loss))
        return failure();
      losses.try_emplace(slot.getName().str(), *loss);
    }
  FailureOr<double> value = readScalar(*norm);
  if (failed(value))
    return failure();
  return makeResult(losses, *value);
}

FailureOr<Tensor> RankInterpreter::logits(const TrainStep &step) {
  SmallVector<rank::ScheduleOp> schedules;
  for (auto schedule : module.getOps<rank::ScheduleOp>())
    if (schedule.getPurpose() == rank::Purpose::Logits)
      schedules.push_back(schedule);
  if (failed(run(schedules, step)))
    return failure();
  FailureOr<rank::SlotOp> slot = findOutput(schedules, OutputKind::Logits);
  if (failed(slot))
    return failure();
  return readWhole(*slot);
}

FailureOr<Tensor> RankInterpreter::readWhole(rank::SlotOp slot) {
  enter(slot->getParentOfType<rank::ScheduleOp>());
  FailureOr<Tensors> shards = readAll(slot, getAddress(slot), cast<RankedTensorType>(*slot.getTensor()));
  if (failed(shards))
    return failure();
  return unshard(*shards, getSlotSharding(slot, mesh), cast<RankedTensorType>(*slot.getGlobalType()));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult RankInterpreter::runFunction(rank::FuncOp function, int64_t frame, ArrayRef<int64_t> buffers) {
  if (!function || function.getBody().getNumArguments() != buffers.size())
    return module.emitError("cannot interpret: a call names no rank.func or has another number of buffers");
  Offsets offsets;
  for (auto [argument, offset] : llvm::zip(function.getBody().getArguments(), buffers))
    offsets[argument] = offset;
  size_t before = started.size();
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(evaluate(op, frame, offsets)))
      return failure();
  if (started.size() > before)
    return started.back().start->emitOpError("is started and never waited for");
  return success();
}

LogicalResult RankInterpreter::evaluate(Operation &op, int64_t frame, Offsets &offsets) {
  if (auto alloc = dyn_cast<rank::AllocOp>(op)) {
    if (!alloc.getOffset())
      return op.emitOpError("cannot be interpreted: the buffer has no offset; run rank-plan-memory");
    int64_t offset = offsets[alloc.getBuffer()] =
                (rank::isOnDevice(alloc.getBuffer()) ? frame : hostBegin) + *alloc.getOffset(),
            bytes = alloc.getType().getBytes();
    if (failed(checkBounds(&op, offset, bytes)) || failed(checkStarted(&op, offset, bytes, /*writes=*/true)))
      return failure();
    for (InterpretedArena &arena : arenas)
      arena.discard(offset, bytes);
    return success();
  }
  if (auto copy = dyn_cast<rank::CopyOp>(op)) {
    int64_t from = offsets.lookup(copy.getSource()), to = offsets.lookup(copy.getTarget()),
            bytes = copy.getSource().getType().getBytes();
    if (failed(checkBounds(&op, from, bytes)) || failed(checkBounds(&op, to, bytes)) ||
        failed(checkStarted(&op, from, bytes, /*writes=*/false)) ||
        failed(checkStarted(&op, to, bytes, /*writes=*/true)))
      return failure();
    for (InterpretedArena &arena : arenas)
      arena.copy(from, to, bytes);
    return success();
  }
  if (auto call = dyn_cast<rank::CallOp>(op))
    return evaluateCall(call, offsets);
  if (auto start = dyn_cast<rank::StartOp>(op))
    return evaluateStart(start, offsets);
  if (auto wait = dyn_cast<rank::WaitOp>(op))
    return evaluateWait(wait);
  if (auto work = dyn_cast<rank::WorkOpInterface>(op))
    return evaluateWork(work, offsets);
  return op.emitOpError("cannot be interpreted");
}

LogicalResult RankInterpreter::evaluateCall(rank::CallOp call, const Offsets &offsets) {
  auto callee = symbols.lookup<rank::FuncOp>(call.getCallee());
  for (int64_t part = 0; part < static_cast<int64_t>(call.getParts()); ++part) {
    SmallVector<int64_t> buffers;
    for (auto [number, buffer] : llvm::enumerate(call.getBuffers()))
      buffers.push_back(offsets.lookup(buffer) + part * call.getStride(number, callee));
    if (failed(runFunction(callee, offsets.lookup(call.getFrame()), buffers)))
      return failure();
  }
  return success();
}

FailureOr<std::vector<Tensors>> RankInterpreter::computeWork(rank::WorkOpInterface work,
                                                             const Offsets &offsets) {
  Block &block = work.getBody().front();
  std::vector<Tensors> arguments(getNumRanks());
  for (auto [in, argument] : llvm::zip(work.getIns(), block.getArguments())) {
    FailureOr<Tensors> values = readAll(work, offsets.lookup(in), cast<RankedTensorType>(argument.getType()));
    if (failed(values))
      return failure();
    for (auto [rank, value] : llvm::enumerate(*values))
      arguments[rank].push_back(std::move(value));
  }
  for (Value out : work.getOuts()) {
    int64_t offset = offsets.lookup(out), bytes = cast<rank::BufferType>(out.getType()).getBytes();
    if (failed(checkBounds(work, offset, bytes)) ||
        failed(checkStarted(work, offset, bytes, /*writes=*/true)))
      return failure();
  }
  return interpreter.run(block, std::move(arguments));
}

/// A library call may clobber its scratch memory.
LogicalResult RankInterpreter::evaluateWork(rank::WorkOpInterface work, const Offsets &offsets) {
  FailureOr<std::vector<Tensors>> results = computeWork(work, offsets);
  if (failed(results))
    return failure();
  for (auto [number, out] : llvm::enumerate(work.getOuts()))
    for (auto [rank, arena] : llvm::enumerate(arenas))
      arena.write(offsets.lookup(out), (*results)[rank][number]);
  return success();
}

//===----------------------------------------------------------------------===//
// Started collectives
//===----------------------------------------------------------------------===//

/// `op` is about to read or write a range of the arena.
LogicalResult RankInterpreter::checkStarted(Operation *op, int64_t offset, int64_t bytes, bool writes) const {
  static const std::vector<Started> none;
  auto own = flights.find(stage);
  for (const Started &other : llvm::concat<const Started>(started, own == flights.end() ? none : own->second))
    for (const Started::Range &range : other.ranges)
      if ((writes || range.isWritten) && offset < range.offset + range.bytes &&
          range.offset < offset + bytes) {
        InFlightDiagnostic error = op->emitOpError(writes ? "writes" : "reads")
                                   << " bytes " << offset << " to " << offset + bytes << ", which are "
                                   << (range.isWritten ? "written" : "read")
                                   << " by what was started and not waited for";
        error.attachNote(other.start->getLoc()) << "started here";
        return error;
      }
  return success();
}

LogicalResult RankInterpreter::evaluateStart(rank::StartOp start, const Offsets &offsets) {
  FailureOr<std::vector<Tensors>> results = computeWork(start, offsets);
  if (failed(results))
    return failure();
  Started begun{start, std::move(*results), {}, {}};
  auto add = [&](Value buffer, bool isWritten) {
    begun.ranges.push_back(
        {offsets.lookup(buffer), cast<rank::BufferType>(buffer.getType()).getBytes(), isWritten});
  };
  for (Value in : start.getIns())
    add(in, false);
  for (Value out : start.getOuts()) {
    add(out, true);
    begun.outs.push_back(offsets.lookup(out));
    // In place, what is read stays; elsewhere nothing is there yet.
    if (!llvm::is_contained(start.getIns(), out))
      for (InterpretedArena &arena : arenas)
        arena.discard(offsets.lookup(out), cast<rank::BufferType>(out.getType()).getBytes());
  }
  started.push_back(std::move(begun));
  return success();
}

LogicalResult RankInterpreter::evaluateWait(rank::WaitOp wait) {
  auto ended =
      llvm::find_if(started, [&](Started &other) { return other.start == wait.getEvent().getDefiningOp(); });
  if (ended == started.end())
    return wait.emitOpError("waits for what was not started");
  for (auto [number, offset] : llvm::enumerate(ended->outs))
    for (auto [rank, arena] : llvm::enumerate(arenas))
      arena.write(offset, ended->results[rank][number]);
  started.erase(ended);
  return success();
}
