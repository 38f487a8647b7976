//===- BuildOptimizer.cpp - reduction of gradients, their norm and the update of parameters -------------===//
#include "JointFunction.h"
#include "UpdateBuilder.h"
#include "par/Support/NamePatterns.h"
#include "par/Transforms/Differentiate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_BUILDOPTIMIZER
#include "par/Transforms/Differentiate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {

/// A chunk and the parameters that its functions reduce and update: those that no chunk before it on its
/// stage reads.
struct ChunkState {
  func::FuncOp forward;
  SmallVector<ParameterState> states;
  SmallVector<VariableOp> losses; ///< that it adds to
  bool isFirstOfStage;
};

struct BuildOptimizerPass : public par::impl::BuildOptimizerBase<BuildOptimizerPass> {
  using BuildOptimizerBase::BuildOptimizerBase;
  void runOnOperation() override;

private:
  LogicalResult collectChunks();
  LogicalResult collectStates(ChunkState &chunk, llvm::DenseSet<Attribute> &onStage);
  LogicalResult checkNames();
  LogicalResult chooseDecay();
  std::string getName(const ChunkState &chunk, Phase phase);
  VariableOp createVariable(StringRef name, RankedTensorType type, Role role, VariableOp of,
                            VariableOp alias);
  VariableOp createMaster(VariableOp parameter);
  void createVariables();
  FunctionWriter createFunction(const ChunkState &chunk, Phase phase);
  void buildReduce(const ChunkState &chunk);
  void buildNorm(const ChunkState &chunk);
  void buildUpdate(const ChunkState &chunk);
  Value buildSumOfSquares(OpBuilder &builder, Value gradient);

  SmallVector<ChunkState> chunks;
  std::map<Operation *, int64_t> owners; ///< parameter → its first chunk, which counts it in the norm
  Type momentElement;
  VariableOp gradNorm, squares, last;
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

static bool accumulatesLoss(VariableOp variable) {
  return variable.getRole() == Role::Accumulator && !variable.getOf();
}

LogicalResult BuildOptimizerPass::collectChunks() {
  SmallVector<func::FuncOp> found = ChunkFunctions(getOperation()).getAll(Phase::Forward);
  if (found.empty())
    return getOperation().emitError(
        "par-build-optimizer: no function is of phase forward; nothing is trained");
  std::map<int64_t, llvm::DenseSet<Attribute>> onStage;
  for (func::FuncOp forward : found) {
    auto [known, isNew] = onStage.try_emplace(getStage(forward));
    chunks.push_back({forward, {}, {}, isNew});
    if (failed(collectStates(chunks.back(), known->second)))
      return failure();
  }
  if (llvm::any_of(getOperation().getOps<VariableOp>(), accumulatesLoss))
    return success();
  return getOperation().emitError(
      "par-build-optimizer: no variable accumulates the loss; run par-differentiate first");
}

LogicalResult BuildOptimizerPass::collectStates(ChunkState &chunk, llvm::DenseSet<Attribute> &onStage) {
  SymbolTable symbols(getOperation());
  llvm::DenseMap<Attribute, VariableOp> accumulators = collectAccumulators(getOperation());
  func::FuncOp forward = chunk.forward;
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    FlatSymbolRefAttr bind = getVariable(forward, index);
    auto parameter = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : nullptr;
    if (!parameter || !parameter.isTrained() || !onStage.insert(bind).second)
      continue;
    Type element = parameter.getTensorType().getElementType();
    if (!element.isF32() && !element.isBF16())
      return parameter.emitOpError("has type ")
             << parameter.getTensorType() << ", expected elements of f32 or bf16: no other type is trained";
    VariableOp accumulator = accumulators.lookup(bind);
    if (!accumulator) {
      InFlightDiagnostic error = parameter.emitOpError("has no accumulator; run par-differentiate first");
      error.attachNote(forward.getLoc()) << "trained by @" << forward.getName();
      return error;
    }
    owners.try_emplace(parameter, getChunk(forward));
    chunk.states.push_back({parameter, accumulator, nullptr, nullptr, {}, std::nullopt});
  }
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    FlatSymbolRefAttr bind = getVariable(forward, index);
    auto variable = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : nullptr;
    if (variable && accumulatesLoss(variable))
      chunk.losses.push_back(variable);
  }
  return success();
}

/// A model of one chunk has "reduce" whatever its forward function is called.
std::string BuildOptimizerPass::getName(const ChunkState &chunk, Phase phase) {
  return chunks.size() == 1 ? stringifyPhase(phase).str() : nameFor(chunk.forward, phase);
}

