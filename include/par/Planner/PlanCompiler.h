//===- PlanCompiler.h - plans of a model compiled and weighed ---------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANCOMPILER_H
#define PAR_PLANNER_PLANCOMPILER_H

#include "par/Compile/PlanTrials.h"
#include "par/Planner/FoldUnits.h"
#include "par/Planner/StateRows.h"
#include "par/Planner/UnitTable.h"
#include "par/Support/OneThread.h"

namespace mlir::par {

/// A plan that was compiled: what it needs and takes is what par-compile says.
struct FoundPlan {
  Plan plan;
  PlanSize size;
  double seconds = 0; ///< of a step
  double bubble = 0;  ///< of the time of all stages, in which they wait for each other
  TimeTerms terms;    ///< of the stage that computes longest
  int64_t number = 0; ///< in the order in which plans were compiled
};

/// The graph of a model with `getGraphBatch()` sequences; null where it cannot be had. Called by several
/// threads, each with a context of its own.
using ImportModel = std::function<OwningOpRef<ModuleOp>(MLIRContext &, const Plan &)>;

/// Compiles plans of one model in a context of its own, in silence.
class PlanCompiler {
public:
  PlanCompiler(const Cluster &cluster, ImportModel import);

  /// The model's units, folded by kind. There are none where the model does not import or cannot be cut.
  const FoldedUnits &getUnits(const Plan &plan);
  /// Of a plan with a stage for each kind of unit: a table each. Nothing where it does not compile.
  std::optional<std::vector<UnitTable>> tabulate(const Plan &plan);
  /// Of a plan for a unit of each kind, however they are divided. Nothing where it does not compile.
  std::optional<StateRows> tabulateState(const Plan &plan);
  /// A plan of the whole model; nothing if it contradicts itself or does not compile.
  std::optional<FoundPlan> judge(const Plan &plan);
  /// Gives the error of the judge (par/Compile/Proof.h), empty where ranks compute what one device would.
  std::string findFault(const Plan &plan);
  /// What its stages do and hold over time, as a part of a page (par/Emit/StagePicture.h); empty where
  /// `judge` gives nothing.
  std::string draw(const Plan &plan);

private:
  OwningOpRef<ModuleOp> importFolded(const Plan &plan);

  const Cluster &cluster;
  const ImportModel import;
  OneThreadContext context;
  ScopedDiagnosticHandler silent;
  PlanTrials units, models;
  FoldedUnits folded;
};

} // namespace mlir::par

#endif // PAR_PLANNER_PLANCOMPILER_H
