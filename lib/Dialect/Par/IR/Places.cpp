//===- Places.cpp - finding chunk functions and their values --------------------------------------------===//
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

bool par::isBackward(Phase phase) {
  return phase == Phase::Backward || phase == Phase::BackwardInput || phase == Phase::BackwardWeight ||
         phase == Phase::BackwardLast || phase == Phase::BackwardWeightLast;
}

bool par::isEvaluation(Phase phase) { return phase == Phase::Eval || phase == Phase::Logits; }

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

PhaseAttr par::getPhase(func::FuncOp function) {
  return function->getAttrOfType<PhaseAttr>(ParDialect::kPhaseAttr);
}

bool par::isPhase(func::FuncOp function, Phase phase) {
  PhaseAttr attribute = getPhase(function);
  return attribute && attribute.getPhase() == phase;
}

int64_t par::getChunk(func::FuncOp function) {
  PhaseAttr attribute = getPhase(function);
  return attribute ? attribute.getChunk() : 0;
}

int64_t par::getStage(func::FuncOp function) {
  PhaseAttr attribute = getPhase(function);
  return attribute ? attribute.getStage() : 0;
}

void par::setPhase(func::FuncOp function, Phase phase, int64_t chunk, int64_t stage) {
  function->setAttr(ParDialect::kPhaseAttr, PhaseAttr::get(function.getContext(), phase, chunk, stage));
}

void par::setPhase(func::FuncOp function, Phase phase, func::FuncOp like) {
  setPhase(function, phase, getChunk(like), getStage(like));
}

std::string par::nameFor(func::FuncOp like, Phase phase) {
  std::string name = like.getName().str();
  StringRef own = stringifyPhase(getPhase(like).getPhase());
  size_t position = name.find(own);
  if (position == std::string::npos)
    return name + "." + stringifyPhase(phase).str();
  return name.replace(position, own.size(), stringifyPhase(phase));
}

PlaceAttr par::getPlace(func::FuncOp function, unsigned argument) {
  return function.getArgAttrOfType<PlaceAttr>(argument, ParDialect::kPlaceAttr);
}

PlaceAttr par::getResultPlace(func::FuncOp function, unsigned result) {
  return function.getResultAttrOfType<PlaceAttr>(result, ParDialect::kPlaceAttr);
}

void par::setPlace(func::FuncOp function, unsigned argument, PlaceAttr place) {
  function.setArgAttr(argument, ParDialect::kPlaceAttr, place);
}

void par::setResultPlace(func::FuncOp function, unsigned result, PlaceAttr place) {
  function.setResultAttr(result, ParDialect::kPlaceAttr, place);
}

FlatSymbolRefAttr par::getVariable(func::FuncOp function, unsigned argument) {
  PlaceAttr place = getPlace(function, argument);
  return place ? place.getVariable() : nullptr;
}

FlatSymbolRefAttr par::getResultVariable(func::FuncOp function, unsigned result) {
  PlaceAttr place = getResultPlace(function, result);
  return place ? place.getVariable() : nullptr;
}

std::optional<InputKind> par::getInput(func::FuncOp function, unsigned argument) {
  PlaceAttr place = getPlace(function, argument);
  return place ? place.getInput() : std::nullopt;
}

StringRef par::getInputName(func::FuncOp function, unsigned argument) {
  PlaceAttr place = getPlace(function, argument);
  return place ? place.getInputName() : StringRef();
}

std::optional<OutputKind> par::getOutput(func::FuncOp function, unsigned result) {
  PlaceAttr place = getResultPlace(function, result);
  return place ? place.getOutput() : std::nullopt;
}

std::optional<int64_t> par::getResidual(func::FuncOp function, unsigned argument) {
  PlaceAttr place = getPlace(function, argument);
  return place ? place.getResidual() : std::nullopt;
}

std::optional<int64_t> par::getResultResidual(func::FuncOp function, unsigned result) {
  PlaceAttr place = getResultPlace(function, result);
  return place ? place.getResidual() : std::nullopt;
}

std::optional<int64_t> par::getBoundary(func::FuncOp function, unsigned argument) {
  PlaceAttr place = getPlace(function, argument);
  return place ? place.getBoundary() : std::nullopt;
}

std::optional<int64_t> par::getResultBoundary(func::FuncOp function, unsigned result) {
  PlaceAttr place = getResultPlace(function, result);
  return place ? place.getBoundary() : std::nullopt;
}

std::optional<int64_t> par::getAlias(func::FuncOp function, unsigned result) {
  PlaceAttr place = getResultPlace(function, result);
  return place ? place.getAlias() : std::nullopt;
}

FlatSymbolRefAttr par::getVariable(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function ? getVariable(function, argument.getArgNumber()) : nullptr;
}

RankedTensorType par::getGlobalType(func::FuncOp function, unsigned argument) {
  auto global = function.getArgAttrOfType<TypeAttr>(argument, ParDialect::kGlobalTypeAttr);
  return dyn_cast<RankedTensorType>(global ? global.getValue() : function.getArgumentTypes()[argument]);
}

bool par::isLoss(func::FuncOp function, unsigned result) {
  return getOutput(function, result) == OutputKind::Loss;
}

bool par::hasWeight(PlaceAttr loss) { return loss.getLoss() || loss.getWeight(); }

std::string par::getLossVariable(PlaceAttr loss) { return loss.getRuntimeName(); }

