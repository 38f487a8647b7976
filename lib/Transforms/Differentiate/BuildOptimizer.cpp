//===- BuildOptimizer.cpp - reduction of gradients, their norm and the update of parameters -----------------===//
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
  VariableOp createVariable(StringRef name, RankedTensorType type, Role role, VariableOp of, VariableOp alias);
  void createVariables();
  func::FuncOp createFunction(StringRef phase);
  void buildReduce();
  void buildNorm();
  Value buildSumOfSquares(OpBuilder &builder, Value gradient);

  func::FuncOp forward;
  SmallVector<ParameterState> states;
  VariableOp gradNorm, last;
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

FailureOr<func::FuncOp> BuildOptimizerPass::findForward() {
  SmallVector<func::FuncOp> found;
  for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
    if (auto phase = function->getAttrOfType<StringAttr>(ParDialect::kPhaseAttr); phase && phase.getValue() == "forward")
      found.push_back(function);
  if (found.empty())
    return getOperation().emitError("par-build-optimizer: no function has par.phase = \"forward\"; nothing is trained"),
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
  ModuleOp module = getOperation();
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    auto bind = forward.getArgAttrOfType<FlatSymbolRefAttr>(index, ParDialect::kBindAttr);
    auto parameter = bind ? module.lookupSymbol<VariableOp>(bind.getValue()) : nullptr;
    if (!parameter || parameter.getRole() != Role::Parameter)
      continue;
    if (!parameter.getTensorType().getElementType().isF32())
      return parameter.emitOpError("has type ") << parameter.getTensorType()
                                                << ", expected f32; other types need masters, which are not built";
    auto accumulator = module.lookupSymbol<VariableOp>((bind.getValue() + ".accumulator").str());
    if (!accumulator)
      return parameter.emitOpError("has no variable @")
             << bind.getValue() << ".accumulator; run par-differentiate first";
    states.push_back({parameter, accumulator, nullptr, {}});
  }
  if (!module.lookupSymbol<VariableOp>("loss"))
    return forward.emitError("@") << forward.getName() << ": there is no variable @loss; run par-differentiate first";
  return success();
}

LogicalResult BuildOptimizerPass::checkNames() {
  SmallVector<std::string> names = {"reduce", "norm", "update", "grad_norm"};
  for (ParameterState &state : states)
    for (const char *suffix : {".gradient", ".m", ".v"})
      names.push_back((state.parameter.getSymName() + suffix).str());
  for (StringRef name : names)
    if (Operation *other = getOperation().lookupSymbol(name))
      return other->emitError("@") << name << " is the name of state or a function that par-build-optimizer adds; rename this symbol";
  return success();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

VariableOp BuildOptimizerPass::createVariable(StringRef name, RankedTensorType type, Role role, VariableOp of,
                                              VariableOp alias) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfter(last);
  auto symbol = [](VariableOp variable) { return variable ? FlatSymbolRefAttr::get(variable) : FlatSymbolRefAttr(); };
  last = builder.create<VariableOp>(
      last.getLoc(), name, type, of ? of.getDims() : builder.getStrArrayAttr({}), role,
      InitAttr::get(&getContext(), InitKind::Zeros, FloatAttr()), FileAttr(), ShardingAttr(),
      of ? getDimensionSharding(of.getComputeAttr()) : ShardingAttr(), symbol(of), symbol(alias), MemorySpaceAttr());
  return last;
}