LogicalResult BuildOptimizerPass::checkNames() {
  SmallVector<std::string> names = {"grad_norm", kSquaresVariable.str()};
  for (const ChunkState &chunk : chunks) {
    for (Phase phase : {Phase::Reduce, Phase::Norm, Phase::Update})
      names.push_back(getName(chunk, phase));
    for (const ParameterState &state : chunk.states)
      for (const char *suffix : {".master", ".gradient", ".m", ".v"})
        names.push_back((VariableOp(state.parameter).getSymName() + suffix).str());
  }
  SymbolTable symbols(getOperation());
  for (StringRef name : names)
    if (Operation *other = symbols.lookup(name))
      return other->emitError("@")
             << name
             << " is the name of state or a function that par-build-optimizer adds; rename this symbol";
  return success();
}

LogicalResult BuildOptimizerPass::chooseDecay() {
  std::vector<std::string> texts(decayOn.begin(), decayOn.end());
  llvm::Expected<NamePatterns> parsed = NamePatterns::parse(texts);
  if (!parsed)
    return getOperation().emitError("par-build-optimizer: ") << llvm::toString(parsed.takeError());
  if (parsed->empty())
    return success();
  SmallVector<StringRef> names;
  for (ChunkState &chunk : chunks)
    for (ParameterState &state : chunk.states) {
      names.push_back(state.parameter.getModelName());
      state.decays = parsed->match(names.back());
    }
  if (std::string idle = parsed->findIdle(names); !idle.empty())
    return getOperation().emitError("par-build-optimizer: decay-on: no trained parameter's name is like '")
           << idle << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

VariableOp BuildOptimizerPass::createVariable(StringRef name, RankedTensorType type, Role role, VariableOp of,
                                              VariableOp alias) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfter(last);
  auto symbol = [](VariableOp variable) {
    return variable ? FlatSymbolRefAttr::get(variable) : FlatSymbolRefAttr();
  };
  // State that is stored in its own way is also computed with in that way.
  ShardingAttr storage = of ? getStateStorage(of, role) : ShardingAttr(), compute = storage;
  if (of && !storage)
    compute = getDimensionSharding(of.getComputeAttr());
  last =
      builder.create<VariableOp>(last.getLoc(), name, type, of ? of.getDims() : builder.getStrArrayAttr({}),
                                 role, InitAttr::getZeros(&getContext()), FileAttr(), storage, compute,
                                 symbol(of), symbol(alias), MemorySpaceAttr());
  return last;
}

/// The parameter in f32; it begins as the parameter does, before that is rounded.
VariableOp BuildOptimizerPass::createMaster(VariableOp parameter) {
  VariableOp master = createVariable((parameter.getSymName() + ".master").str(),
                                     parameter.getTensorType().clone(Float32Type::get(&getContext())),
                                     Role::Master, parameter, nullptr);
  if (InitAttr init = parameter.getInitAttr())
    master.setInitAttr(init);
  return master;
}

