//===- BlockCode.cpp - code of a block of threads: numbers, memory, loops -------------------------===//
#include "BlockCode.h"
#include "../IterationSpace.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

BlockCode::BlockCode(OpBuilder &builder, Location loc)
    : Scalars(builder, loc), i32(builder.getI32Type()), i64(builder.getI64Type()), f32(builder.getF32Type()),
      block(create<NVVM::BlockIdXOp>(i32)), thread(create<NVVM::ThreadIdXOp>(i32)) {
  lane = rest(thread, kWarp);
  warp = divide(thread, kWarp);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value BlockCode::address(Value pointer, Type element, Value count) {
  return create<LLVM::GEPOp>(pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{count});
}

Value BlockCode::address(Value pointer, Type element, int64_t count) {
  if (count == 0)
    return pointer;
  return create<LLVM::GEPOp>(pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count)});
}

int64_t BlockCode::getBytes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  int64_t elements = vector ? vector.getNumElements() : 1;
  return elements * getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

Value BlockCode::read(Type type, Value address, int64_t alignment) {
  return create<LLVM::LoadOp>(type, address, static_cast<unsigned>(alignment));
}

void BlockCode::write(Value value, Value address, int64_t alignment) {
  builder.create<LLVM::StoreOp>(loc, value, address, static_cast<unsigned>(alignment));
}

Values BlockCode::readElements(Type element, Value address, int64_t count) {
  int64_t bytes = count * getBytes(element);
  Values elements;
  if (bytes < 4) { // one of bf16
    Value bits = create<arith::ExtUIOp>(i32, read(builder.getI16Type(), address));
    return {create<arith::BitcastOp>(f32, create<arith::ShLIOp>(bits, whole(16)))};
  }
  Value all = read(VectorType::get({bytes / 4}, i32), address);
  for (int64_t word = 0; word < bytes / 4; ++word) {
    Value bits = create<LLVM::ExtractElementOp>(all, whole(word));
    if (element.isBF16()) {
      elements.push_back(create<arith::BitcastOp>(f32, create<arith::ShLIOp>(bits, whole(16))));
      bits = create<arith::AndIOp>(bits, whole(-65536));
    }
    elements.push_back(create<arith::BitcastOp>(f32, bits));
  }
  return elements;
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

Values BlockCode::loop(Value first, Value end, int64_t step, ValueRange start,
                       function_ref<Values(Value, ValueRange)> body) {
  auto loop = builder.create<scf::ForOp>(loc, first, end, whole(step), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Values carried = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!start.empty())
    builder.create<scf::YieldOp>(loc, carried);
  return loop.getResults();
}

Values BlockCode::choose(Value condition, ValueRange otherwise, function_ref<Values()> body) {
  auto branch = builder.create<scf::IfOp>(loc, otherwise.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  builder.create<scf::YieldOp>(loc, body());
  builder.setInsertionPointToStart(branch.elseBlock());
  builder.create<scf::YieldOp>(loc, otherwise);
  return branch.getResults();
}

void BlockCode::when(Value condition, function_ref<void()> body) {
  auto branch = builder.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void BlockCode::meetBlock() { builder.create<NVVM::Barrier0Op>(loc); }
void BlockCode::meetWarp() { builder.create<NVVM::SyncWarpOp>(loc, whole(-1)); }

Value BlockCode::combineLanes(ReduceKind kind, Value value, int64_t lanes) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    Value other = create<NVVM::ShflOp>(value.getType(), whole(-1), value, whole(distance), whole(31),
                                       NVVM::ShflKind::bfly, UnitAttr());
    value = combine(kind, value, other);
  }
  return value;
}

Value BlockCode::combineWarp(ReduceKind kind, Value value) {
  auto how = kind == ReduceKind::Min ? NVVM::ReduxKind::MIN : NVVM::ReduxKind::MAX;
  return create<NVVM::ReduxOp>(i32, value, how, whole(-1));
}
