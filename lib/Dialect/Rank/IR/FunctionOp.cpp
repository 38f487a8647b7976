//===- FunctionOp.cpp - rank.func: syntax, and what holds between its ops -------------------------------===//
#include "mlir/Interfaces/FunctionImplementation.h"
#include "par/Dialect/Rank/IR/Rank.h"

using namespace mlir;
using namespace mlir::par::rank;

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

std::optional<unsigned> FuncOp::getOverwritten(unsigned result) {
  std::optional<ArrayRef<int64_t>> overwrites = getOverwrites();
  if (!overwrites || (*overwrites)[result] < 0)
    return std::nullopt;
  return static_cast<unsigned>((*overwrites)[result]);
}

/// (rank_func_c3), once the number of results is known to be right.
static LogicalResult verifyOverwrites(FuncOp function) {
  if (!function.getOverwrites())
    return success();
  ArrayRef<int64_t> overwrites = *function.getOverwrites();
  ArrayRef<Type> types = function.getArgumentTypes();
  size_t results = function.getResults(), arguments = types.size() - results;
  if (overwrites.size() != results)
    return function.emitOpError("rank_func_c3: `overwrites` has ")
           << overwrites.size() << " entries, expected one for each of the " << results << " results";
  for (auto [result, argument] : llvm::enumerate(overwrites))
    if (argument < -1 || argument >= static_cast<int64_t>(arguments) ||
        (argument >= 0 && types[argument] != types[arguments + result]))
      return function.emitOpError("rank_func_c3: result ")
             << result << " overwrites argument " << argument << ", expected -1 or one of the first "
             << arguments << " arguments that has the result's type";
  return success();
}

LogicalResult FuncOp::verify() {
  auto results = static_cast<int64_t>(getResults()), arguments = static_cast<int64_t>(getNumArguments());
  LogicalResult verdict = success();
  if (results < 0 || results > arguments)
    verdict = emitOpError("rank_func_c1: results = ")
              << results << ", expected 0 to the " << arguments << " arguments";
  if (getFrame() && static_cast<int64_t>(*getFrame()) < 0)
    verdict = emitOpError("rank_func_c2: a frame of ")
              << static_cast<int64_t>(*getFrame()) << " bytes, expected 0 or more";
  return failed(verdict) ? verdict : verifyOverwrites(*this);
}

namespace {
/// (rank_start_c2): what lies between starts and their waits uses none of their outs and writes none of their
/// ins.
class StartedBuffers {
public:
  LogicalResult verify(Operation &op) {
    if (auto wait = dyn_cast<WaitOp>(op))
      end(wait.getEvent().getDefiningOp<StartOp>());
    else if (auto accessing = dyn_cast<AccessOpInterface>(op); accessing && !(outs.empty() && ins.empty()))
      if (failed(verifyAccesses(accessing)))
        return failure();
    if (auto start = dyn_cast<StartOp>(op); start && start.getWait())
      begin(start);
    return success();
  }

private:
  using Starts = llvm::DenseMap<Value, SmallVector<StartOp, 1>>;

  void begin(StartOp start) {
    for (Value out : start.getOuts())
      outs[out].push_back(start);
    for (Value in : start.getIns())
      ins[in].push_back(start);
  }

  static void drop(Starts &starts, Value buffer, StartOp start) {
    auto found = starts.find(buffer);
    if (found == starts.end())
      return;
    llvm::erase(found->second, start);
    if (found->second.empty())
      starts.erase(found);
  }

  void end(StartOp start) {
    for (Value out : start.getOuts())
      drop(outs, out, start);
    for (Value in : start.getIns())
      drop(ins, in, start);
  }

  LogicalResult verifyAccesses(AccessOpInterface op) {
    for (const Access &access : op.getAccesses()) {
      Value buffer = access.operand->get();
      if (auto found = outs.find(buffer); found != outs.end())
        return refuse(op, "uses what the started op writes", found->second.front());
      if (auto found = access.kind == AccessKind::Read ? ins.end() : ins.find(buffer); found != ins.end())
        return refuse(op, "writes what the started op reads", found->second.front());
    }
    return success();
  }

  static LogicalResult refuse(Operation *op, const char *does, StartOp start) {
    InFlightDiagnostic diagnostic = op->emitOpError("rank_start_c2: ") << does << " before the wait";
    diagnostic.attachNote(start.getLoc()) << "started here";
    return diagnostic;
  }

  Starts outs, ins; ///< of what is under way
};
} // namespace

LogicalResult FuncOp::verifyRegions() {
  StartedBuffers started;
  for (Operation &op : getBody().front())
    if (failed(started.verify(op)))
      return failure();
  return success();
}
