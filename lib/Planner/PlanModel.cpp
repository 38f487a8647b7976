//===- PlanModel.cpp - the model that is planned --------------------------------------------------------===//
#include "PlanModel.h"
#include "mlir/Pass/PassManager.h"
#include "par/Compile/CheckNames.h"
#include "par/Compile/Driver.h"
#include "par/Compile/GraphState.h"
#include "par/Compile/LoadModel.h"
#include "par/Cost/ModelFlops.h"
#include "par/Planner/PlanAnswer.h"
#include "par/Register/Register.h"
#include "par/Sharding/NamedDims.h"
#include "par/ShardingSearch/IntegerProgram.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/OneThread.h"
#include "par/Transforms/Annotate/Passes.h"

using namespace mlir;
using namespace mlir::par;

/// Layers of which other parameters are trained get functions of their own.
static LogicalResult freeze(ModuleOp module, const Names &patterns) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  manager.addPass(createFreezeParameters(
      FreezeParametersOptions{SmallVector<std::string>(patterns.begin(), patterns.end())}));
  return manager.run(module);
}

OwningOpRef<ModuleOp> PlanModel::read(MLIRContext &context, const std::string &path,
                                      const std::vector<std::string> &overrides,
                                      const std::set<std::string> &given, Plan &plan) {
  // One sequence tells of all layers; a search decides how many there are.
  Plan one = plan;
  one.mesh = makeMesh({{AxisRole::Batch, 1}});
  one.batch = one.microBatches = 1;
  ModelRequest request{path, overrides, /*hasBatch=*/true, given.count("seq") > 0, /*logits=*/false};
  OwningOpRef<ModuleOp> module = loadModel(context, *source, request, PlanWords(), one);
  plan.seq = one.seq;
  if (!module || !source->isGraph())
    return module;
  if (llvm::Error error = takeWholeGraph(*module, path, overrides, given, plan)) {
    printError(std::move(error));
    return {};
  }
  return module;
}

static std::string findLargestParameter(ModuleOp module) {
  std::string name;
  int64_t most = 0;
  for (auto variable : module.getOps<VariableOp>())
    if (int64_t elements = cast<ShapedType>(variable.getType()).getNumElements(); elements > most)
      most = elements, name = variable.getModelName().str();
  return name;
}

LogicalResult PlanModel::load(const std::string &path, const std::vector<std::string> &overrides,
                              const std::set<std::string> &given, PlanRequest &request) {
  DialectRegistry registry;
  registerDialects(registry);
  OneThreadContext context(registry);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, printDiagnostic);
  source = openModel(path);
  request.isGraph = source->isGraph();
  OwningOpRef<ModuleOp> module = read(context, path, overrides, given, request.plan);
  if (!module)
    return failure();
  if (request.isGraph)
    request.pinned.insert("micro_batches");
  request.searchesSplits = request.isGraph && hasSolver() && !hasNamedSplits(*module);
  flops = countModelFlops(*module, static_cast<double>(request.plan.batch), request.plan.freeze);
  hash = hashModel(*module);
  largest = findLargestParameter(*module);
  if (llvm::Error error = checkNames(*module, request.plan, PlanWords(), path)) {
    printError(std::move(error));
    return failure();
  }
  frozen = request.plan.freeze;
  return freeze(*module, frozen);
}

/// The splits of the whole model are those that par-compile finds for each plan with so many tensor-parallel
/// ranks: stages, batch and all other axes have no part in them.
const std::optional<PlanModel::Splits> &PlanModel::findSplits(const Plan &plan) const {
  return splits.get(plan.countRanks(AxisRole::Tensor), [&](std::optional<Splits> &found) {
    DialectRegistry registry;
    registerDialects(registry);
    OneThreadContext context(registry);
    context.loadAllAvailableDialects();
    ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
    Plan split;
    split.mesh = makeMesh({{AxisRole::Tensor, plan.countRanks(AxisRole::Tensor)}});
    split.shardingSearch = true;
    split.strategy = plan.strategy;
    split.target = plan.target;
    OwningOpRef<ModuleOp> module = source->build(context, plan.getGraphBatch());
    if (!module || failed(freeze(*module, frozen)) ||
        failed(Driver(split, PhaseOptions()).run(*module, CompilePhase::Annotate)))
      return;
    found.emplace();
    for (auto variable : module->getOps<VariableOp>())
      if (ShardingAttr compute = variable.getComputeAttr())
        for (auto [dim, axes] : llvm::enumerate(compute.getDims()))
          if (!axes.getAxes().empty())
            (*found)[variable.getSymName()] = static_cast<int64_t>(dim);
  });
}

LogicalResult PlanModel::addSplits(ModuleOp module, const Plan &plan) const {
  const std::optional<Splits> &known = findSplits(plan);
  if (!known)
    return failure();
  Builder builder(module.getContext());
  for (auto variable : module.getOps<VariableOp>()) {
    auto split = known->find(variable.getSymName());
    int64_t dim = split == known->end() ? -1 : split->second;
    variable->setAttr(ParDialect::kSplitAttr, builder.getI64IntegerAttr(dim));
  }
  return success();
}

OwningOpRef<ModuleOp> PlanModel::importInto(MLIRContext &context, const Plan &plan) const {
  OwningOpRef<ModuleOp> module = source->build(context, plan.getGraphBatch());
  if (!module || (plan.shardingSearch && failed(addSplits(*module, plan))) || failed(freeze(*module, frozen)))
    return nullptr;
  return module;
}
