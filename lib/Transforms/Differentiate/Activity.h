//===- Activity.h - what differentiation must know of every function --------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_ACTIVITY_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_ACTIVITY_H

#include "par/Dialect/Par/IR/Places.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::par {

/// Takes the marks of par-select-residuals (par.save, par.recompute) from an op, or from a function's
/// arguments and ops.
void clearMarks(Operation *op);
void clearMarks(func::FuncOp function);

/// The accumulators of a module by their parameter; those of losses, which are of none, are not among them.
llvm::DenseMap<Attribute, VariableOp> collectAccumulators(ModuleOp module);

/// True for tensors that can have a gradient.
bool isFloatTensor(Type type);

/// Cheap, or marked: a backward function may contain it.
bool mayRecompute(Operation *op);

/// A chunk function or a layer that is differentiated. Vectors have an entry per argument (`useful`: per
/// result).
struct FunctionInfo {
  mutable func::FuncOp function; ///< a handle: reading through it needs it not const
  bool isChunk = false;
  /// Needs a gradient: floating-point, and at some call it depends on a parameter.
  SmallVector<bool> varied;
  /// Every call passes a parameter of the chunk: its gradient is a sum in f32, whatever its own type is.
  SmallVector<bool> parameter;
  /// Every call passes a parameter of the chunk directly: its gradient is accumulated by this function's
  /// backward.
  SmallVector<bool> accumulated;
  /// How the accumulator is stored where that is not as the parameter computes. Its gradient is then added in
  /// the chunk function, where what a layer returns is reduced, never by a layer; null in layers.
  SmallVector<ShardingAttr> accumulatorStorage;
  /// Accumulated, here or from what a layer returns, and the gradient belongs to the weight part of a split
  /// backward pass.
  SmallVector<bool> weight;
  /// Every call can pass it to the backward function again without having saved it.
  SmallVector<bool> free;
  /// A cotangent may come in through this result.
  SmallVector<bool> useful;
  /// Of chunks: another chunk of the stage adds to the same accumulator, which therefore has a beta of its
  /// own.
  SmallVector<bool> shared;
  /// Of chunks: the chunk before this one waits for the cotangent of this argument.
  SmallVector<bool> awaited;
};

/// Forward functions of all chunks and the layers that they call.
class Activity {
public:
  /// Fails with a diagnostic if there is nothing to differentiate or a function calls itself.
  static FailureOr<Activity> compute(ModuleOp module);

  /// Callees before callers.
  SmallVector<const FunctionInfo *> getCalleesFirst() const;
  /// True for calls whose callee takes part in the gradient; the others stay as they are.
  bool isActive(Operation *call) const { return activeCalls.contains(call); }

private:
  explicit Activity(ModuleOp module) : symbols(module) {}

  LogicalResult verifyLayers(ArrayRef<func::FuncOp> calleesFirst) const;
  LogicalResult initialiseChunk(FunctionInfo &info);
  static LogicalResult checkLoss(const FunctionInfo &info);
  static LogicalResult checkLosses(ArrayRef<func::FuncOp> chunks);
  void findShared(ArrayRef<func::FuncOp> chunks);
  void linkChunks(ArrayRef<func::FuncOp> chunks);
  void visitBody(FunctionInfo &info);
  void visitCall(CallOp call, const FunctionInfo &caller, const DenseSet<Value> &varied,
                 const DenseSet<Value> &useful, const DenseSet<Value> &free);
  void classifyWeights();
  bool dropWeights(FunctionInfo &info);
  bool isParametricUse(Value value);

  SymbolTable symbols;
  /// Callers before callees.
  llvm::MapVector<StringAttr, FunctionInfo> functions;
  DenseSet<Operation *> activeCalls;
};

/// Values that follow from arguments with `free` by cheap ops: the backward pass has them at no cost in
/// memory.
DenseSet<Value> collectFree(Block &body, ArrayRef<bool> free);

/// Values of `body`'s ops that depend on the arguments with `varied` through floating-point tensors.
DenseSet<Value> collectVaried(Block &body, ArrayRef<bool> varied);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_ACTIVITY_H
