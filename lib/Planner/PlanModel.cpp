//===- PlanModel.cpp - the model that is planned --------------------------------------------------------===//
#include "PlanModel.h"
#include "mlir/Pass/PassManager.h"
#include "par/Compile/CheckNames.h"
#include "par/Compile/GraphState.h"
#include "par/Cost/ModelFlops.h"
#include "par/Planner/PlanAnswer.h"
#include "par/Register/Register.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
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
  SourceOptions wanted{path, overrides};
  if (given.count("seq"))
    wanted.seq = plan.seq;
  wanted.dtype = plan.dtype;
  wanted.logits = false;
  if (failed(source->read(context, wanted)))
    return {};
  plan.seq = wanted.seq.value_or(plan.seq);
  OwningOpRef<ModuleOp> module = source->build(context, /*batch=*/1);
  if (!module || !source->isGraph())
    return module;
  if (llvm::Error error = takeWholeGraph(*module, path, overrides, given, plan)) {
    printError(std::move(error));
    return {};
  }
  return module;
}

LogicalResult PlanModel::load(const std::string &path, const std::vector<std::string> &overrides,
                              const std::set<std::string> &given, PlanRequest &request) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
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
  flops = countModelFlops(*module, static_cast<double>(request.plan.batch), request.plan.freeze);
  hash = hashModel(*module);
  if (llvm::Error error = checkNames(*module, request.plan, PlanWords(), path)) {
    printError(std::move(error));
    return failure();
  }
  frozen = request.plan.freeze;
  return freeze(*module, frozen);
}

OwningOpRef<ModuleOp> PlanModel::importInto(MLIRContext &context, const Plan &plan) const {
  OwningOpRef<ModuleOp> module = source->build(context, plan.getGraphBatch());
  return module && succeeded(freeze(*module, frozen)) ? std::move(module) : OwningOpRef<ModuleOp>();
}
