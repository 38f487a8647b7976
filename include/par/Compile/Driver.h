//===- Driver.h - runs the phases of a plan ---------------------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_DRIVER_H
#define PAR_COMPILE_DRIVER_H

#include "mlir/Pass/PassManager.h"
#include "par/Plan/Plan.h"

namespace mlir::par {

/// What is no part of a plan: nothing of it changes what a program computes or costs.
struct PhaseOptions {
  bool explain = false;     ///< remarks on what was searched for and on units of a pipeline
  bool collectives = false; ///< remarks on collectives
  bool origins = true;      ///< for those: where the axes of every op come from
  bool verify = true;       ///< the module behind every phase, the schedule and the use of memory
  bool evaluation = true;   ///< also the loss without dropout
};

/// Runs phases of one plan on modules of one context; which passes a phase is made of and what they are told
/// is decided here alone.
class Driver {
public:
  explicit Driver(const Plan &plan, PhaseOptions options = {}) : plan(plan), options(options) {}

  const Plan &getPlan() const { return plan; }
  /// Overlap is a phase where the plan has it, cut where it has several stages.
  bool hasPhase(CompilePhase phase) const {
    return (phase != CompilePhase::Overlap || plan.overlap) &&
           (phase != CompilePhase::Cut || plan.countStages() > 1);
  }
  void build(OpPassManager &manager, CompilePhase phase) const;

  /// Checks what `done`, propagate or cut, promises of a graph that is given behind it: somebody may have
  /// written that by hand. Fails after an error, as `run` does.
  LogicalResult verifyGiven(ModuleOp module, CompilePhase done) const;
  /// Fails after an error at the op concerned. Afterwards the module has the plan as `par.plan`.
  LogicalResult run(ModuleOp module, CompilePhase phase) const;
  /// The phases of the plan from `first` to `last`, both included; `finished` is called after each, and ends
  /// it by failing.
  LogicalResult run(ModuleOp module, CompilePhase first, CompilePhase last,
                    llvm::function_ref<LogicalResult(CompilePhase)> finished = nullptr) const;

private:
  const Plan plan;
  const PhaseOptions options;
};

} // namespace mlir::par

#endif // PAR_COMPILE_DRIVER_H