void BuildOptimizerPass::createVariables() {
  for (VariableOp variable : getOperation().getOps<VariableOp>())
    last = variable;
  auto create = [&](VariableOp of, StringRef suffix, Role role, VariableOp alias) {
    return createVariable((of.getSymName() + suffix).str(), of.getTensorType(), role, of, alias);
  };
  for (ParameterState &state : states)
    state.gradient = create(state.parameter, ".gradient", Role::Gradient, state.accumulator);
  if (optimizer == "adamw")
    for (const char *suffix : {".m", ".v"})
      for (ParameterState &state : states)
        state.moments.push_back(create(state.parameter, suffix, Role::Moment, nullptr));
  auto scalar = RankedTensorType::get({}, Float32Type::get(&getContext()));
  gradNorm = createVariable("grad_norm", scalar, Role::Step, nullptr, nullptr);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

func::FuncOp BuildOptimizerPass::createFunction(StringRef phase) {
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  auto function = builder.create<func::FuncOp>(forward.getLoc(), phase, builder.getFunctionType({}, {}));
  function.addEntryBlock();
  if (Attribute chunk = forward->getAttr(ParDialect::kChunkAttr))
    function->setAttr(ParDialect::kChunkAttr, chunk);
  function->setAttr(ParDialect::kPhaseAttr, builder.getStringAttr(phase));
  return function;
}

/// Accumulators become gradients unchanged: between the two variables partial sums are completed. The loss becomes a mean.
void BuildOptimizerPass::buildReduce() {
  func::FuncOp reduce = createFunction("reduce");
  OpBuilder builder = OpBuilder::atBlockEnd(&reduce.getBody().front());
  SmallVector<Value> returned;
  for (ParameterState &state : states) {
    returned.push_back(addArgument(reduce, state.accumulator));
    addResult(reduce, state.gradient);
  }
  auto variable = getOperation().lookupSymbol<VariableOp>("loss");
  Value loss = addArgument(reduce, variable);
  Value scale = addArgument(reduce, loss.getType(), ParDialect::kInputAttr, builder.getStringAttr("loss_scale"), nullptr);
  returned.push_back(builder.create<arith::MulFOp>(reduce.getLoc(), loss, scale));
  addResult(reduce, loss.getType(), ParDialect::kOutputAttr, builder.getStringAttr("loss"), nullptr);
  builder.create<func::ReturnOp>(reduce.getLoc(), returned);
}

Value BuildOptimizerPass::buildSumOfSquares(OpBuilder &builder, Value gradient) {
  auto type = cast<RankedTensorType>(gradient.getType());
  if (type.getRank() == 0)
    return builder.create<arith::MulFOp>(gradient.getLoc(), gradient, gradient);
  std::string letters;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    letters.push_back(static_cast<char>('a' + dim));
  std::string equation = letters + "," + letters + "->";
  return builder.create<EinsumOp>(gradient.getLoc(), RankedTensorType::get({}, type.getElementType()),
                                  builder.getStringAttr(equation), ValueRange{gradient, gradient}, TypeAttr());
}

/// Sums of equally sharded gradients come together first: their partial sums are completed by one collective.
void BuildOptimizerPass::buildNorm() {
  func::FuncOp norm = createFunction("norm");
  OpBuilder builder = OpBuilder::atBlockEnd(&norm.getBody().front());
  llvm::MapVector<Attribute, Value> sums;
  auto add = [&](Value a, Value b) -> Value {
    return a ? builder.create<arith::AddFOp>(norm.getLoc(), a, b).getResult() : b;
  };
  SmallVector<Value> gradients;
  for (ParameterState &state : states) {
    gradients.push_back(addArgument(norm, state.gradient));
    sums.insert({state.gradient.getComputeAttr(), Value()});
  }
  Value total;
  for (auto &[sharding, sum] : sums) {
    for (auto [state, gradient] : llvm::zip(states, gradients))
      if (state.gradient.getComputeAttr() == sharding)
        sum = add(sum, buildSumOfSquares(builder, gradient));
    total = add(total, sum);
  }
  if (!total)
    total = buildSplat(builder, norm.getLoc(), gradNorm.getTensorType(), 0.0);
  Value root = builder.create<math::SqrtOp>(norm.getLoc(), total);
  builder.create<func::ReturnOp>(norm.getLoc(), root);
  addResult(norm, gradNorm);
  norm.setResultAttr(0, ParDialect::kOutputAttr, builder.getStringAttr("grad_norm"));
}

void BuildOptimizerPass::runOnOperation() {
  states.clear();
  if (optimizer != "adamw" && optimizer != "sgd") {
    getOperation().emitError("par-build-optimizer: optimizer=") << optimizer << " is unknown, expected adamw or sgd";
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
  func::FuncOp update = createFunction("update");
  UpdateBuilder(getOperation(), forward, states, optimizer == "adamw").build(update, gradNorm);
}
