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
    SymbolTable symbols(getOperation());
    ChunkFunctions functions(getOperation());
    SmallVector<func::FuncOp> chunks = functions.getAll(Phase::Forward);
    // By chunk, what it is the first one of its stage to read.
    SmallVector<SmallVector<VariableOp>> gathered;
    std::map<int64_t, llvm::DenseSet<VariableOp>> onStage;
    llvm::SetVector<VariableOp> all;
    for (func::FuncOp forward : chunks) {
      SmallVector<VariableOp> read = collectRead(listReaders(functions, getChunk(forward)), symbols);
      all.insert(read.begin(), read.end());
      llvm::erase_if(
          read, [&](VariableOp parameter) { return !onStage[getStage(forward)].insert(parameter).second; });
      gathered.push_back(std::move(read));
    }
    if (all.empty())
      return;
    if (failed(checkNames(chunks, all.getArrayRef(), symbols)))
      return signalPassFailure();
    for (VariableOp parameter : all)
      copies[parameter.getSymNameAttr()] = createCopy(parameter);
    for (auto [forward, parameters] : llvm::zip(chunks, gathered)) {
      writeGather(forward, parameters, chunks.size() == 1);
      for (func::FuncOp reader : listReaders(functions, getChunk(forward)))
        bindCopies(reader);
    }
  }

  /// The functions of a chunk that run with every micro-batch.
  static SmallVector<func::FuncOp> listReaders(const ChunkFunctions &functions, int64_t chunk) {
    SmallVector<func::FuncOp> readers;
    for (func::FuncOp function : functions.getAll())
      if (getChunk(function) == chunk &&
          (isPhase(function, Phase::Forward) || isBackward(getPhase(function).getPhase())))
        readers.push_back(function);
    return readers;
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

  static std::string getName(func::FuncOp forward, bool isOnly) {
    return isOnly ? stringifyPhase(Phase::Gather).str() : nameFor(forward, Phase::Gather);
  }

  static LogicalResult checkNames(ArrayRef<func::FuncOp> chunks, ArrayRef<VariableOp> parameters,
                                  const SymbolTable &symbols) {
    for (func::FuncOp forward : chunks)
      if (std::string name = getName(forward, chunks.size() == 1); Operation *other = symbols.lookup(name))
        return refuseName(other, name);
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

  void writeGather(func::FuncOp forward, ArrayRef<VariableOp> parameters, bool isOnly) {
    FunctionWriter gather(getOperation(), forward.getLoc(), getName(forward, isOnly));
    setPhase(gather.function, Phase::Gather, forward);
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
