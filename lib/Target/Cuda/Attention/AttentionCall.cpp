//===- AttentionCall.cpp - sizes of an attention and where its tensors are ------------------------===//
#include "AttentionCall.h"
#include "par/Dialect/Par/IR/RowView.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class Reader {
public:
  explicit Reader(rank::AttentionOp work)
      : work(work), structure(work.getStructure()), body(work.getBody().front()) {}

  FailureOr<AttentionCall> run() {
    for (Operation &op : body) {
      if (auto forward = dyn_cast<par::AttentionOp>(op)) {
        readCommon(forward);
        call.out = ofWhole(getOutput(forward.getOut()));
        readSinks(forward.getSinks());
        call.lse = getOutput(forward.getLse());
      } else if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
        readCommon(backward);
        readBackward(backward);
      }
    }
    return failed(isFine) ? FailureOr<AttentionCall>(failure()) : call;
  }

private:
  int64_t countIns() { return static_cast<int64_t>(work.getIns().size()); }

  int64_t getInput(Value tensor) {
    auto argument = dyn_cast_or_null<BlockArgument>(tensor);
    if (argument)
      return argument.getArgNumber();
    if (tensor) // else it is optional
      isFine = work.emitOpError("attention on a GPU: an operand is no input of the op");
    return -1;
  }

  /// Positions, documents and the counters of dropout are such numbers.
  int64_t getNumbers(Value tensor) {
    if (tensor && !getElementTypeOrSelf(tensor).isInteger(32))
      isFine = work.emitOpError("attention on a GPU: integers of type ")
               << getElementTypeOrSelf(tensor) << ", expected i32";
    return getInput(tensor);
  }

  int64_t getOutput(Value tensor) {
    ValueRange outputs = body.getTerminator()->getOperands();
    auto found = llvm::find(outputs, tensor);
    if (found == outputs.end())
      isFine = work.emitOpError("attention on a GPU: a result is no output of the op");
    return countIns() + std::distance(outputs.begin(), found);
  }

  /// An output and its gradient are whole buffers.
  BufferRows ofWhole(int64_t operand) { return {operand, 0, call.countQueryHeads() * call.valueDim}; }
  static BufferRows ofRows(rank::RowsAttr rows, int64_t before = 0) {
    return {before + rows.getBuffer(), rows.getOffset(), rows.getStride()};
  }

  template <typename Op>
  void readCommon(Op op) {
    call.isBackward = std::is_same_v<Op, AttentionBackwardOp>;
    call.type = structure.getType();
    call.batch = structure.getBatch();
    call.qRows = structure.getQRows();
    call.kRows = structure.getKRows();
    call.kvHeads = structure.getKvHeads();
    call.group = structure.getGroup();
    call.headDim = structure.getHeadDim();
    call.valueDim = structure.getValueDim();
    call.scale = op.getScale().convertToDouble();
    call.cap = op.getCap().convertToDouble();
    call.causal = op.getCausal();
    call.window = static_cast<int64_t>(op.getWindow());
    call.diagonal = op.getDiagonal();
    call.rowsPerEntry = op.hasRowsPerEntry();
    call.dropout = op.getDropout().convertToFloat(); // f32, as the processor's attention has it
    if (op.getStrides())
      call.strides.assign(op.getStrides()->begin(), op.getStrides()->end());
    call.q = ofRows(structure.getQ());
    call.k = ofRows(structure.getK());
    call.v = ofRows(structure.getV());
    call.qPositions = getNumbers(op.getQPositions());
    call.kPositions = getNumbers(op.getKPositions());
    call.qDocuments = getNumbers(op.getQDocuments());
    call.kDocuments = getNumbers(op.getKDocuments());
    call.key = getNumbers(op.getKey());
    call.site = getNumbers(op.getSite());
    call.row = getNumbers(op.getRow());
    call.offsets = getNumbers(op.getOffsets());
  }

  void readSinks(Value sinks) {
    call.sinks = getInput(sinks);
    if (!sinks)
      return;
    call.sinkType = getElementTypeOrSelf(sinks);
    if (!call.sinkType.isF32() && !call.sinkType.isBF16())
      isFine = work.emitOpError("attention on a GPU: sinks of type ")
               << call.sinkType << ", expected f32 or bf16";
  }

  void readBackward(AttentionBackwardOp op) {
    call.out = ofWhole(getInput(op.getOut()));
    call.dout = ofWhole(getInput(op.getDout()));
    call.lse = getInput(op.getLse());
    call.dq = ofRows(structure.getDq(), countIns());
    call.dk = ofRows(structure.getDk(), countIns());
    call.dv = ofRows(structure.getDv(), countIns());
    call.delta = countIns() + static_cast<int64_t>(work.getOuts().size());
  }

  rank::AttentionOp work;
  rank::AttentionAttr structure;
  Block &body;
  AttentionCall call{};
  LogicalResult isFine = success();
};
} // namespace

FailureOr<AttentionCall> par::readAttention(rank::AttentionOp work) { return Reader(work).run(); }
