//===- PlanCompiler.cpp - plans of a model compiled and weighed -----------------------------------------===//
#include "par/Planner/PlanCompiler.h"
#include "par/Compile/Driver.h"
#include "par/Compile/Proof.h"
#include "par/Cost/PredictStep.h"
#include "par/Emit/StagePicture.h"
#include "par/Register/Register.h"

using namespace mlir;
using namespace mlir::par;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

PlanCompiler::PlanCompiler(const Cluster &cluster, ImportModel import)
    : cluster(cluster), import(std::move(import)), context(makeRegistry()),
      silent(&context, [](Diagnostic &) { return success(); }),
      units(context, CompilePhase::Import, [this](const Plan &plan) { return importFolded(plan); }),
      models(context, CompilePhase::Import,
             [this](const Plan &plan) { return this->import(context, plan); }) {
  context.loadAllAvailableDialects();
}

OwningOpRef<ModuleOp> PlanCompiler::importFolded(const Plan &plan) {
  OwningOpRef<ModuleOp> module = import(context, plan);
  if (module)
    folded = foldUnits(*module);
  return module;
}

const FoldedUnits &PlanCompiler::getUnits(const Plan &plan) {
  if (folded.kinds.empty())
    importFolded(plan);
  return folded;
}

std::optional<std::vector<UnitTable>> PlanCompiler::tabulate(const Plan &plan) {
  OwningOpRef<ModuleOp> module = units.compile(plan);
  return module ? tabulateUnits(*module, cluster) : std::nullopt;
}

std::optional<StateRows> PlanCompiler::tabulateState(const Plan &plan) {
  OwningOpRef<ModuleOp> module = units.compile(plan);
  return module ? par::tabulateState(*module) : std::nullopt;
}

std::optional<FoundPlan> PlanCompiler::judge(const Plan &plan) {
  OwningOpRef<ModuleOp> module = models.compile(plan);
  if (!module)
    return std::nullopt;
  ClusterMachine machine(cluster, getMesh(*module));
  FailureOr<PredictedStep> step = predictStep(*module, machine);
  if (failed(step))
    return std::nullopt;
  FoundPlan found;
  found.plan = plan;
  found.size = PlanSize::measure(*module);
  found.seconds = step->timeline.end;
  found.bubble = 1 - step->timeline.work / step->timeline.end;
  found.terms = step->terms;
  return found;
}

std::string PlanCompiler::findFault(const Plan &plan) {
  std::string fault;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && fault.empty())
      fault = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = import(context, plan);
  if (!module)
    return fault;
  Proof proof(/*isWanted=*/true);
  proof.begin(CompilePhase::Import, *module);
  auto follow = [&](CompilePhase phase) { return proof.follow(phase, *module); };
  if (succeeded(Driver(plan).run(*module, CompilePhase::Import, CompilePhase::Overlap, follow)))
    return "";
  return fault.empty() ? "the plan does not compile" : fault;
}

std::string PlanCompiler::draw(const Plan &plan) {
  OwningOpRef<ModuleOp> module = models.compile(plan);
  if (!module)
    return "";
  ClusterMachine machine(cluster, getMesh(*module));
  FailureOr<PredictedStep> step = predictStep(*module, machine);
  if (failed(step))
    return "";
  std::vector<MemoryProfile> stages = profileStages(*module);
  return drawStages(*step, stages, static_cast<int64_t>(cluster.getUsableBytes(1)));
}
