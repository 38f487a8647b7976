//===- LibraryWork.cpp - ops of rank programs that libraries compute ------------------------------------===//
#include "par/Dialect/Rank/IR/Structure.h"

using namespace mlir;
using namespace mlir::par::rank;
using mlir::par::WorkKind;

par::LibraryOpInterface mlir::par::rank::findLibraryOp(Block &body) {
  for (Operation &op : body)
    if (auto library = dyn_cast<par::LibraryOpInterface>(op))
      return library;
  return {};
}

LibraryWorkInterface mlir::par::rank::createLibraryWork(OpBuilder &builder, Location loc, StringRef name,
                                                        ValueRange ins, ValueRange outs,
                                                        DenseI64ArrayAttr reads, DenseI64ArrayAttr writes) {
  OperationState state(loc, name);
  state.addOperands(ins);
  state.addOperands(outs);
  auto count = [](ValueRange buffers) { return static_cast<int32_t>(buffers.size()); };
  state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr({count(ins), count(outs), 0}));
  state.addAttribute("reads", reads);
  state.addAttribute("writes", writes);
  state.addRegion();
  return cast<LibraryWorkInterface>(builder.create(state));
}

std::optional<WorkKind> mlir::par::rank::getWorkKind(Operation *op) {
  if (isa<KernelOp>(op))
    return WorkKind::Kernel;
  if (isa<GemmOp>(op))
    return WorkKind::Product;
  auto library = dyn_cast<LibraryWorkInterface>(op);
  return library ? std::optional(library.getContent().getWorkKind()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// rank.library
//===----------------------------------------------------------------------===//

/// The call is given nothing but inputs and outputs: what is no rows of them is one.
static bool isCall(par::LibraryOpInterface op, const LibraryRows &rows, Block &body) {
  SmallVector<unsigned> rowOperands = op.getRowOperands(), rowResults = op.getRowResults();
  for (OpOperand &operand : op->getOpOperands())
    if (!llvm::is_contained(rowOperands, operand.getOperandNumber()) && !isa<BlockArgument>(operand.get()))
      return false;
  Operation *yield = body.getTerminator();
  llvm::SmallBitVector written(yield->getNumOperands());
  for (RowsAttr result : rows.results)
    written.set(result.getBuffer());
  for (OpResult result : op->getResults()) {
    if (llvm::is_contained(rowResults, result.getResultNumber()))
      continue;
    auto found = llvm::find(yield->getOperands(), result);
    if (found == yield->getOperands().end())
      return false;
    written.set(std::distance(yield->getOperands().begin(), found));
  }
  return written.all();
}

Attribute LibraryOp::describe() {
  Block &body = getBody().front();
  par::LibraryOpInterface content = getContent();
  std::optional<LibraryRows> rows = content ? describeRows(content, body) : std::nullopt;
  if (!rows || !isCall(content, *rows, body))
    return {};
  auto list = [&](ArrayRef<RowsAttr> each) {
    return ArrayAttr::get(getContext(), SmallVector<Attribute>(each.begin(), each.end()));
  };
  return LibraryAttr::get(getContext(), list(rows->operands), list(rows->results));
}

StringRef LibraryOp::getRequirement() {
  return "one op of a library without an op for itself, whose operands are inputs and whose results are "
         "outputs, or rows of them where it takes rows";
}
