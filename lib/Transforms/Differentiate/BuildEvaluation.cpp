//===- BuildEvaluation.cpp - the forward functions again, without dropout -------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "par/Dialect/Par/IR/CallGraph.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Transforms/Differentiate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_BUILDEVALUATION
#include "par/Transforms/Differentiate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// A function without dropout and what it still takes.
struct Evaluated {
  func::FuncOp function;
  llvm::BitVector dropped; ///< arguments of the original that are gone
};

class EvaluationBuilder {
public:
  explicit EvaluationBuilder(ModuleOp module) : symbols(module) {}

  void buildChunk(func::FuncOp forward) {
    func::FuncOp eval = clone(forward, nameFor(forward, Phase::Eval));
    setPhase(eval, Phase::Eval, forward);
    keepMainLoss(eval);
    removeDropout(eval);
  }

private:
  /// Further losses steer a training; what is evaluated is the main one.
  static void keepMainLoss(func::FuncOp eval) {
    llvm::BitVector dropped(eval.getNumResults());
    for (unsigned result = 0; result < eval.getNumResults(); ++result) {
      if (!isLoss(eval, result))
        continue;
      dropped[result] = static_cast<bool>(getResultPlace(eval, result).getLoss());
      setResultPlace(eval, result, PlaceAttr::ofOutput(eval.getContext(), OutputKind::EvalLoss));
    }
    eval.front().getTerminator()->eraseOperands(dropped);
    eval.eraseResults(dropped);
  }

  func::FuncOp clone(func::FuncOp function, StringRef name) {
    func::FuncOp copy = function.clone();
    copy.setSymName(name);
    symbols.insert(copy, std::next(Block::iterator(function)));
    return copy;
  }

  /// The function itself where neither it nor what it calls drops anything.
  const Evaluated &getEvaluated(func::FuncOp function) {
    auto found = known.find(function);
    if (found != known.end())
      return found->second;
    Evaluated evaluated{function, llvm::BitVector(function.getNumArguments())};
    if (drops(function)) {
      evaluated.function = clone(function, (function.getSymName() + ".eval").str());
      evaluated.dropped = removeDropout(evaluated.function);
    }
    return known.emplace(function, evaluated).first->second;
  }

  bool drops(func::FuncOp function) const {
    return llvm::any_of(getCalleesFirst<par::CallOp, func::FuncOp>(symbols, function), [](func::FuncOp each) {
      return llvm::any_of(each.getOps(), [](Operation &op) {
        auto dropout = dyn_cast<DropoutOpInterface>(op);
        return dropout && dropout.drops();
      });
    });
  }

  func::FuncOp getCallee(par::CallOp call) {
    return symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  }

  /// Returns the arguments that only dropout used; they are gone.
  llvm::BitVector removeDropout(func::FuncOp function) {
    llvm::BitVector dropped(function.getNumArguments());
    // The chunk before hands over what it did.
    for (BlockArgument argument : function.getArguments())
      dropped[argument.getArgNumber()] =
          !argument.use_empty() && !getBoundary(function, argument.getArgNumber());
    for (Operation &op : llvm::make_early_inc_range(function.front())) {
      if (auto dropout = dyn_cast<DropoutOpInterface>(op))
        dropout.stopDropping();
      else if (auto call = dyn_cast<par::CallOp>(op))
        redirect(call);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    for (BlockArgument argument : function.getArguments())
      dropped[argument.getArgNumber()] = dropped[argument.getArgNumber()] && argument.use_empty();
    function.eraseArguments(dropped);
    return dropped;
  }

  void redirect(par::CallOp call) {
    const Evaluated &callee = getEvaluated(getCallee(call));
    call.setCalleeAttr(FlatSymbolRefAttr::get(callee.function));
    call->eraseOperands(callee.dropped);
  }

  SymbolTable symbols;
  std::map<Operation *, Evaluated> known;
};

struct BuildEvaluation : par::impl::BuildEvaluationBase<BuildEvaluation> {
  void runOnOperation() override {
    ChunkFunctions functions(getOperation());
    if (functions.has(Phase::Eval))
      return; // a graph may bring its own
    EvaluationBuilder builder(getOperation());
    for (func::FuncOp forward : functions.getAll(Phase::Forward))
      builder.buildChunk(forward);
  }
};
} // namespace
