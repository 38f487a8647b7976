//===- RecomputePolicy.h - which ops the backward pass runs again -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_RECOMPUTEPOLICY_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_RECOMPUTEPOLICY_H

#include "SavePlan.h"
#include "par/Target/Target.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::par {

/// The options of par-select-residuals; `Hold` is what layers of the loss get: cheap ops alone run again.
enum class RecomputePolicy { Hold, None, Selective, Full, Auto };

/// Of the options.
std::optional<RecomputePolicy> parseRecomputePolicy(StringRef name);

/// Names of the layers behind which only the loss is left. Their backward pass follows their forward pass at
/// once: what they save is needed again at the very peak, so nothing is gained by running anything of them
/// again.
llvm::StringSet<> findLossLayers(ModuleOp module);

/// Seconds that running each forward op of a function again takes, which must outlive this. A cheap op
/// becomes part of the kernel that needs what it gives, and takes no time there. But products and attention
/// read their operands from memory: what cheap ops give to them has to be read from and written there once
/// more.
class RerunTimes {
public:
  RerunTimes(JointFunction &joint, const Target &target);
  double get(Operation *op) const;

private:
  const Target &target;
  DenseSet<Operation *> written; ///< cheap ops, whose results products of the backward pass read
};

/// What a policy asks of one function, which must outlive the result. In a chunk function that calls layers
/// `full` is `selective`: there is no layer to run again. `secondsPerByte` is the time that holding a byte is
/// worth (`auto` alone).
RecomputeCost getRecomputeCost(JointFunction &joint, RecomputePolicy policy, double secondsPerByte,
                               const Target &target);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_RECOMPUTEPOLICY_H
