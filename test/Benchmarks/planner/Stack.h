//===- Stack.h - what a training software does otherwise than par -----------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_STACK_H
#define PAR_BENCHMARKS_PLANNER_STACK_H

#include "par/Cost/Cluster.h"

namespace mlir::par {

/// Attention that is no kernel of its own: products, and kernels that go over the scores.
struct ScoresModel {
  double forwardBytes = 0, backwardBytes = 0; ///< read and written for each score
};

/// What a layer saves between forward and backward pass, where nothing is run again, and what a parameter
/// takes.
struct SavedModel {
  double wholeBytes = 0, splitBytes = 0; ///< by hidden element: on each tensor-parallel rank, or divided
  double scoreBytes = 0;                 ///< by score of attention, divided
  double stateBytes = 0;                 ///< by parameter: itself, gradient, master, moments
};

struct Stack {
  std::string name;
  std::vector<std::string> groups; ///< of rows that were measured with it
  /// Nothing: fused, of the causal half.
  std::optional<ScoresModel> scores;
  /// What kernels bound by memory read and write, of what par's do.
  double kernelBytes = 1;
  std::optional<SavedModel> saved; ///< nothing: as par
  bool overlap = true;             ///< collectives beside computing
  bool blockingTransfers = false;  ///< a stage that sends waits until all is sent
  double gradientBytes = 4;        ///< of a number, when gradients are summed over ranks
  double attentionRate = 1;        ///< of fused attention, of the rate that the cluster file has
  double hostTime = 0;             ///< seconds of the host for an op
  /// Of layers, the share that "selective" runs again whole; 0: attention alone.
  double selectiveLayers = 0;
  bool wholeLayers = false; ///< what is run again is a layer to its end, also what nothing reads
  /// Of memory's rate, power and the like: what its devices have of those of the cluster file.
  double memoryShare = 1;
  std::optional<double> efficiency; ///< as it was fitted
};

/// All in a folder; "default" is among them. Errors: with the file and the key.
llvm::Expected<std::vector<Stack>> readStacks(llvm::StringRef folder);
/// The group's own, or the default.
const Stack &findStack(llvm::ArrayRef<Stack> stacks, llvm::StringRef group);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_STACK_H
