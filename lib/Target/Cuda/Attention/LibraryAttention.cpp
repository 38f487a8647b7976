//===- LibraryAttention.cpp - attention that cuDNN may compute instead ------------------------------===//
#include "LibraryAttention.h"
#include "par/Dialect/Par/IR/ParPlan.h"

using namespace mlir;
using namespace mlir::par;

/// Elements of bf16 in 16 bytes: rows and heads begin at multiples of them.
static constexpr int64_t kElements = 8;
/// Larger heads are those of some chips and versions only.
static constexpr int64_t kLargestHead = 128;

static SmallVector<BufferRows> getRows(const AttentionCall &call) {
  SmallVector<BufferRows> rows{call.q, call.k, call.v, call.out};
  if (call.isBackward)
    llvm::append_values(rows, call.dout, call.dq, call.dk, call.dv);
  return rows;
}

std::string par::findLibraryProblem(const AttentionCall &call) {
  if (!call.type.isBF16())
    return "f32";
  if (call.dropout > 0)
    return "dropout";
  if (call.cap > 0)
    return "a cap of scores";
  if (call.sinks >= 0)
    return "sinks";
  if (call.hasDocuments())
    return "documents";
  if (call.rowsPerEntry)
    return "positions of each entry of the batch";
  if ((call.causal || call.window) && !call.diagonal)
    return "positions that are no diagonal";
  if (call.window && !call.causal)
    return "a window that is not causal";
  if (call.qRows != call.kRows)
    return "other numbers of queries and keys";
  if (call.headDim % kElements != 0 || call.headDim > kLargestHead)
    return "heads of " + std::to_string(call.headDim) + " elements";
  if (call.valueDim != call.headDim)
    return "values of " + std::to_string(call.valueDim) + " elements beside keys of " +
           std::to_string(call.headDim);
  auto isOdd = [](BufferRows rows) { return rows.offset % kElements != 0 || rows.stride % kElements != 0; };
  return llvm::any_of(getRows(call), isOdd) ? "rows at no multiples of 16 bytes" : "";
}

par_cudnn_attention par::describeForLibrary(const AttentionCall &call, ChipKind chip) {
  return {call.isBackward,       call.batch, call.qRows, call.countQueryHeads(), call.group, call.headDim,
          chip == ChipKind::Sm80};
}

ChipKind par::getChip(rank::AttentionOp work) {
  PlanAttr plan = getPlan(work->getParentOfType<ModuleOp>());
  return plan ? plan.getPlan().chip : Plan().chip;
}

int64_t par::getLibraryBytes(rank::AttentionOp work) {
  // What is wrong with the op is said when its kernels are written.
  ScopedDiagnosticHandler quiet(work.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<AttentionCall> call = readAttention(work);
  if (failed(call) || !findLibraryProblem(*call).empty())
    return 0;
  return par_cudnn_workspace(describeForLibrary(*call, getChip(work)));
}

DictionaryAttr par::describeLibraryCall(Builder &builder, StringRef name, const AttentionCall &call,
                                        rank::AttentionOp work) {
  NamedAttrList members;
  auto set = [&](StringRef member, int64_t value) {
    members.append(member, builder.getI64IntegerAttr(value));
  };
  auto setRows = [&](StringRef member, BufferRows rows) {
    members.append(member, builder.getDenseI64ArrayAttr({rows.operand, rows.offset, rows.stride}));
  };
  int64_t bytes = par_cudnn_workspace(describeForLibrary(call, getChip(work)));
  int64_t workspace = static_cast<int64_t>(work.getIns().size() + work.getOuts().size()) + call.isBackward;
  members.append("name", builder.getStringAttr(name));
  members.append("backward", builder.getBoolAttr(call.isBackward));
  members.append("causal", builder.getBoolAttr(call.causal));
  members.append("scale", builder.getF64FloatAttr(call.scale));
  std::pair<StringRef, int64_t> sizes[] = {
      {"batch", call.batch},      {"rows", call.qRows},
      {"kv_heads", call.kvHeads}, {"group", call.group},
      {"head_dim", call.headDim}, {"window", call.window < call.kRows ? call.window : 0},
      {"lse", call.lse},          {"workspace", bytes ? workspace : -1},
      {"workspace_bytes", bytes}};
  for (auto [member, value] : sizes)
    set(member, value);
  setRows("q", call.q), setRows("k", call.k), setRows("v", call.v), setRows("out", call.out);
  if (call.isBackward)
    setRows("dout", call.dout), setRows("dq", call.dq), setRows("dk", call.dk), setRows("dv", call.dv);
  return members.getDictionary(builder.getContext());
}
