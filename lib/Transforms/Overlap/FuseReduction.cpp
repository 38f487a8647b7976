//===- FuseReduction.cpp - the last backward function reduces the gradients -----------------------------===//
#include "mlir/IR/IRMapping.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Transforms/Overlap/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_FUSEREDUCTION
#include "par/Transforms/Overlap/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// Writes `@backward.last` from a chunk's `@backward` and `@reduce`; of a backward pass in two parts, from
/// the one of the weights.
class ReductionFusion {
public:
  ReductionFusion(func::FuncOp backward, func::FuncOp reduce, SymbolTable &symbols)
      : backward(backward), reduce(reduce), symbols(symbols), builder(backward) {}

  void run() {
    builder.setInsertionPointAfter(backward);
    fused = cast<func::FuncOp>(builder.clone(*backward));
    symbols.insert(fused);
    fused.setSymName((backward.getSymName() + ".last").str());
    setPhase(fused, isPhase(backward, Phase::Backward) ? Phase::BackwardLast : Phase::BackwardWeightLast,
             backward);
    auto exit = cast<func::ReturnOp>(fused.front().getTerminator());
    mapArguments(exit);
    dropOverwritten(exit);
    appendReduction(exit);
  }

private:
  /// The value that the backward function gives a variable, or the argument that reads what `@reduce` reads.
  void mapArguments(func::ReturnOp exit) {
    llvm::DenseMap<Attribute, Value> written; // by variable
    for (unsigned result = 0; result < fused.getNumResults(); ++result)
      if (FlatSymbolRefAttr variable = getResultVariable(fused, result))
        written[variable] = exit.getOperand(result);
    for (BlockArgument argument : reduce.getArguments()) {
      FlatSymbolRefAttr variable = getVariable(argument);
      Value value = variable ? written.lookup(variable) : Value();
      mapping.map(argument, value ? value : findArgument(argument.getArgNumber()));
    }
  }

  Value findArgument(unsigned number) {
    if (PlaceAttr source = getPlace(reduce, number))
      if (std::optional<unsigned> argument = par::findArgument(fused, source))
        return fused.getArgument(*argument);
    unsigned last = fused.getNumArguments();
    fused.insertArgument(last, reduce.getArgumentTypes()[number], reduce.getArgAttrDict(number),
                         reduce.getArgument(number).getLoc());
    return fused.getArgument(last);
  }

  /// A sum that lies where the reduced gradient goes is a value on the way to that, not a result.
  void dropOverwritten(func::ReturnOp exit) {
    llvm::DenseSet<Attribute> overwritten = findOverwritten();
    llvm::BitVector dropped(fused.getNumResults());
    for (unsigned result = 0; result < fused.getNumResults(); ++result)
      if (FlatSymbolRefAttr variable = getResultVariable(fused, result))
        dropped[result] = overwritten.contains(variable);
    exit->eraseOperands(dropped);
    fused.eraseResults(dropped);
  }

  /// Variables that `@reduce` writes, and those in whose memory what it writes lies.
  llvm::DenseSet<Attribute> findOverwritten() {
    llvm::DenseSet<Attribute> overwritten;
    for (unsigned result = 0; result < reduce.getNumResults(); ++result) {
      FlatSymbolRefAttr bound = getResultVariable(reduce, result);
      if (!bound)
        continue;
      overwritten.insert(bound);
      auto gradient = symbols.lookup<VariableOp>(bound.getAttr());
      FlatSymbolRefAttr alias = gradient ? gradient.getAliasAttr() : FlatSymbolRefAttr();
      auto sum = alias ? symbols.lookup<VariableOp>(alias.getAttr()) : VariableOp();
      if (sum && isStoredAlike(gradient, sum))
        overwritten.insert(alias);
    }
    return overwritten;
  }

