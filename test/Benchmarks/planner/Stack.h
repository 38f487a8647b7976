//===- Stack.h - what a training software does otherwise than par -----------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_STACK_H
#define PAR_BENCHMARKS_PLANNER_STACK_H

#include "AttentionKernel.h"
#include "KernelPasses.h"
#include "Rows.h"

namespace mlir::par {

/// Attention that is no kernel of its own: products, and kernels that go over the scores.
struct ScoresModel {
  double forwardBytes = 0, backwardBytes = 0; ///< read and written for each score
};

/// The passes of a layer's kernels that memory bounds.
struct LayerPasses {
  KernelPasses forward, backward;
};

/// What a software holds in memory. By element: of a micro-batch's rows, on a rank.
struct SavedModel {
  /// What a layer saves for its backward pass, where row files say `with`; of layers that are run again whole
  /// it is their input.
  double wholeBytes = 0, splitBytes = 0; ///< by hidden element: on each tensor-parallel rank, or divided
  double keyBytes = 0, widthBytes = 0;   ///< by element of keys, and of the feed-forward's width, divided
  double scoreBytes = 0;                 ///< by score of attention, divided
  RowRecompute with = RowRecompute::None;
  /// By parameter: itself, gradient, master, moments; of ZeRO-3 (FSDP) a rank has its part.
  double stateBytes = 0;
  double gradientBytes = 0;  ///< by parameter, beside `stateBytes`, where it is not divided
  double heldBytes = 0;      ///< by parameter that ZeRO-3 divides: whole gradients of earlier micro-batches
  double gatheredBytes = 0;  ///< by parameter that ZeRO-3 divides and that stays whole: tables; of stages all
  double gatheredLayers = 0; ///< layers of which that is so, too, when the loss is computed
  double normBytes = 0;      ///< by hidden element: what is saved of the norm behind the last layer
  bool wholeTable = false;   ///< the table of tokens is not divided by tensor parallelism
  double logitBytes = 0;     ///< by logit, when the loss is differentiated
  bool splitLogits = false;  ///< divided by tensor parallelism
  bool firstStage = false;   ///< it is the first stage whose figure is printed, not the largest
  double reservedShare = 1;  ///< what the allocator reserves of what is allocated, if that is printed
};

struct Stack {
  std::string name;
  std::vector<std::string> groups; ///< of rows that were measured with it
  /// Nothing: fused, of the causal half; by this kernel, or the one that the cluster file is about.
  std::optional<ScoresModel> scores;
  std::optional<AttentionKernel> attention;
  /// The passes of a layer's kernels; nothing: as par's own.
  std::optional<LayerPasses> passes;
  double lossBytes = 0;            ///< by logit: what kernels of the loss read and write beside par's
  std::optional<SavedModel> saved; ///< nothing: as par
  bool overlap = true;             ///< collectives beside computing
  bool overlapTensor = false; ///< those of tensor parallelism alone, beside products of the backward pass
  bool sequenceFirst = false; ///< what is split along the sequence lies in one piece: gathers move nothing
  bool blockingTransfers = false;  ///< a stage that sends waits until all is sent
  bool hasNoBubble = false;        ///< of zero-bubble schedules with twice 1F1B's memory: no stage waits
  bool stagesSplitSequence = true; ///< sequence parallelism in pipelines, where a row has it
  bool isBinary = false;           ///< GB of memory that it prints are GiB
  /// By parameter and micro-batch: gradients are added up by kernels of their own; 0: by products.
  double accumulatedBytes = 0;
  double accumulatedBytesF32 = 0; ///< where a row says that sums are f32; 0: it has no such sums
  double gradientBytes = 4;       ///< of a number, when gradients are summed over ranks
  double attentionRate = 1;       ///< of fused attention, of the rate that its kernel has
  double productsRate = 1;        ///< of products, of the rate that the cluster file has
  double hostTime = 0;            ///< seconds of the host for an op
  /// Of the host for a kernel, in which the device waits, as it is not launched before the one ahead has
  /// ended; and kernels of a layer.
  double launchTime = 0, forwardLaunches = 0, backwardLaunches = 0;
  bool splitMessages = false; ///< tensor-parallel ranks send a stage their parts, which are gathered there
  double networkShare = 1;    ///< of the network's rate, what a node's adapters reach
  /// Of layers, the share that "selective" runs again whole; 0: attention alone.
  double selectiveLayers = 0;
  bool wholeLayers = false;         ///< what is run again is a layer to its end, also what nothing reads
  std::optional<double> efficiency; ///< as it was fitted
};

/// Of a row that says that gradients are added up in f32.
Stack sumInF32(Stack stack);

/// All in a folder; "default" is among them. Errors: with the file and the key.
llvm::Expected<std::vector<Stack>> readStacks(llvm::StringRef folder);
/// The group's own, or the default.
const Stack &findStack(llvm::ArrayRef<Stack> stacks, llvm::StringRef group);

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_STACK_H
