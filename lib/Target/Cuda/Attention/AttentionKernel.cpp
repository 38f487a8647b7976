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
  launch.blocks = call.batch * heads * countTiles() * plan.parts;
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
    : task(task), call(task.call), plan(task.plan), places(placeShared(plan, call)),
      code(enter(accesses, std::move(next)), task.getLoc()), visibility(code, call),
      shared(findLaunchShared(code)), warpRow(code.times(code.warp, 16 * plan.bands)), block(code.block) {
  if (plan.parts > 1) { // side by side, so that they find each other's rows in a cache
    (plan.isApart ? gradient : part) = code.rest(code.block, plan.parts);
    block = code.divide(code.block, plan.parts);
  }
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
int64_t AttentionKernel::findAccess(BufferRows rows, int64_t columns) const {
  int64_t elements = task.isAligned ? kAccessBytes / BlockCode::getBytes(call.type) : 1;
  while ((rows.offset | rows.stride | columns) % elements != 0)
    elements /= 2;
  return elements;
}

HeadRows AttentionKernel::findHead(BufferRows rows, Value batch, Value head, int64_t perSequence,
                                   int64_t columns) {
  Value first = code.widenTimes(batch, perSequence * rows.stride);
  first = code.create<arith::AddIOp>(first, code.widenTimes(head, columns));
  first = code.create<arith::AddIOp>(first, code.wide(rows.offset));
  Value address = code.address(getMemory(rows.operand), call.type, first);
  return {address, rows.stride, perSequence, columns, findAccess(rows, columns), {}};
}

Value AttentionKernel::findNumber(int64_t operand, Value batch, Value head, Value row) {
  Value first = code.widenTimes(batch, call.countQueryHeads() * call.qRows);
  first = code.create<arith::AddIOp>(first, code.widenTimes(head, call.qRows));
  first = code.create<arith::AddIOp>(first, code.widen(row));
  return code.address(getMemory(operand), code.f32, first);
}

void AttentionKernel::storeRows(const Fragments &sums, const SharedTile &tile, HeadColumns of, HeadRows to,
                                Value firstRow) {
  SharedTile rows = tile.columns == of.sums ? tile : tile.reshape(of.sums);
  if (part)
    to.begin = code.times(part, of.sums);
  code.meetBlock(); // behind who brought these rows: a block may have come here at once
  rows.put(sums, warpRow);
  code.meetWarp();
  rows.store(to, warpRow, 16 * plan.bands, code.add(firstRow, warpRow));
}

//===----------------------------------------------------------------------===//
// Tables of rows
//===----------------------------------------------------------------------===//

RowTables AttentionKernel::findTables(int64_t positions, int64_t documents, Value batch, int64_t rows) {
  auto find = [&](int64_t operand) {
    if (operand < 0 || !call.rowsPerEntry)
      return getMemory(operand);
    return code.address(getMemory(operand), code.i32, code.widenTimes(batch, rows));
  };
  return {find(positions), find(documents)};
}

Value AttentionKernel::getDocument(Value number) {
  return call.hasDocuments() ? code.read(code.i32, code.address(getDocuments(), code.i32, number)) : Value();
}

NumberRange AttentionKernel::findTiles(RowTables tables, NumberRange documents, int64_t rows) {
  if (!tables.documents)
    return {code.whole(0), code.whole(rows)};
  NumberRange found = shareFound(scanDocuments(tables.documents, documents, rows));
  return {code.create<arith::SubIOp>(found.low, code.rest(found.low, plan.others)), found.high};
}

/// A thread looks at its share of the table, 16 bytes at a time.
NumberRange AttentionKernel::scanDocuments(Value table, NumberRange documents, int64_t rows) {
  int64_t access = task.isAligned && rows % 4 == 0 ? 4 : 1;
  Value span = code.create<arith::SubIOp>(documents.high, documents.low);
  Values found = code.loop(
      code.times(code.thread, access), code.whole(rows), access * plan.countThreads(),
      {code.whole(rows), code.whole(0)}, [&](Value row, ValueRange carried) {
        Value all = code.read(VectorType::get({access}, code.i32), code.address(table, code.i32, row)), any;
        for (int64_t number = 0; number < access; ++number) {
          Value document = code.create<LLVM::ExtractElementOp>(all, code.whole(number));
          Value isThere = code.compare(arith::CmpIPredicate::ule,
                                       code.create<arith::SubIOp>(document, documents.low), span);
          any = any ? code.create<arith::OrIOp>(any, isThere) : isThere;
        }
        Value first = code.select(any, row, code.whole(rows));
        return Values{code.combine(ReduceKind::Min, carried[0], first),
                      code.select(any, code.add(row, access), carried[1])};
      });
  return {code.combineWarp(ReduceKind::Min, found[0]), code.combineWarp(ReduceKind::Max, found[1])};
}

/// The result is what all warps have found together.
NumberRange AttentionKernel::shareFound(NumberRange found) {
  if (plan.warps == 1)
    return found;
  Value all = getPlace(places.found);
  auto at = [&](Value number) { return code.address(all, code.i32, number); };
  code.when(code.isEqual(code.lane, 0), [&] {
    Value mine = code.times(code.warp, 2);
    code.write(found.low, at(mine));
    code.write(found.high, at(code.add(mine, 1)));
  });
  code.meetBlock();
  for (int64_t warp = 0; warp < plan.warps; ++warp) {
    auto combine = [&](ReduceKind kind, Value with, int64_t number) {
      return code.combine(kind, with, code.read(code.i32, at(code.whole(number))));
    };
    found = {combine(ReduceKind::Min, found.low, 2 * warp),
             combine(ReduceKind::Max, found.high, 2 * warp + 1)};
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionKernel::toScore(Value product) {
  if (isSigmoid()) { // of −1 − e^x the reciprocal
    Value power = callHardware("ex2.approx.ftz.f",
                               code.multiply(product, code.real(2 * call.scale * getUnit() / call.cap)));
    return callHardware("rcp.approx.ftz.f", code.subtract(code.real(-1), power));
  }
  if (call.cap > 0)
    return tangent(code.multiply(product, code.real(call.scale / call.cap)));
  return code.multiply(product, code.real(call.scale * getUnit()));
}

/// The hardware computes it for bf16.
Value AttentionKernel::tangent(Value x) {
  if (!isBf16())
    return code.create<math::TanhOp>(x);
  auto dialect = LLVM::AsmDialectAttr::get(code.builder.getContext(), LLVM::AsmDialect::AD_ATT);
  return code.builder
      .create<LLVM::InlineAsmOp>(code.loc, code.f32, ValueRange{x}, "tanh.approx.f32 $0, $1;", "=f,f",
                                 /*has_side_effects=*/false, /*is_align_stack=*/false, dialect,
                                 /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

Value AttentionKernel::toBase(Value score) {
  return call.cap > 0 ? code.multiply(score, code.real(-getCapUnits().first)) : score;
}

Value AttentionKernel::subtractBase(Value score, Value base) {
  return call.cap > 0 ? code.create<math::FmaOp>(score, code.real(getCapUnits().first), base)
                      : code.subtract(score, base);
}

Value AttentionKernel::subtractBases(Value score, Value base) {
  return call.cap > 0 ? code.subtract(base, toBase(score)) : code.subtract(score, base);
}

Value AttentionKernel::getSlope(Value score) {
  Value less = code.create<arith::NegFOp>(score);
  return code.create<math::FmaOp>(less, score, isSigmoid() ? less : code.real(1));
}

Value AttentionKernel::callHardware(StringRef function, Value x) {
  auto name = code.builder.getStringAttr("llvm.nvvm." + function);
  return code.builder.create<LLVM::CallIntrinsicOp>(code.loc, code.f32, name, x).getResult(0);
}

Value AttentionKernel::exponential(Value score) {
  if (isBf16())
    return callHardware("ex2.approx.ftz.f", score);
  Value isNothing = code.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, score, code.real(-kInfinity));
  return code.select(isNothing, code.real(0), code.create<math::ExpOp>(score));
}

double AttentionKernel::getNoDivisor() const { return call.cap > 0 ? -kInfinity : kInfinity; }

Value AttentionKernel::toDivisor(Value lse) {
  Value isNothing = code.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, lse, code.real(-kInfinity));
  Value divisor = code.multiply(lse, code.real(call.cap > 0 ? -getUnit() : getUnit()));
  if (isSigmoid())
    divisor = code.create<arith::AddFOp>(divisor, code.real(getCapUnits().second));
  return code.select(isNothing, code.real(getNoDivisor()), divisor);
}
