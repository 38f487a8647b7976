//===- RankOps.cpp - the rank dialect -------------------------------------------------------------------===//
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par::rank;

#include "par/Dialect/Rank/IR/RankDialect.cpp.inc"
#include "par/Dialect/Rank/IR/RankEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "par/Dialect/Rank/IR/RankAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "par/Dialect/Rank/IR/RankInterfaces.cpp.inc"
#include "par/Dialect/Rank/IR/RankTypes.cpp.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Rank/IR/RankOps.cpp.inc"

void RankDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "par/Dialect/Rank/IR/RankAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "par/Dialect/Rank/IR/RankTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Rank/IR/RankOps.cpp.inc"
      >();
}

int64_t par::rank::getBytes(Type type) { return getTensorBytes(type); }

//===----------------------------------------------------------------------===//
// rank.func
//===----------------------------------------------------------------------===//

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto build = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                  function_interface_impl::VariadicFlag,
                  std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), build,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t bytes) {
  if (bytes < 0)
    return emitError() << "buffer_c1: a buffer of " << bytes << " bytes, expected 0 or more";
  return success();
}

LogicalResult FuncOp::verify() {
  auto results = static_cast<int64_t>(getResults()), arguments = static_cast<int64_t>(getNumArguments());
  LogicalResult verdict = success();
  if (results < 0 || results > arguments)
    verdict = emitOpError("func_c1: results = ")
              << results << ", expected 0 to the " << arguments << " arguments";
  if (getFrame() && static_cast<int64_t>(*getFrame()) < 0)
    verdict = emitOpError("func_c2: a frame of ")
              << static_cast<int64_t>(*getFrame()) << " bytes, expected 0 or more";
  return verdict;
}

LogicalResult AllocOp::verify() {
  if (!getOffset())
    return success();
  auto offset = static_cast<int64_t>(*getOffset());
  if (offset < 0)
    return emitOpError("alloc_c1: offset ") << offset << ", expected 0 or more";
  auto function = (*this)->getParentOfType<FuncOp>();
  if (getHost() || !function || !function.getFrame() ||
      getType().getBytes() <= static_cast<int64_t>(*function.getFrame()) - offset)
    return success();
  InFlightDiagnostic diagnostic = emitOpError("alloc_c1: ")
                                  << getType().getBytes() << " bytes from " << offset
                                  << " leave the frame of " << *function.getFrame() << " bytes";
  diagnostic.attachNote(function.getLoc()) << "the function";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static LogicalResult verifyTensor(Operation *op, StringRef what, unsigned number, Value buffer, Type tensor) {
  int64_t bytes = cast<BufferType>(buffer.getType()).getBytes();
  if (!isa<RankedTensorType>(tensor) || getBytes(tensor) != bytes)
    return op->emitOpError("work_c2: ") << what << " " << number << " has " << bytes << " bytes, its tensor "
                                        << tensor << " has another size";
  return success();
}

static LogicalResult verifyWork(WorkOpInterface op) {
  Block &block = op.getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return op->emitOpError("work_c1: the region must end in rank.yield");
  if (block.getNumArguments() != op.getIns().size() || yield.getValues().size() != op.getOuts().size())
    return op->emitOpError("work_c1: ") << op.getIns().size() << " ins and " << op.getOuts().size()
                                        << " outs, but " << block.getNumArguments() << " block arguments and "
                                        << yield.getValues().size() << " yielded tensors";
  bool valid = true;
  for (auto [number, pair] : llvm::enumerate(llvm::zip(op.getIns(), block.getArgumentTypes())))
    valid &= succeeded(verifyTensor(op, "input", number, std::get<0>(pair), std::get<1>(pair)));
  for (auto [number, pair] : llvm::enumerate(llvm::zip(op.getOuts(), yield.getValues().getTypes())))
    valid &= succeeded(verifyTensor(op, "output", number, std::get<0>(pair), std::get<1>(pair)));
  return success(valid);
}

LogicalResult KernelOp::verify() { return verifyWork(*this); }
LogicalResult GemmOp::verify() { return verifyWork(*this); }
LogicalResult AttentionOp::verify() { return verifyWork(*this); }
LogicalResult CollectiveOp::verify() { return verifyWork(*this); }

//===----------------------------------------------------------------------===//
// Start and wait
//===----------------------------------------------------------------------===//

bool mlir::par::rank::isStartedTransfer(Operation *op) {
  auto start = dyn_cast<StartOp>(op);
  // By name: this dialect knows the ops of regions by their interfaces alone.
  return start && start.getBody().front().front().getName().getStringRef() == "par.transfer";
}

bool mlir::par::rank::isCollective(Operation *op) {
  return isa<CollectiveOp>(op) || (isa<StartOp>(op) && !isStartedTransfer(op));
}

WaitOp StartOp::getWait() {
  return getEvent().hasOneUse() ? dyn_cast<WaitOp>(*getEvent().getUsers().begin()) : WaitOp();
}

LogicalResult StartOp::verify() {
  WaitOp wait = getWait();
  if (!wait || wait->getBlock() != (*this)->getBlock())
    return emitOpError(
        "start_c1: the event must be used by one rank.wait of the same block and by nothing else");
  if (failed(verifyWork(*this)))
    return failure();
  if (!llvm::hasNItems(getBody().front(), 2))
    return emitOpError("start_c3: the region must hold one collective, or transfer, and its yield");
  return success();
}

LogicalResult WaitOp::verify() {
  auto start = getEvent().getDefiningOp<StartOp>();
  if (!start || start->getBlock() != (*this)->getBlock())
    return emitOpError("wait_c1: the event must be the result of a rank.start of the same block");
  return success();
}

/// Buffers that an op of a rank.func writes.
static SmallVector<Value> getWritten(Operation *op, SymbolTableCollection &symbols) {
  SmallVector<Value> written;
  if (auto work = dyn_cast<WorkOpInterface>(op)) {
    llvm::append_range(written, work.getOuts());
    llvm::append_range(written, work.getScratch());
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    written.push_back(copy.getTarget());
  } else if (auto call = dyn_cast<CallOp>(op)) {
    auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(call, call.getCalleeAttr());
    uint64_t results = callee ? std::min<uint64_t>(callee.getResults(), call.getBuffers().size()) : 0;
    llvm::append_range(written, call.getBuffers().take_back(results));
    written.push_back(call.getFrame());
  }
  return written;
}

/// (start_c2): needs the callees, which say what calls write.
LogicalResult StartOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *wait = getWait();
  for (Operation *op = (*this)->getNextNode(); op && op != wait; op = op->getNextNode()) {
    SmallVector<Value> written = getWritten(op, symbols);
    auto uses = [&](Value buffer) { return llvm::is_contained(op->getOperands(), buffer); };
    auto writes = [&](Value buffer) { return llvm::is_contained(written, buffer); };
    const char *does = llvm::any_of(getOuts(), uses)    ? "uses what the started op writes"
                       : llvm::any_of(getIns(), writes) ? "writes what the started op reads"
                                                        : nullptr;
    if (!does)
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError("start_c2: ") << does << " before the wait";
    diagnostic.attachNote(getLoc()) << "started here";
    return diagnostic;
  }
  return success();
}

