//===- PlanModel.cpp - the model that is planned --------------------------------------------------------===//
#include "PlanModel.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Compile/CheckNames.h"
#include "par/Compile/GraphState.h"
#include "par/Cost/ModelFlops.h"
#include "par/Planner/PlanAnswer.h"
#include "par/Register/Register.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/GraphFile.h"
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

OwningOpRef<ModuleOp> PlanModel::loadConfig(MLIRContext &context, const std::set<std::string> &given,
                                            Plan &plan) {
  import.dtype = getName(plan.dtype).str();
  import.batch = 1;
  import.logits = false;
  if (given.count("seq"))
    import.seq = plan.seq;
  FailureOr<ImportPlan> imported = planImport(context, import);
  if (failed(imported))
    return {};
  import.seq = plan.seq = imported->seq;
  return importModel(context, import);
}

OwningOpRef<ModuleOp> PlanModel::loadGraph(MLIRContext &context, const std::set<std::string> &given,
                                           Plan &plan) {
  OwningOpRef<ModuleOp> module = parseGraphFile(context, import.model);
  if (!module)
    return {};
  if (llvm::Error error = takeWholeGraph(*module, import.model, import.overrides, given, plan)) {
    printError(std::move(error));
    return {};
  }
  llvm::raw_string_ostream stream(graph);
  return succeeded(writeBytecodeToFile(*module, stream)) ? std::move(module) : OwningOpRef<ModuleOp>();
}

LogicalResult PlanModel::load(const std::string &path, const std::vector<std::string> &overrides,
                              const std::set<std::string> &given, PlanRequest &request) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, printDiagnostic);
  import.model = path;
  import.overrides = overrides;
  request.isGraph = isGraphFile(path);
  OwningOpRef<ModuleOp> module =
      request.isGraph ? loadGraph(context, given, request.plan) : loadConfig(context, given, request.plan);
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
  OwningOpRef<ModuleOp> module;
  if (graph.empty()) {
    ImportOptions other = import;
    other.batch = plan.getGraphBatch();
    module = importModel(context, other);
  } else {
    module = parseSourceString<ModuleOp>(graph, ParserConfig(&context));
  }
  return module && succeeded(freeze(*module, frozen)) ? std::move(module) : OwningOpRef<ModuleOp>();
}
