//===- JointBuilder.h - the reverse walk over a function's ops --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_JOINTBUILDER_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_JOINTBUILDER_H

#include "JointFunction.h"

namespace mlir::par {

/// Builds the backward ops of a joint function whose forward ops are in place.
class JointBuilder {
public:
  JointBuilder(JointFunction &joint, const DenseMap<Operation *, const Derivative *> &calls, bool split);
  LogicalResult run();

private:
  /// An accumulator on its way through the backward ops, in its own type or in f32.
  struct Accumulator {
    Value current;
    bool started = false; ///< beta has been applied
  };

  void addArguments();
  void seedCotangents();
  LogicalResult differentiate(Operation *op);
  LogicalResult addCotangent(Operation *op, Value value, Value cotangent);
  void shardLikeValue(Value cotangent, Value value);

  void accumulate(unsigned argument, Value gradient);
  /// Differentiates `op`; then adds to accumulators that are stored in their own way what is complete: the
  /// cotangents of parameters that no op before uses. One sum is reduced, however often a parameter is used.
  LogicalResult completeOp(Operation *op);
  void accumulateCotangent(BlockArgument argument);
  void shardLikeAccumulator(Value current, unsigned argument);
  /// beta·accumulator, in place of the accumulator.
  void applyBeta(unsigned argument);
  /// Sums are taken in f32, whatever the types of parameter and accumulator.
  Value toSumType(Value value, unsigned argument);
  /// The accumulator in its own type.
  Value getStored(unsigned argument);
  void widenGradients();

  LogicalResult differentiateCall(CallOp call, const Derivative &callee);
  LogicalResult callBackward(CallOp call, const Derivative &callee, const DerivedFunction &backward,
                             bool isWeightPart, SmallVectorImpl<Value> &weightResiduals);
  Value chooseBeta(CallOp call, const DerivedFunction &backward);
  Value getCallOperand(CallOp call, const Derivative &callee, Slot slot, Value beta,
                       ArrayRef<Value> weightResiduals);

  void finish();
  void eraseDeadOps();
  void collectWeightOps();

  template <typename Op, typename... Args>
  Op create(Args &&...args) {
    return builder.create<Op>(location, std::forward<Args>(args)...);
  }
  /// Marks an op that updates the accumulator of `argument`.
  void own(unsigned argument, Operation *op) {
    if (joint.info.weight[argument])
      joint.weightOps.insert(op);
  }
  Value getBeta(unsigned argument) { return joint.info.shared[argument] ? sharedBeta : beta; }
  BlockArgument getArgument(unsigned index) { return joint.getBody().getArgument(index); }

  JointFunction &joint;
  const DenseMap<Operation *, const Derivative *> &calls;
  bool split;
  OpBuilder builder;
  Location location;
  DenseSet<Value> varied;
  DenseMap<Value, Value> cotangents;
  DenseSet<Value> sharded;               ///< cotangents whose sharding is set
  SmallVector<Accumulator> accumulators; ///< per argument
  SmallVector<Value> weightGradients;    ///< contributions to accumulators of the weight part
  Value beta, sharedBeta, scale;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_JOINTBUILDER_H