LogicalResult CopyOp::verify() {
  if (getSource().getType() != getTarget().getType())
    return emitOpError("copy_c1: source ")
           << getSource().getType() << " and target " << getTarget().getType() << " must have equal bytes";
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The buffer is what the argument takes, or that many such parts.
static bool fits(Type buffer, Type argument, int64_t parts) {
  int64_t bytes = cast<BufferType>(buffer).getBytes(), part = cast<BufferType>(argument).getBytes();
  return bytes == part || (bytes % parts == 0 && bytes / parts == part);
}

/// rank.call and rank.action: `code` begins the names of their constraints.
template <typename Op>
static LogicalResult verifyCallee(Op op, StringRef code, int64_t parts, SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(op, op.getCalleeAttr());
  if (!callee)
    return op.emitOpError() << code << "_c1: " << op.getCalleeAttr() << " names no rank.func";
  ArrayRef<Type> types = callee.getArgumentTypes();
  TypeRange buffers = op.getBuffers().getTypes();
  if (!std::equal(buffers.begin(), buffers.end(), types.begin(), types.end(),
                  [&](Type buffer, Type argument) { return fits(buffer, argument, parts); })) {
    InFlightDiagnostic diagnostic = op.emitOpError()
                                    << code << "_c2: buffers have the types (" << op.getBuffers().getTypes()
                                    << "), expected those of the arguments, (" << types << ")";
    if (parts > 1)
      diagnostic << ", or " << parts << " such parts";
    diagnostic.attachNote(callee.getLoc()) << "the callee";
    return diagnostic;
  }
  int64_t frame = op.getFrame().getType().getBytes();
  if (callee.getFrame() && static_cast<int64_t>(*callee.getFrame()) > frame)
    return op.emitOpError() << code << "_c3: the frame has " << frame << " bytes, the callee needs "
                            << *callee.getFrame();
  return success();
}

LogicalResult CallOp::verify() {
  auto parts = static_cast<int64_t>(getParts());
  return parts >= 1 ? success() : emitOpError("call_c4: parts = ") << parts << ", expected 1 or more";
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, "call", static_cast<int64_t>(getParts()), symbols);
}

int64_t CallOp::getStride(unsigned number, FuncOp callee) {
  int64_t bytes = cast<BufferType>(getBuffers()[number].getType()).getBytes(),
          part = cast<BufferType>(callee.getArgumentTypes()[number]).getBytes();
  return bytes == part ? 0 : part;
}

LogicalResult ActionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (Value operand : getOperands())
    if (!operand.getDefiningOp<SlotOp>())
      return emitOpError("action_c4: frame and buffers must be slots of the schedule");
  return verifyCallee(*this, "action", /*parts=*/1, symbols);
}

LogicalResult SlotOp::verify() {
  if (getOffset() && static_cast<int64_t>(*getOffset()) < 0)
    return emitOpError("slot_c3: offset ") << static_cast<int64_t>(*getOffset()) << ", expected 0 or more";
  if (getHost() && getKind() != SlotKind::Variable)
    return emitOpError("slot_c4: `host` on a slot that is no variable");
  if (getKind() == SlotKind::Frame)
    return success();
  if (!getTensor() || !isa<RankedTensorType>(*getTensor()) || getBytes(*getTensor()) != getType().getBytes())
    return emitOpError("slot_c1: the buffer has ")
           << getType().getBytes() << " bytes, `tensor` must be a tensor of that size";
  if (getKind() == SlotKind::Constant && !getValue())
    return emitOpError("slot_c2: a constant needs a value");
  return success();
}
