//===- AttentionKernel.h - published speeds of an attention kernel ----------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_ATTENTIONKERNEL_H
#define PAR_BENCHMARKS_PLANNER_ATTENTIONKERNEL_H

#include "par/Cost/Cluster.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// A kernel that a software has in place of the one that a cluster file is about.
struct AttentionKernel {
  /// On a chip, with heads of one size: operations per second by rows, of forward and backward together; of
  /// causal attention the half that is computed counts.
  struct Speed {
    std::string chip, source;
    int64_t headDim = 0;
    RateCurve rate;
  };

  std::string name, forwardRatioSource;
  /// How much quicker an operation is in the forward kernel than in the backward one.
  double forwardRatio = 1;
  std::vector<Speed> speeds;

  /// Shares of a device's peak, as cluster files have them. Errors: a chip that the kernel was not measured
  /// on.
  llvm::Expected<std::vector<AttentionRates>> getRates(llvm::StringRef chip, double peak) const;
};

/// Errors: with the file, and the place in it.
llvm::Expected<AttentionKernel> readAttentionKernel(llvm::StringRef file);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_ATTENTIONKERNEL_H