  void appendReduction(func::ReturnOp exit) {
    builder.setInsertionPoint(exit);
    for (Operation &op : reduce.front().without_terminator())
      builder.clone(op, mapping);
    SmallVector<Value> values;
    SmallVector<Type> types;
    SmallVector<DictionaryAttr> attributes;
    for (OpOperand &returned : reduce.front().getTerminator()->getOpOperands()) {
      values.push_back(mapping.lookupOrDefault(returned.get()));
      types.push_back(values.back().getType());
      attributes.push_back(function_interface_impl::getResultAttrDict(reduce, returned.getOperandNumber()));
    }
    // All at once: each change of a function's type builds it anew.
    unsigned last = fused.getNumResults();
    fused.insertResults(SmallVector<unsigned>(values.size(), last), types, attributes);
    exit->insertOperands(last, values);
  }

  func::FuncOp backward, reduce, fused;
  SymbolTable &symbols;
  OpBuilder builder;
  IRMapping mapping;
};

struct FuseReduction : par::impl::FuseReductionBase<FuseReduction> {
  using FuseReductionBase::FuseReductionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (microBatches < 1) {
      module.emitError("par-fuse-reduction: micro-batches is ")
          << int64_t(microBatches) << ", expected at least 1";
      return signalPassFailure();
    }
    ChunkFunctions functions(module);
    SmallVector<Fusion> fusions;
    for (int64_t chunk : functions.getChunks()) {
      func::FuncOp reduce = functions.find(Phase::Reduce, chunk);
      if (reduce && !isAddedToElsewhere(functions, reduce) && !isWaitedFor(functions, chunk))
        fusions.push_back({reduce, findAdding(functions, chunk)});
    }
    SymbolTable symbols(module);
    for (Fusion &fusion : fusions) {
      for (func::FuncOp backward : fusion.adding) {
        ReductionFusion(backward, fusion.reduce, symbols).run();
        if (microBatches == 1)
          symbols.erase(backward);
      }
      if (!fusion.adding.empty())
        symbols.erase(fusion.reduce);
    }
  }

private:
  struct Fusion {
    func::FuncOp reduce;
    SmallVector<func::FuncOp, 2> adding;
  };

  /// The functions that add a micro-batch's gradients of weights. A schedule may cut the backward pass of
  /// some micro-batches in two: which function is the last one then is up to its list.
  static SmallVector<func::FuncOp, 2> findAdding(const ChunkFunctions &functions, int64_t chunk) {
    SmallVector<func::FuncOp, 2> adding;
    for (Phase phase : {Phase::Backward, Phase::BackwardWeight})
      if (func::FuncOp function = functions.find(phase, chunk))
        adding.push_back(function);
    return adding;
  }

  /// Whether the chunk before waits for a gradient that the function would hand on behind the reduction only:
  /// along a pipeline those would add up. Alone it is made when the gradient is on its way, where the stage
  /// would wait for others anyway.
  static bool isWaitedFor(const ChunkFunctions &functions, int64_t chunk) {
    return chunk != functions.getChunks().front() && functions.find(Phase::Backward, chunk);
  }

  /// Whether backward functions of other chunks add to what is reduced: the last one of this chunk may not be
  /// the last one that does.
  static bool isAddedToElsewhere(const ChunkFunctions &functions, func::FuncOp reduce) {
    llvm::DenseSet<Attribute> reduced;
    for (unsigned argument = 0; argument < reduce.getNumArguments(); ++argument)
      if (FlatSymbolRefAttr variable = getVariable(reduce, argument))
        reduced.insert(variable);
    for (func::FuncOp function : functions.getAll()) {
      if (!isBackward(getPhase(function).getPhase()) || getChunk(function) == getChunk(reduce))
        continue;
      for (unsigned result = 0; result < function.getNumResults(); ++result)
        if (FlatSymbolRefAttr variable = getResultVariable(function, result);
            variable && reduced.contains(variable))
          return true;
    }
    return false;
  }
};
} // namespace
