//===- CheckPlan.h - plans that are impossible or contradict themselves -----------------------*- C++ -*-===//
#ifndef PAR_COMPILE_CHECKPLAN_H
#define PAR_COMPILE_CHECKPLAN_H

#include "par/Plan/Plan.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// How errors speak of a plan's fields: as they were written.
class PlanWords {
public:
  /// Empty: by flags. Else the file that the plan was read from.
  explicit PlanWords(std::string file = "") : file(std::move(file)) {}

  bool areFlags() const { return file.empty(); }
  llvm::StringRef getFile() const { return file; }
  /// "--zero3-gather", or `"zero3_gather"`.
  std::string name(llvm::StringRef field) const;
  /// "--zero 3", or `"zero": 3`, as `plan` has it.
  std::string value(const Plan &plan, llvm::StringRef field) const;
  /// How to do without a field: "leave it out", or "set it to 1".
  std::string drop(llvm::StringRef field) const;
  llvm::Error error(const llvm::Twine &text) const;

private:
  std::string file;
};

/// Refuses a plan that is impossible, contradicts itself or needs what is not built yet, with the field and
/// the remedy. `hasMemoryLimit`: `recompute` auto may seek its own limit. Sizes that are not decided yet are
/// not checked. `isAnnotated`: what a graph is divided over was written into it, maybe by hand.
llvm::Error checkPlan(const Plan &plan, const PlanWords &words, bool hasMemoryLimit,
                      bool isAnnotated = false);

/// Whether there are strategies that divide a model over all of these axes.
bool canDivide(const NamedAxes &axes);

/// Those of its checks that are of one number each, whatever the rest of the plan is.
llvm::Error checkSizes(const Plan &plan, const PlanWords &words);

/// Sequences of a step against mesh and micro-batches.
llvm::Error checkBatch(const Plan &plan, const PlanWords &words);

/// Takes out what the mesh or the model leaves nothing to do for, so that one command line serves for all of
/// them: it is as if it had not been asked for. What is said of it, a line each.
std::vector<std::string> dropIdle(Plan &plan);

} // namespace mlir::par

#endif // PAR_COMPILE_CHECKPLAN_H
