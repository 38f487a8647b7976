//===- Emitter.h - writes derived functions out of a joint function ---------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_EMITTER_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_EMITTER_H

#include "SavePlan.h"

namespace mlir::par {

/// Writes the functions of one joint function into the module, before the original function.
class Emitter {
public:
  Emitter(JointFunction &joint, const SavePlan &plan);

  /// The forward ops; returns the results, then the residuals. A chunk function adds its losses to variables
  /// in place of returning them.
  func::FuncOp emitForward(StringRef name);
  DerivedFunction emitBackward(StringRef name);
  /// The input part and the weight part. A part of a layer without any result is left out.
  void emitSplit(StringRef inputName, StringRef weightName, DerivedFunction &input, DerivedFunction &weight);

private:
  using Output = std::pair<Slot, Value>;

  DerivedFunction emit(StringRef name, Phase phase, ArrayRef<Operation *> ops, ArrayRef<Output> outputs,
                       const DenseMap<Value, Slot> &handedOver);
  Operation *appendClone(Operation *op);
  Value materialise(Value value, const DenseMap<Value, Slot> &handedOver);
  func::FuncOp createFunction(StringRef name, TypeRange inputs, TypeRange results);
  void describeForward(func::FuncOp forward, ArrayRef<unsigned> losses);
  void returnForward(func::FuncOp forward, SmallVector<Value> values, size_t losses);

  DictionaryAttr describeInput(Slot slot, Value value);
  DictionaryAttr describeOutput(Slot slot, Value value, ArrayRef<Slot> inputs);
  ShardingAttr getSlotSharding(Slot slot, Value value, bool isInput);
  PlaceAttr getResidual(Slot slot);
  PlaceAttr getAccumulator(unsigned argument);
  llvm::SetVector<Value> collectHandedOver(ArrayRef<Operation *> weightOps, ArrayRef<Output> weightOutputs);

  JointFunction &joint;
  const SavePlan &plan;
  const FunctionInfo &info;
  OpBuilder builder;

  // The function being written.
  IRMapping mapping;
  Block *block = nullptr;
  SmallVector<std::pair<Slot, Value>>
      requested; ///< slot and the joint function's value, per argument of `block`
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_EMITTER_H