/// State is created once per parameter; on every stage that reads it, a program has its own copy.
void BuildOptimizerPass::createVariables() {
  for (VariableOp variable : getOperation().getOps<VariableOp>())
    last = variable;
  SmallVector<ParameterState *> states;
  for (ChunkState &chunk : chunks)
    for (ParameterState &state : chunk.states)
      if (owners[state.parameter] == getChunk(chunk.forward))
        states.push_back(&state);
  auto create = [&](VariableOp of, StringRef suffix, Type element, Role role, VariableOp alias) {
    return createVariable((of.getSymName() + suffix).str(), of.getTensorType().clone(element), role, of,
                          alias);
  };
  for (ParameterState *state : states)
    if (!state->parameter.getTensorType().getElementType().isF32())
      state->master = createMaster(state->parameter);
  for (ParameterState *state : states)
    state->gradient =
        create(state->parameter, ".gradient", state->accumulator.getTensorType().getElementType(),
               Role::Gradient, state->accumulator);
  if (optimizer == "adamw")
    for (const char *suffix : {".m", ".v"})
      for (ParameterState *state : states)
        state->moments.push_back(create(state->parameter, suffix, momentElement, Role::Moment, nullptr));
  std::map<Operation *, ParameterState *> created;
  for (ParameterState *state : states)
    created[state->parameter] = state;
  for (ChunkState &chunk : chunks)
    for (ParameterState &state : chunk.states)
      state = *created[state.parameter];
  auto scalar = RankedTensorType::get({}, Float32Type::get(&getContext()));
  if (chunks.size() > 1)
    squares = createVariable(kSquaresVariable, scalar, Role::Step, nullptr, nullptr);
  gradNorm = createVariable("grad_norm", scalar, Role::Step, nullptr, nullptr);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FunctionWriter BuildOptimizerPass::createFunction(const ChunkState &chunk, Phase phase) {
  func::FuncOp forward = chunk.forward;
  FunctionWriter writer(getOperation(), forward.getLoc(), getName(chunk, phase));
  setPhase(writer.function, phase, forward);
  return writer;
}

/// Accumulators become gradients unchanged: between the two variables partial sums are completed. Losses, in
/// the chunk that adds to them, become means.
void BuildOptimizerPass::buildReduce(const ChunkState &chunk) {
  func::FuncOp forward = chunk.forward;
  FunctionWriter reduce = createFunction(chunk, Phase::Reduce);
  for (const ParameterState &state : chunk.states)
    reduce.addResult(state.gradient, reduce.addArgument(state.accumulator));
  Value scale;
  for (VariableOp variable : chunk.losses) {
    Value loss = reduce.addArgument(variable);
    if (!scale)
      scale = reduce.addArgument(loss.getType(), PlaceAttr::ofInput(&getContext(), InputKind::LossScale),
                                 nullptr);
    Value mean = reduce.builder.create<arith::MulFOp>(forward.getLoc(), loss, scale);
    reduce.addResult(mean, getLossOf(&getContext(), variable.getSymName()), nullptr);
  }
  reduce.finish();
}

/// In f32 whatever the gradient's type is.
Value BuildOptimizerPass::buildSumOfSquares(OpBuilder &builder, Value gradient) {
  auto type = cast<RankedTensorType>(gradient.getType());
  if (type.getRank() == 0) {
    gradient = convertFloat(builder, gradient.getLoc(), gradient, builder.getF32Type());
    return builder.create<arith::MulFOp>(gradient.getLoc(), gradient, gradient);
  }
  std::string letters;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    letters.push_back(static_cast<char>('a' + dim));
  std::string equation = letters + "," + letters + "->";
  return builder.create<EinsumOp>(gradient.getLoc(), RankedTensorType::get({}, builder.getF32Type()),
                                  builder.getStringAttr(equation), ValueRange{gradient, gradient},
                                  TypeAttr());
}

/// Sums of equally sharded gradients come together first: their partial sums are completed by one collective.
/// Of several chunks the norm is known when the schedule has summed up what all stages give: chunks of a
/// stage add to @grad_squares, and the update takes its root.
void BuildOptimizerPass::buildNorm(const ChunkState &chunk) {
  FunctionWriter norm = createFunction(chunk, Phase::Norm);
  func::FuncOp forward = chunk.forward;
  Location location = forward.getLoc();
  auto add = [&](Value a, Value b) -> Value {
    return a ? norm.builder.create<arith::AddFOp>(location, a, b).getResult() : b;
  };
  llvm::MapVector<Attribute, SmallVector<Value>> groups;
  for (const ParameterState &state : chunk.states)
    if (VariableOp gradient = state.gradient; owners[state.parameter] == getChunk(forward))
      groups[gradient.getComputeAttr()].push_back(norm.addArgument(gradient));
  Value total = squares && !chunk.isFirstOfStage ? norm.addArgument(squares) : Value();
  for (auto &[sharding, gradients] : groups) {
    Value sum;
    for (Value gradient : gradients)
      sum = add(sum, buildSumOfSquares(norm.builder, gradient));
    total = add(total, sum);
  }
  if (!total)
    total = buildSplat(norm.builder, location, gradNorm.getTensorType(), 0.0);
  if (squares)
    norm.addResult(squares, total);
  else
    norm.addResult(norm.builder.create<math::SqrtOp>(location, total),
                   PlaceAttr::ofVariable(FlatSymbolRefAttr::get(gradNorm), OutputKind::GradNorm),
                   gradNorm.getComputeAttr());
  norm.finish();
}

void BuildOptimizerPass::buildUpdate(const ChunkState &chunk) {
  FunctionWriter update = createFunction(chunk, Phase::Update);
  Value norm;
  auto readNorm = [&] {
    norm = update.addArgument(squares ? squares : gradNorm);
    return norm = squares ? update.builder.create<math::SqrtOp>(update.function.getLoc(), norm) : norm;
  };
  UpdateBuilder(getOperation(), chunk.forward, chunk.states, optimizer == "adamw").build(update, readNorm);
  if (squares && chunk.isFirstOfStage)
    update.addResult(norm, PlaceAttr::ofVariable(FlatSymbolRefAttr::get(gradNorm), OutputKind::GradNorm),
                     gradNorm.getComputeAttr());
  update.finish();
}

void BuildOptimizerPass::runOnOperation() {
  chunks.clear(), owners.clear();
  squares = nullptr;
  if (optimizer != "adamw" && optimizer != "sgd") {
    getOperation().emitError("par-build-optimizer: optimizer=")
        << optimizer << " is unknown, expected adamw or sgd";
    return signalPassFailure();
  }
  momentElement = parseStateType(&getContext(), momentType);
  if (!momentElement) {
    getOperation().emitError("par-build-optimizer: moment-type=")
        << momentType << " is unknown, expected f32 or bf16";
    return signalPassFailure();
  }
  if (failed(collectChunks()) || failed(checkNames()) || failed(chooseDecay()))
    return signalPassFailure();
  createVariables();
  for (auto build :
       {&BuildOptimizerPass::buildReduce, &BuildOptimizerPass::buildNorm, &BuildOptimizerPass::buildUpdate})
    for (const ChunkState &chunk : chunks)
      (this->*build)(chunk);
}
