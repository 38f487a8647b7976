//===- CallBuilder.cpp - calls of the runtime in a function that is being lowered -----------------===//
#include "par/Target/CallBuilder.h"

using namespace mlir;
using namespace mlir::par;

/// base + offset bytes; offsets do not fit the 32 bits of a constant index of GEP.
Value CallBuilder::address(Value base, int64_t offset) {
  Value bytes = builder.create<LLVM::ConstantOp>(module.getLoc(), builder.getI64Type(),
                                                 builder.getI64IntegerAttr(offset));
  return builder.create<LLVM::GEPOp>(module.getLoc(), pointer, builder.getI8Type(), base,
                                     ArrayRef<LLVM::GEPArg>{bytes});
}

Value CallBuilder::integer(Type type, int64_t value) {
  return builder.create<LLVM::ConstantOp>(module.getLoc(), type, builder.getIntegerAttr(type, value));
}
Value CallBuilder::real(double value) {
  return builder.create<LLVM::ConstantOp>(module.getLoc(), builder.getF32Type(),
                                          builder.getF32FloatAttr(static_cast<float>(value)));
}

void CallBuilder::call(StringRef name, ValueRange arguments) {
  builder.create<LLVM::CallOp>(module.getLoc(), TypeRange{}, name, arguments);
}

Value CallBuilder::loadMember(RuntimeRecord<par_context>::Member member) {
  auto type = RuntimeRecord<par_context>::getType(module.getContext());
  Value field =
      builder.create<LLVM::GEPOp>(module.getLoc(), pointer, type, context, ArrayRef<LLVM::GEPArg>{0, member});
  return builder.create<LLVM::LoadOp>(module.getLoc(), pointer, field);
}

void CallBuilder::appendBuffers(ValueRange values, SmallVectorImpl<Value> &arguments) {
  for (Value value : values)
    arguments.push_back(buffers[value]);
}

/// The buffer of a region's operand: which input of the work op it is.
Value CallBuilder::bufferOf(rank::WorkOpInterface work, Value operand) {
  return buffers[work.getIns()[cast<BlockArgument>(operand).getArgNumber()]];
}

/// An array of pointers on the stack; null values become null pointers.
Value CallBuilder::buildArray(ArrayRef<Value> pointers) {
  Location loc = module.getLoc();
  Value array = builder.create<LLVM::AllocaOp>(loc, pointer, pointer, i64(pointers.size()));
  for (auto [position, value] : llvm::enumerate(pointers)) {
    Value entry = builder.create<LLVM::GEPOp>(loc, pointer, pointer, array,
                                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
    Value stored = value ? value : builder.create<LLVM::ZeroOp>(loc, pointer).getResult();
    builder.create<LLVM::StoreOp>(loc, stored, entry);
  }
  return array;
}

/// The first element of rows.
Value CallBuilder::addressOf(OperandRange tensors, rank::RowsAttr rows, Type element) {
  Value base = buffers[tensors[rows.getBuffer()]];
  int64_t bytes = rows.getOffset() * element.getIntOrFloatBitWidth() / 8;
  return bytes ? address(base, bytes) : base;
}

void CallBuilder::appendScratch(rank::WorkOpInterface work, SmallVectorImpl<Value> &arguments) {
  if (work.getScratch().empty()) {
    arguments.append({builder.create<LLVM::ZeroOp>(work->getLoc(), pointer), i64(0)});
    return;
  }
  Value scratch = work.getScratch().back();
  arguments.append({buffers[scratch], i64(rank::getBytes(scratch))});
}
