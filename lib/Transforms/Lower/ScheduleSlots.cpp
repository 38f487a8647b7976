//===- ScheduleSlots.cpp - the memory that actions of a schedule work on --------------------------------===//
#include "ScheduleSlots.h"

using namespace mlir;
using namespace mlir::par;

static rank::Category getCategory(VariableOp variable) {
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

Phase par::getForwardPhase(rank::Purpose purpose) {
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

ScheduleSlots::ScheduleSlots(const ChunkFunctions &functions, const SymbolTable &symbols,
                             rank::Purpose purpose, const PipelineSchedule &lists, size_t stage,
                             Operation *end)
    : functions(functions), symbols(symbols), forward(getForwardPhase(purpose)), lists(lists),
      stage(static_cast<int64_t>(stage)), received(functions),
      flights(lists, stage, received.getLongFlights(functions, forward)), builder(end) {}

Value ScheduleSlots::make(rank::SlotKind kind, StringRef name, rank::Category category, RankedTensorType type,
                          rank::Space space) {
  Location location = symbols.getOp()->getLoc();
  auto buffer = rank::BufferType::get(builder.getContext(), type ? rank::getBytes(type) : 0, space);
  return builder.create<rank::SlotOp>(location, buffer, kind, name, category,
                                      type ? TypeAttr::get(type) : TypeAttr(), -1, nullptr, nullptr, nullptr,
                                      nullptr, nullptr, nullptr, 0, nullptr);
}

Value ScheduleSlots::makeFrame(ActionKind kind) {
  return make(rank::SlotKind::Frame, stringifyActionKind(kind), rank::Category::Workspace, nullptr);
}

//===----------------------------------------------------------------------===//
// The same for every micro-batch
//===----------------------------------------------------------------------===//

/// `also` lists the variables that live in a slot beside the one it is named after.
static void addAlias(rank::SlotOp slot, StringRef name) {
  SmallVector<Attribute> names;
  if (ArrayAttr also = slot.getAlsoAttr())
    names.assign(also.begin(), also.end());
  names.push_back(StringAttr::get(slot.getContext(), name));
  slot.setAlsoAttr(ArrayAttr::get(slot.getContext(), names));
}

Value ScheduleSlots::findShared(VariableOp variable, RankedTensorType type) const {
  auto owner = variable.getAlias() ? symbols.lookup<VariableOp>(*variable.getAlias()) : VariableOp();
  if (!owner || !isStoredAlike(variable, owner))
    return {};
  Value slot = findVariable(*variable.getAlias());
  return slot && slot.getDefiningOp<rank::SlotOp>().getTensor().value_or(Type()) == type ? slot : Value();
}

Value ScheduleSlots::makeVariable(VariableOp variable, RankedTensorType type) {
  if (Value shared = findShared(variable, type)) {
    addAlias(shared.getDefiningOp<rank::SlotOp>(), variable.getSymName());
    return shared;
  }
  // A gathered copy means nothing between steps: its memory is others' when the last backward is over.
  bool isKept = variable.getRole() != Role::Gathered;
  bool isPinned = variable.getSpace() == MemorySpace::Host;
  return make(isKept ? rank::SlotKind::Variable : rank::SlotKind::Residual, variable.getSymName(),
              getCategory(variable), type, isPinned ? rank::Space::Pinned : rank::Space::Device);
}

Value ScheduleSlots::getVariable(StringRef name, RankedTensorType type) {
  if (Value known = findVariable(name))
    return known;
  return variables[name] = makeVariable(symbols.lookup<VariableOp>(name), type);
}

Value ScheduleSlots::getConstant(StringRef name, RankedTensorType type, TypedAttr first, int64_t step) {
  Value &slot = constants[{name, first, step, type}];
  if (!slot) {
    slot = make(rank::SlotKind::Constant, name, rank::Category::Workspace, type);
    auto op = slot.getDefiningOp<rank::SlotOp>();
    op.setValueAttr(first);
    op.setStep(step);
  }
  return slot;
}

Value ScheduleSlots::getRuntime(rank::SlotKind kind, StringRef name, RankedTensorType type,
                                int64_t microBatch, TypeAttr global, Attribute sharding) {
  Value &slot = runtime[{kind, name.str(), microBatch}];
  if (slot)
    return slot;
  slot = make(kind, name, rank::Category::Workspace, type);
  auto op = slot.getDefiningOp<rank::SlotOp>();
  op.setMicroBatch(microBatch);
  op.setGlobalTypeAttr(global ? global : TypeAttr::get(type));
  if (sharding)
    op.setShardingAttr(sharding);
  return slot;
}

//===----------------------------------------------------------------------===//
// What is in flight
//===----------------------------------------------------------------------===//

Flight ScheduleSlots::findFlight(int64_t chunk, PlaceAttr place) const {
  func::FuncOp input = functions.find(Phase::BackwardInput, chunk);
  if (input && findResult(input, place))
    return Flight::HandedResiduals;
  for (Phase phase : {Phase::BackwardWeight, Phase::BackwardWeightLast})
    if (func::FuncOp weight = functions.find(phase, chunk); weight && findArgument(weight, place))
      return Flight::WeightResiduals;
  return Flight::Residuals;
}

FlightSlots &ScheduleSlots::getResidual(int64_t chunk, int64_t number, RankedTensorType type) {
  auto place = PlaceAttr::ofResidual(builder.getContext(), number);
  if (std::optional<Crossing> crossing = received.findResidual(chunk, place))
    return getBoundary(crossing->flight, crossing->cut, crossing->number, type);
  auto [entry, isNew] = residuals.try_emplace({chunk, number});
  if (isNew)
    entry->second = {std::to_string(chunk) + "." + std::to_string(number),
                     type,
                     flights.getPlaces(findFlight(chunk, place), chunk),
                     {}};
  return entry->second;
}

FlightSlots &ScheduleSlots::getBoundary(Flight flight, int64_t cut, int64_t number, RankedTensorType type) {
  bool isGradient = flight == Flight::Gradient;
  int64_t maker = isGradient ? cut + 1 : cut;
  if (lists.stageOfChunk[maker] == stage)
    if (std::optional<Crossing> before = received.find(isGradient ? Phase::Backward : forward, maker,
                                                       PlaceAttr::ofBoundary(builder.getContext(), number)))
      return getBoundary(flight, before->cut, before->number, type);
  auto [entry, isNew] = crossings.try_emplace({flight, cut, number});
  if (isNew)
    entry->second = {(isGradient ? "gradient " : "activation ") + std::to_string(cut) + "." +
                         std::to_string(number),
                     type,
                     flights.getPlaces(flight, cut),
                     {}};
  return entry->second;
}

Value ScheduleSlots::getSlot(FlightSlots &flight, int64_t microBatch) {
  auto number = static_cast<size_t>(microBatch); // huge for what is of none
  unsigned place = number < flight.places.size() ? flight.places[number] : 0;
  if (place >= flight.slots.size())
    flight.slots.resize(place + 1);
  Value &slot = flight.slots[place];
  if (!slot)
    slot = make(rank::SlotKind::Residual, place ? flight.name + "." + std::to_string(place) : flight.name,
                rank::Category::Activations, flight.type);
  return slot;
}