PlaceAttr par::getLossOf(MLIRContext *context, StringRef variable) {
  auto [kind, name] = variable.split('.');
  if (kind != kMainLoss)
    return nullptr;
  return PlaceAttr::ofLoss(context, name.empty() ? StringAttr() : StringAttr::get(context, name));
}

std::optional<unsigned> par::findArgument(func::FuncOp function, PlaceAttr place) {
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
    if (getPlace(function, argument) == place)
      return argument;
  return std::nullopt;
}

std::optional<unsigned> par::findResult(func::FuncOp function, PlaceAttr place) {
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (getResultPlace(function, result) == place)
      return result;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// A module
//===----------------------------------------------------------------------===//

ChunkFunctions::ChunkFunctions(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    PhaseAttr phase = getPhase(function);
    if (!phase)
      continue;
    byPhase.try_emplace({phase.getPhase(), phase.getChunk()}, function);
    inOrder.push_back(function);
    if (!llvm::is_contained(chunks, phase.getChunk()))
      chunks.push_back(phase.getChunk());
  }
  llvm::sort(chunks);
}

func::FuncOp ChunkFunctions::find(Phase phase, int64_t chunk) const {
  auto found = byPhase.find({phase, chunk});
  return found == byPhase.end() ? func::FuncOp() : found->second;
}

SmallVector<func::FuncOp> ChunkFunctions::getAll(Phase phase) const {
  SmallVector<func::FuncOp> functions;
  for (auto found = byPhase.lower_bound({phase, 0}); found != byPhase.end() && found->first.first == phase;
       ++found)
    functions.push_back(found->second);
  return functions;
}

std::set<int64_t> ChunkFunctions::getReducedInLast() const {
  std::set<int64_t> reduced;
  for (Phase phase : {Phase::BackwardLast, Phase::BackwardWeightLast})
    for (func::FuncOp function : getAll(phase))
      reduced.insert(getChunk(function));
  return reduced;
}

std::vector<int64_t> ChunkFunctions::getStages() const {
  std::vector<int64_t> stages(chunks.empty() ? 0 : size_t(chunks.back()) + 1);
  for (func::FuncOp function : inOrder)
    stages[size_t(getChunk(function))] = getStage(function);
  return stages;
}

bool ChunkFunctions::isDifferentiated() const {
  return llvm::any_of(inOrder,
                      [](func::FuncOp function) { return isBackward(getPhase(function).getPhase()); });
}

/// Whether functions of several chunks of the stage write it.
bool Accumulation::isShared(FlatSymbolRefAttr accumulator, int64_t stage) {
  if (adders.empty())
    for (func::FuncOp function : functions.getAll())
      for (unsigned result = 0; result < function.getNumResults(); ++result)
        if (FlatSymbolRefAttr written = getResultVariable(function, result))
          adders[{written, getStage(function)}].insert(getChunk(function));
  return adders.lookup({accumulator, stage}).size() > 1;
}

/// Whether a weight part that also reduces finds the sum of the input part there.
bool Accumulation::isOnlyReduced(func::FuncOp function, FlatSymbolRefAttr accumulator) const {
  if (!isPhase(function, Phase::BackwardWeightLast))
    return false;
  func::FuncOp input = functions.find(Phase::BackwardInput, getChunk(function));
  return input && findResult(input, PlaceAttr::ofVariable(accumulator));
}

Accumulation::Accumulators Accumulation::find(func::FuncOp function) {
  Accumulators found;
  auto reads = [&](InputKind input) {
    return findArgument(function, PlaceAttr::ofInput(function.getContext(), input)).has_value();
  };
  if (!reads(InputKind::Beta) && !reads(InputKind::SharedBeta))
    return found;
  SmallVector<FlatSymbolRefAttr> sums;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
    if (FlatSymbolRefAttr symbol = getVariable(function, argument)) {
      auto variable = symbols.lookup<VariableOp>(symbol.getAttr());
      if (variable && variable.getRole() == Role::Accumulator && !isOnlyReduced(function, symbol))
        (!variable.getOf()                      ? sums
         : isShared(symbol, getStage(function)) ? found.shared
                                                : found.own)
            .push_back(symbol);
    }
  // Forward adds to the loss. Of a backward that also reduces, it is an argument that is only read.
  if (found.own.empty() && found.shared.empty())
    found.own = sums;
  return found;
}

FailureOr<EmptyAccumulators> Accumulation::begin(func::FuncOp function) {
  if (auto known = later.find(function); known != later.end())
    return known->second;
  Accumulators accumulators = find(function);
  FailureOr<bool> ownEmpty = begin(function, accumulators.own);
  FailureOr<bool> sharedEmpty = begin(function, accumulators.shared);
  if (failed(ownEmpty) || failed(sharedEmpty))
    return failure();
  later[function] = {accumulators.own.empty() && *ownEmpty, accumulators.shared.empty() && *sharedEmpty};
  return EmptyAccumulators{*ownEmpty, *sharedEmpty};
}

FailureOr<bool> Accumulation::begin(func::FuncOp function, ArrayRef<FlatSymbolRefAttr> accumulators) {
  size_t empty = llvm::count_if(accumulators, [&](Attribute symbol) { return begun.insert(symbol).second; });
  if (empty != 0 && empty != accumulators.size())
    return LogicalResult(function.emitError("beta of @")
                         << function.getName() << " is 0 for " << empty << " accumulators and 1 for "
                         << accumulators.size() - empty
                         << "; expected functions that add to the same accumulators");
  return empty == accumulators.size();
}
