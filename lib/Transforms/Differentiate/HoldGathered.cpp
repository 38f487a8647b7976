//===- HoldGathered.cpp - reads parameters that are stored in parts once per step -----------------------===//
#include "FunctionWriter.h"
#include "JointFunction.h"
#include "par/Transforms/Differentiate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_HOLDGATHERED
#include "par/Transforms/Differentiate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct HoldGathered : par::impl::HoldGatheredBase<HoldGathered> {
  void runOnOperation() override {
    copies.clear();
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    ChunkFunctions functions(module);
    SmallVector<func::FuncOp> readers;
    for (func::FuncOp function : functions.getAll())
      if (isPhase(function, Phase::Forward) || isBackward(getPhase(function).getPhase()))
        readers.push_back(function);
    SmallVector<VariableOp> parameters = collectRead(readers, symbols);
    if (parameters.empty())
      return;
    if (failed(checkNames(parameters, symbols)))
      return signalPassFailure();
    for (VariableOp parameter : parameters)
      copies[parameter.getSymNameAttr()] = createCopy(parameter);
    writeGather(readers.front(), parameters);
    for (func::FuncOp reader : readers)
      bindCopies(reader);
  }

  static bool isStoredInParts(VariableOp variable) {
    ShardingAttr storage = variable ? variable.getStorageAttr() : ShardingAttr(), compute;
    if (!storage || variable.getRole() != Role::Parameter)
      return false;
    compute = variable.getComputeAttr();
    return compute ? storage.getDims() != compute.getDims() : !storage.isFullyReplicated();
  }

  /// In the order in which they are read first.
  static SmallVector<VariableOp> collectRead(ArrayRef<func::FuncOp> readers, const SymbolTable &symbols) {
    llvm::SetVector<VariableOp> read;
    for (func::FuncOp reader : readers)
      for (unsigned argument = 0; argument < reader.getNumArguments(); ++argument)
        if (FlatSymbolRefAttr bind = getVariable(reader, argument))
          if (auto variable = symbols.lookup<VariableOp>(bind.getAttr()); isStoredInParts(variable))
            read.insert(variable);
    return read.takeVector();
  }

  static std::string getName(VariableOp parameter) { return (parameter.getSymName() + ".gathered").str(); }

  static LogicalResult checkNames(ArrayRef<VariableOp> parameters, const SymbolTable &symbols) {
    if (Operation *other = symbols.lookup("gather"))
      return refuseName(other, "gather");
    for (VariableOp parameter : parameters)
      if (Operation *other = symbols.lookup(getName(parameter))) {
        InFlightDiagnostic error = refuseName(other, getName(parameter));
        error.attachNote(parameter.getLoc()) << "the parameter that is gathered";
        return error;
      }
    return success();
  }

  static InFlightDiagnostic refuseName(Operation *other, const Twine &name) {
    return other->emitError("@") << name << " is the name of what par-hold-gathered adds; rename this symbol";
  }

  static VariableOp createCopy(VariableOp parameter) {
    OpBuilder builder(parameter->getContext());
    builder.setInsertionPointAfter(parameter);
    return builder.create<VariableOp>(
        parameter.getLoc(), getName(parameter), parameter.getTensorType(), parameter.getDims(),
        Role::Gathered, InitAttr::getZeros(builder.getContext()), FileAttr(), ShardingAttr(),
        getDimensionSharding(parameter.getComputeAttr()), FlatSymbolRefAttr::get(parameter),
        FlatSymbolRefAttr(), MemorySpaceAttr());
  }

  void writeGather(func::FuncOp forward, ArrayRef<VariableOp> parameters) {
    FunctionWriter gather(getOperation(), forward.getLoc(), "gather");
    setPhase(gather.function, Phase::Gather, getChunk(forward));
    gather.function->moveBefore(forward);
    for (VariableOp parameter : parameters)
      gather.addResult(copies[parameter.getSymNameAttr()], gather.addArgument(parameter));
    gather.finish();
  }

  void bindCopies(func::FuncOp reader) {
    for (unsigned argument = 0; argument < reader.getNumArguments(); ++argument)
      if (FlatSymbolRefAttr bind = getVariable(reader, argument))
        if (auto copy = copies.find(bind.getAttr()); copy != copies.end())
          setPlace(reader, argument, PlaceAttr::ofVariable(FlatSymbolRefAttr::get(copy->second)));
  }

  llvm::DenseMap<StringAttr, VariableOp> copies;
};
} // namespace
