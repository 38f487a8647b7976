//===- PlanTrials.h - what a rank needs under other plans -------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_PLANTRIALS_H
#define PAR_COMPILE_PLANTRIALS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "par/Plan/Plan.h"
#include "par/Transforms/Cut/UnitCosts.h"
#include <map>

namespace mlir::par {

/// What a rank of a pipeline's stage needs, in bytes.
struct StageSize {
  int64_t peak = 0;
  int64_t saved = 0; ///< of that from forward to backward pass, at most
  int64_t host = 0;  ///< of the host's memory
};

/// What ranks need under a plan.
struct PlanSize {
  /// Of a module of rank programs.
  static PlanSize measure(ModuleOp module);

  std::vector<StageSize> stages;
  /// Of the stage that needs most.
  int64_t getPeak() const;
  int64_t getHostPeak() const;
};

/// `plan` with the defaults of all that is decided behind `phase`: two plans of which it is equal share the
/// module after that phase.
Plan restrictTo(const Plan &plan, CompilePhase phase);

/// Compiles one model by many plans as far as memory is known, in silence. Plans share one context, and the
/// modules of the phases before the first in which they differ.
class PlanTrials {
public:
  /// The graph with `getGraphBatch()` sequences; null where it cannot be had.
  using Import = std::function<OwningOpRef<ModuleOp>(const Plan &)>;
  /// `first`: the phase with which to go on with what `import` gives.
  PlanTrials(MLIRContext &context, CompilePhase first, Import import)
      : context(context), first(first), import(std::move(import)) {}

  /// Nothing if the plan contradicts itself or does not compile.
  std::optional<PlanSize> measure(const Plan &plan);
  /// The rank programs of a plan, in which memory is planned; null where `measure` gives nothing.
  OwningOpRef<ModuleOp> compile(const Plan &plan);
  /// Of the units at which `plan` can be cut; empty where it does not compile.
  std::vector<UnitCost> measureUnits(const Plan &plan);
  /// How many modules were made; for tests of what is shared.
  size_t countModules() const { return modules.size(); }

private:
  OwningOpRef<ModuleOp> lower(const Plan &plan);
  ModuleOp getShared(llvm::ArrayRef<CompilePhase> phases, const Plan &plan);
  OwningOpRef<ModuleOp> makeShared(llvm::ArrayRef<CompilePhase> phases, const Plan &plan);

  MLIRContext &context;
  CompilePhase first;
  Import import;
  std::map<std::pair<CompilePhase, Plan>, OwningOpRef<ModuleOp>> modules;
  std::map<Plan, std::optional<PlanSize>> sizes;
};

} // namespace mlir::par

#endif // PAR_COMPILE_PLANTRIALS_H
