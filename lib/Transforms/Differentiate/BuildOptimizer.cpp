//===- BuildOptimizer.cpp - reduction of gradients, their norm and the update of parameters -------------===//
#include "JointFunction.h"
#include "UpdateBuilder.h"
#include "par/Transforms/Differentiate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_BUILDOPTIMIZER
#include "par/Transforms/Differentiate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {

struct BuildOptimizerPass : public par::impl::BuildOptimizerBase<BuildOptimizerPass> {
  using BuildOptimizerBase::BuildOptimizerBase;
  void runOnOperation() override;

private:
  FailureOr<func::FuncOp> findForward();
  LogicalResult collectStates();
  LogicalResult checkNames();
  VariableOp createVariable(StringRef name, RankedTensorType type, Role role, VariableOp of,
                            VariableOp alias);
  VariableOp createMaster(VariableOp parameter);
  void createVariables();
  FunctionWriter createFunction(Phase phase);
  void buildReduce();
  void buildNorm();
  Value buildSumOfSquares(OpBuilder &builder, Value gradient);

  func::FuncOp forward;
  SmallVector<ParameterState> states;
  Type momentElement;
  VariableOp gradNorm, lossVariable, last;
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

FailureOr<func::FuncOp> BuildOptimizerPass::findForward() {
  SmallVector<func::FuncOp> found = ChunkFunctions(getOperation()).getAll(Phase::Forward);
  if (found.empty())
    return getOperation().emitError(
               "par-build-optimizer: no function is of phase forward; nothing is trained"),
           failure();
  if (found.size() > 1) {
    InFlightDiagnostic error = found[1].emitError("par-build-optimizer: the module has ")
                               << found.size() << " chunks, expected 1; pipelines are not built";
    error.attachNote(found[0].getLoc()) << "another chunk";
    return failure();
  }
  return found.front();
}

LogicalResult BuildOptimizerPass::collectStates() {
  SymbolTable symbols(getOperation());
  llvm::DenseMap<Attribute, VariableOp> accumulators = collectAccumulators(getOperation());
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    FlatSymbolRefAttr bind = getVariable(forward, index);
    auto parameter = bind ? symbols.lookup<VariableOp>(bind.getValue()) : nullptr;
    if (!parameter || parameter.getRole() != Role::Parameter)
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
    states.push_back({parameter, accumulator, nullptr, nullptr, {}});
  }
  lossVariable = accumulators.lookup(Attribute());
  if (!lossVariable)
    return forward.emitError("@") << forward.getName()
                                  << ": no variable accumulates the loss; run par-differentiate first";
  return success();
}

LogicalResult BuildOptimizerPass::checkNames() {
  SmallVector<std::string> names = {"grad_norm"};
  for (Phase phase : {Phase::Reduce, Phase::Norm, Phase::Update})
    names.push_back(stringifyPhase(phase).str());
  for (ParameterState &state : states)
    for (const char *suffix : {".master", ".gradient", ".m", ".v"})
      names.push_back((state.parameter.getSymName() + suffix).str());
  SymbolTable symbols(getOperation());
  for (StringRef name : names)
    if (Operation *other = symbols.lookup(name))
      return other->emitError("@")
             << name
             << " is the name of state or a function that par-build-optimizer adds; rename this symbol";
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

void BuildOptimizerPass::createVariables() {
  for (VariableOp variable : getOperation().getOps<VariableOp>())
    last = variable;
  auto create = [&](VariableOp of, StringRef suffix, Type element, Role role, VariableOp alias) {
    return createVariable((of.getSymName() + suffix).str(), of.getTensorType().clone(element), role, of,
                          alias);
  };
  for (ParameterState &state : states)
    if (!state.parameter.getTensorType().getElementType().isF32())
      state.master = createMaster(state.parameter);
  for (ParameterState &state : states)
    state.gradient = create(state.parameter, ".gradient", state.accumulator.getTensorType().getElementType(),
                            Role::Gradient, state.accumulator);
  if (optimizer == "adamw")
    for (const char *suffix : {".m", ".v"})
      for (ParameterState &state : states)
        state.moments.push_back(create(state.parameter, suffix, momentElement, Role::Moment, nullptr));
  auto scalar = RankedTensorType::get({}, Float32Type::get(&getContext()));
  gradNorm = createVariable("grad_norm", scalar, Role::Step, nullptr, nullptr);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FunctionWriter BuildOptimizerPass::createFunction(Phase phase) {
  FunctionWriter writer(getOperation(), forward.getLoc(), stringifyPhase(phase));
  setPhase(writer.function, phase, getChunk(forward));
  return writer;
}

/// Accumulators become gradients unchanged: between the two variables partial sums are completed. The loss
/// becomes a mean.
void BuildOptimizerPass::buildReduce() {
  FunctionWriter reduce = createFunction(Phase::Reduce);
  for (ParameterState &state : states)
    reduce.addResult(state.gradient, reduce.addArgument(state.accumulator));
  Value loss = reduce.addArgument(lossVariable);
  Value scale =
      reduce.addArgument(loss.getType(), PlaceAttr::ofInput(&getContext(), InputKind::LossScale), nullptr);
  Value mean = reduce.builder.create<arith::MulFOp>(forward.getLoc(), loss, scale);
  reduce.addResult(mean, PlaceAttr::ofOutput(&getContext(), OutputKind::Loss), nullptr);
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
void BuildOptimizerPass::buildNorm() {
  FunctionWriter norm = createFunction(Phase::Norm);
  Location location = forward.getLoc();
  auto add = [&](Value a, Value b) -> Value {
    return a ? norm.builder.create<arith::AddFOp>(location, a, b).getResult() : b;
  };
  llvm::MapVector<Attribute, SmallVector<Value>> groups;
  for (ParameterState &state : states)
    groups[state.gradient.getComputeAttr()].push_back(norm.addArgument(state.gradient));
  Value total;
  for (auto &[sharding, gradients] : groups) {
    Value sum;
    for (Value gradient : gradients)
      sum = add(sum, buildSumOfSquares(norm.builder, gradient));
    total = add(total, sum);
  }
  if (!total)
    total = buildSplat(norm.builder, location, gradNorm.getTensorType(), 0.0);
  norm.addResult(norm.builder.create<math::SqrtOp>(location, total),
                 PlaceAttr::ofVariable(FlatSymbolRefAttr::get(gradNorm), OutputKind::GradNorm),
                 gradNorm.getComputeAttr());
  norm.finish();
}

void BuildOptimizerPass::runOnOperation() {
  states.clear();
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
  FailureOr<func::FuncOp> found = findForward();
  if (failed(found))
    return signalPassFailure();
  forward = *found;
  if (failed(collectStates()) || failed(checkNames()))
    return signalPassFailure();
  createVariables();
  buildReduce();
  buildNorm();
  FunctionWriter update = createFunction(Phase::Update);
  UpdateBuilder(getOperation(), forward, states, optimizer == "adamw").build(update, gradNorm);
  update.finish();
}
