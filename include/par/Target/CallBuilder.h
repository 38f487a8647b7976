//===- CallBuilder.h - calls of the runtime in a function that is being lowered ---------------*- C++ -*-===//
#ifndef PAR_TARGET_CALLBUILDER_H
#define PAR_TARGET_CALLBUILDER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "par/Conversion/RuntimeRecords.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// The place in a `rank.func` up to which it is lowered, and what its buffers are there.
class CallBuilder {
public:
  explicit CallBuilder(ModuleOp module)
      : module(module), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  Value address(Value base, int64_t offset);
  Value integer(Type type, int64_t value);
  Value i32(int64_t value) { return integer(builder.getI32Type(), value); }
  Value i64(int64_t value) { return integer(builder.getI64Type(), value); }
  Value real(double value);
  void call(StringRef name, ValueRange arguments);
  Value loadMember(RuntimeRecord<par_context>::Member member);
  void appendBuffers(ValueRange values, SmallVectorImpl<Value> &arguments);
  Value bufferOf(rank::WorkOpInterface work, Value operand);
  Value buildArray(ArrayRef<Value> pointers);
  Value addressOf(OperandRange tensors, rank::RowsAttr rows, Type element);
  /// The last scratch buffer and its bytes; null and 0 where there is none.
  void appendScratch(rank::WorkOpInterface work, SmallVectorImpl<Value> &arguments);

  ModuleOp module;
  OpBuilder builder;
  Type pointer;
  Value context, frame;
  llvm::DenseMap<Value, Value> buffers;
};

} // namespace mlir::par

#endif // PAR_TARGET_CALLBUILDER_H
