//===- Attention.cpp - attention by the runtime in runtime/cpu ------------------------------------------===//
#include "Attention.h"
#include "par/Target/CallBuilder.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

/// bf16 is widened a few rows of the batch at a time: enough of them that threads, which share kv heads, have
/// work.
static int64_t getWideningBytes(rank::AttentionAttr structure) {
  constexpr int64_t enough = 8;
  par_attention what{};
  what.batch = structure.getBatch();
  what.q_rows = structure.getQRows(), what.k_rows = structure.getKRows();
  what.kv_heads = structure.getKvHeads(), what.group = structure.getGroup();
  what.head_dim = structure.getHeadDim(), what.value_dim = structure.getValueDim();
  int64_t kvHeads = std::max<int64_t>(what.kv_heads, 1);
  int64_t rows = std::min<int64_t>(what.batch, (enough + kvHeads - 1) / kvHeads);
  return rows * par_attention_bf16_workspace(&what, static_cast<bool>(structure.getDq()));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Up to the offsets; `sinks` is null without any, and in the backward pass.
template <typename Op>
static SmallVector<Value> getCommonBuffers(CallBuilder &calls, rank::AttentionOp work, Op op, Value sinks) {
  rank::AttentionAttr structure = work.getStructure();
  SmallVector<Value> pointers;
  for (rank::RowsAttr rows : {structure.getQ(), structure.getK(), structure.getV()})
    pointers.push_back(calls.addressOf(work.getIns(), rows, structure.getType()));
  for (Value operand : {Value(op.getQPositions()), Value(op.getKPositions()), Value(op.getQDocuments()),
                        Value(op.getKDocuments()), sinks, Value(op.getKey()), Value(op.getSite()),
                        Value(op.getRow()), Value(op.getOffsets())})
    pointers.push_back(operand ? calls.bufferOf(work, operand) : Value());
  return pointers;
}

/// The arguments are in the order of runtime.h, without workspaces.
static SmallVector<Value> getBuffers(CallBuilder &calls, rank::AttentionOp work, AttentionOp op) {
  SmallVector<Value> pointers = getCommonBuffers(calls, work, op, op.getSinks());
  calls.appendBuffers(work.getOuts(), pointers);
  return pointers;
}

static SmallVector<Value> getBuffers(CallBuilder &calls, rank::AttentionOp work, AttentionBackwardOp op) {
  rank::AttentionAttr structure = work.getStructure();
  SmallVector<Value> pointers = getCommonBuffers(calls, work, op, Value());
  for (Value operand : {Value(op.getOut()), Value(op.getLse()), Value(op.getDout())})
    pointers.push_back(calls.bufferOf(work, operand));
  for (rank::RowsAttr rows : {structure.getDq(), structure.getDk(), structure.getDv()})
    pointers.push_back(calls.addressOf(work.getOuts(), rows, structure.getType()));
  return pointers;
}

static bool hasSinks(AttentionOp op) { return static_cast<bool>(op.getSinks()); }
static bool hasSinks(AttentionBackwardOp op) { return op.getSinks(); }

static bool hasBf16Sinks(AttentionOp op) {
  return op.getSinks() && getElementTypeOrSelf(op.getSinks().getType()).isBF16();
}
static bool hasBf16Sinks(AttentionBackwardOp) { return false; }

/// struct par_attention of runtime.h on the stack.
template <typename Op>
static Value describe(CallBuilder &calls, rank::AttentionAttr structure, Op op) {
  Location loc = op.getLoc();
  using Record = RuntimeRecord<par_attention>;
  auto type = Record::getType(calls.module.getContext());
  Value memory = calls.builder.create<LLVM::AllocaOp>(loc, calls.pointer, type, calls.i64(1));
  auto store = [&](ArrayRef<LLVM::GEPArg> path, Value value) {
    Value entry = calls.builder.create<LLVM::GEPOp>(loc, calls.pointer, type, memory, path);
    calls.builder.create<LLVM::StoreOp>(loc, value, entry);
  };
  store({0, Record::batch}, calls.i64(structure.getBatch()));
  store({0, Record::q_rows}, calls.i64(structure.getQRows()));
  store({0, Record::k_rows}, calls.i64(structure.getKRows()));
  store({0, Record::kv_heads}, calls.i64(structure.getKvHeads()));
  store({0, Record::group}, calls.i64(structure.getGroup()));
  store({0, Record::head_dim}, calls.i64(structure.getHeadDim()));
  store({0, Record::value_dim}, calls.i64(structure.getValueDim()));
  store({0, Record::scale}, calls.real(op.getScale().convertToDouble()));
  store({0, Record::cap}, calls.real(op.getCap().convertToDouble()));
  store({0, Record::causal}, calls.i32(op.getCausal()));
  store({0, Record::rows_per_entry}, calls.i32(op.hasRowsPerEntry()));
  store({0, Record::window}, calls.i64(op.getWindow()));
  store({0, Record::has_sinks}, calls.i32(hasSinks(op)));
  store({0, Record::sinks_bf16}, calls.i32(hasBf16Sinks(op)));
  store({0, Record::dropout}, calls.real(op.getDropout().convertToDouble()));
  for (int32_t dim = 0; dim < 5; ++dim)
    store({0, Record::strides, dim}, calls.i64(op.getStrides() ? (*op.getStrides())[dim] : 0));
  int32_t member = Record::q_stride;
  for (rank::RowsAttr rows : {structure.getQ(), structure.getK(), structure.getV(), structure.getDq(),
                              structure.getDk(), structure.getDv()})
    if (rows)
      store({0, member++}, calls.i64(rows.getStride()));
  return memory;
}

/// Calls `name`, or `name`_bf16 with the workspace.
template <typename Op>
static void call(CallBuilder &calls, StringRef name, rank::AttentionOp work, Op op) {
  SmallVector<Value> pointers = getBuffers(calls, work, op);
  Value description = describe(calls, work.getStructure(), op);
  SmallVector<Value> arguments{calls.context, description, calls.buildArray(pointers)};
  bool isBf16 = work.getStructure().getType().isBF16();
  if (isBf16)
    calls.appendScratch(work, arguments);
  calls.call(isBf16 ? (name + "_bf16").str() : name.str(), arguments);
}

namespace {
class CpuAttention : public LibraryCall {
public:
  SmallVector<int64_t> getScratchBytes(rank::LibraryWorkInterface work) const override {
    rank::AttentionAttr structure = cast<rank::AttentionOp>(*work).getStructure();
    return structure.getType().isBF16() ? SmallVector<int64_t>{getWideningBytes(structure)}
                                        : SmallVector<int64_t>();
  }

  LogicalResult emitCall(CallBuilder &calls, rank::LibraryWorkInterface work) const override {
    auto attention = cast<rank::AttentionOp>(*work);
    Operation *content = work.getContent();
    if (auto op = dyn_cast<AttentionOp>(content))
      call(calls, "par_attention_forward", attention, op);
    else
      call(calls, "par_attention_backward", attention, cast<AttentionBackwardOp>(content));
    return success();
  }
};
} // namespace

std::unique_ptr<LibraryCall> par::createCpuAttention() { return std::make_unique<CpuAttention>(); }
