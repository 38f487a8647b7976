//===- AttentionKernel.cpp - what the kernels of attention have in common -------------------------===//
#include "AttentionKernel.h"
#include "../ThreadGroup.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace mlir::par;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

/// A buffer of several roles is there once.
static SmallVector<AttentionKernel::Access> merge(ArrayRef<AttentionKernel::Access> accesses) {
  SmallVector<AttentionKernel::Access> merged;
  for (const AttentionKernel::Access &access : accesses) {
    auto *found = llvm::find_if(merged, [&](auto &other) { return other.first == access.first; });
    if (found == merged.end())
      merged.push_back(access);
  }
  return merged;
}

OpBuilder &AttentionKernel::enter(ArrayRef<Access> accesses, std::string next) {
  Launch launch(getName(plan.pass));
  bool isOfKeys = plan.pass == AttentionPass::Keys;
  int64_t heads = isOfKeys ? call.kvHeads : call.countQueryHeads();
  launch.blocks = call.batch * heads * countTiles();
  launch.threads = static_cast<int32_t>(plan.countThreads());
  launch.sharedBytes = plan.sharedBytes;
  launch.registers = plan.registers;
  launch.isWide = task.isAligned;
  launch.next = std::move(next);
  llvm::append_range(launch.operands, merge(accesses));
  auto pointer = LLVM::LLVMPointerType::get(task.builder.getContext());
  SmallVector<Type> types(launch.operands.size(), pointer);
  func::FuncOp entry = createEntry(task.builder, task.getLoc(), task.name, types, launch);
  entry->setAttr(kKeepsOperationsAttr, task.builder.getUnitAttr());
  for (auto [number, operand] : llvm::enumerate(launch.operands))
    memories[operand.first] = entry.getArgument(number);
  task.builder.setInsertionPointToStart(&entry.front());
  return task.builder;
}

AttentionKernel::AttentionKernel(const AttentionTask &task, ArrayRef<Access> accesses, std::string next)
    : task(task), call(task.call), plan(task.plan), places(placeShared(plan, call.type)),
      code(enter(accesses, std::move(next)), task.getLoc()), visibility(code, call),
      shared(findLaunchShared(code)), warpRow(code.times(code.warp, 16 * plan.bands)) {
  if (isBf16()) {
    product = createMmaProduct(code);
    return;
  }
  staging.emplace(code, shared, places.staging, call.type, plan.countRows(), plan.others);
  product = createFmaProduct(code, *staging, warpRow);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The largest power of two, up to 16 bytes, at whose multiples all rows begin and end.
int64_t AttentionKernel::findAccess(BufferRows rows) const {
  int64_t elements = task.isAligned ? kAccessBytes / BlockCode::getBytes(call.type) : 1;
  while ((rows.offset | rows.stride | call.headDim) % elements != 0)
    elements /= 2;
  return elements;
}

HeadRows AttentionKernel::findHead(BufferRows rows, Value batch, Value head, int64_t perSequence) {
  Value first = code.widenTimes(batch, perSequence * rows.stride);
  first = code.create<arith::AddIOp>(first, code.widenTimes(head, call.headDim));
  first = code.create<arith::AddIOp>(first, code.wide(rows.offset));
  Value address = code.address(getMemory(rows.operand), call.type, first);
  return {address, rows.stride, perSequence, call.headDim, findAccess(rows)};
}

Value AttentionKernel::findNumber(int64_t operand, Value batch, Value head, Value row) {
  Value first = code.widenTimes(batch, call.countQueryHeads() * call.qRows);
  first = code.create<arith::AddIOp>(first, code.widenTimes(head, call.qRows));
  first = code.create<arith::AddIOp>(first, code.widen(row));
  return code.address(getMemory(operand), code.f32, first);
}

void AttentionKernel::storeRows(const Fragments &sums, const SharedTile &tile, const HeadRows &to,
                                Value firstRow) {
  code.meetBlock(); // behind who brought these rows: a block may have come here at once
  tile.put(sums, warpRow);
  code.meetWarp();
  tile.store(to, warpRow, 16 * plan.bands, code.add(firstRow, warpRow));
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionKernel::exponential(Value score) {
  if (isBf16())
    return code.builder
        .create<LLVM::CallIntrinsicOp>(code.loc, code.f32,
                                       code.builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"), score)
        .getResult(0);
  Value isNothing = code.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, score, code.real(-kInfinity));
  return code.select(isNothing, code.real(0), code.create<math::ExpOp>(score));
}

Value AttentionKernel::toDivisor(Value lse) {
  Value isNothing = code.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, lse, code.real(-kInfinity));
  return code.select(isNothing, code.real(kInfinity), code.multiply(lse, code.real(getUnit())));
}
