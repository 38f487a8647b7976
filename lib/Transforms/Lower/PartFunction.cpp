//===- PartFunction.cpp - a function that is called once per part ---------------------------------------===//
#include "FreeOps.h"
#include "Split.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// A result that lacks the rows: a sum over the parts. Where it is only added to something else, the parts
/// are added to that, one by one; to nothing else where a sum begins with zero.
struct Sum {
  Value result;
  arith::AddFOp add;    ///< the addition that the sum stands for; null: it begins with zero
  arith::MulFOp scaled; ///< what it begins with is `begin` times a scalar; null: `begin`
  Value begin, scale;   ///< what the first part finds, and the scalar, which is 1 for all others
};

class PartFunction {
public:
  PartFunction(const Split &split, int64_t parts, SymbolTable &symbols)
      : split(split), parts(parts), symbols(symbols), ops(split.getOps()), builder(ops.back()) {}

  func::FuncOp run() {
    moveDependents();
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (split.isUsedOutside(result))
          split.isCut(result) ? pieces.push_back(result) : sums.push_back(findSum(result));
    collectInputs();
    createFunction();
    fill();
    replace(call());
    return function;
  }

private:
  /// What uses results of the split, but stands before its last op, has to follow it.
  void moveDependents() {
    llvm::DenseSet<Operation *> dependents;
    Operation *place = ops.back();
    for (Operation &op : llvm::make_early_inc_range(split.getBlock())) {
      if (&op == ops.back())
        break;
      bool depends = llvm::any_of(op.getOperands(), [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return producer && (split.contains(producer) || dependents.contains(producer));
      });
      if (split.contains(&op) || !depends)
        continue;
      dependents.insert(&op);
      op.moveAfter(place);
      place = &op;
    }
  }

  //===--------------------------------------------------------------------===//
  // Sums
  //===--------------------------------------------------------------------===//

  Sum findSum(Value result) {
    std::optional<Addition> addition = findAddition(result);
    if (!addition || !hoist(addition->other))
      return {result, {}, {}, {}, {}};
    return {result, addition->add, addition->scaled, addition->begin, addition->scale};
  }

  /// Moves what makes `value` before the split, if it does not depend on it and is no product: those stay
  /// where they are, with all that they need.
  bool hoist(Value value) {
    llvm::SmallSetVector<Operation *, 4> moved;
    SmallVector<Value> work{value};
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (!op || op->isBeforeInBlock(ops.front()) || !moved.insert(op))
        continue;
      if (split.contains(op) || !isa<KernelOpInterface>(op) || isa<EinsumOp>(op))
        return false;
      llvm::append_range(work, op->getOperands());
    }
    SmallVector<Operation *> order = moved.takeVector();
    llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : order)
      op->moveBefore(ops.front());
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Function
  //===--------------------------------------------------------------------===//

  /// What comes from outside: operands of the call, and what the function makes for itself.
  void collectInputs() {
    SmallVector<Operation *> work(ops);
    for (size_t next = 0; next < work.size(); ++next)
      for (Value operand : work[next]->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (split.contains(producer))
          continue;
        if (!split.isMadeInside(operand))
          inputs.insert(operand);
        else if (made.insert(producer))
          work.push_back(producer);
      }
    for (const Sum &sum : sums)
      if (sum.scale)
        scales.insert(sum.scale);
  }

  Type getPartType(Value value) const {
    return split.isCut(value) ? split.getPartType(value, parts) : value.getType();
  }

  void createFunction() {
    SmallVector<Type> arguments, results;
    for (Value input : inputs)
      arguments.push_back(getPartType(input));
    for (Value piece : pieces)
      results.push_back(getPartType(piece));
    for (const Sum &sum : sums) {
      arguments.push_back(sum.result.getType());
      results.push_back(sum.result.getType());
    }
    for (Value scale : scales) {
      arguments.push_back(scale.getType());
      results.push_back(scale.getType());
    }
    auto caller = cast<func::FuncOp>(split.getBlock().getParentOp());
    function = func::FuncOp::create(ops.front()->getLoc(), (caller.getSymName() + ".part").str(),
                                    builder.getFunctionType(arguments, results));
    function.setPrivate();
    if (Attribute local = caller->getAttr(ParDialect::kLocalAttr))
      function->setAttr(ParDialect::kLocalAttr, local);
    for (size_t number = 0; number < sums.size() + scales.size(); ++number)
      setResultPlace(function, pieces.size() + number,
                     PlaceAttr::ofAlias(builder.getContext(), static_cast<int64_t>(inputs.size() + number)));
    symbols.insert(function, std::next(caller->getIterator()));
  }

  void fill() {
    OpBuilder inside = OpBuilder::atBlockBegin(function.addEntryBlock());
    IRMapping mapping;
    for (auto [input, argument] : llvm::zip(inputs, function.getArguments()))
      mapping.map(input, argument);
    SmallVector<Operation *> order(made.begin(), made.end());
    llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    order.append(ops);
    llvm::DenseMap<Value, Value> totals;
    for (Operation *op : order) {
      Operation *clone = inside.clone(*op, mapping);
      for (auto [result, copy] : llvm::zip(op->getResults(), clone->getResults())) {
        copy.setType(getPartType(result));
        if (auto constant = dyn_cast<arith::ConstantOp>(clone))
          constant.setValueAttr(resize(constant));
        // At once, so that the part accumulates where the sum is.
        for (auto [number, sum] : llvm::enumerate(sums))
          if (sum.result == result)
            totals[result] = addTo(inside, sum, function.getArgument(inputs.size() + number), copy);
      }
    }
    SmallVector<Value> results;
    for (Value piece : pieces)
      results.push_back(mapping.lookup(piece));
    for (const Sum &sum : sums)
      results.push_back(totals.lookup(sum.result));
    for (Value scale : scales)
      results.push_back(inside.create<arith::ConstantOp>(scale.getLoc(), getOne(scale)));
    inside.create<func::ReturnOp>(function.getLoc(), results);
  }

  /// A splat constant has its type twice.
  static TypedAttr resize(arith::ConstantOp constant) {
    return cast<DenseElementsAttr>(constant.getValue())
        .resizeSplat(cast<RankedTensorType>(constant->getResult(0).getType()));
  }

  TypedAttr getOne(Value scale) {
    auto type = cast<RankedTensorType>(scale.getType());
    return DenseElementsAttr::get(type, cast<Attribute>(builder.getFloatAttr(type.getElementType(), 1.0)));
  }

  Value addTo(OpBuilder &inside, const Sum &sum, Value total, Value term) {
    arith::AddFOp add = sum.add;
    if (!add)
      return inside.create<arith::AddFOp>(term.getLoc(), total, term);
    IRMapping mapping;
    if (arith::MulFOp scaled = sum.scaled) {
      size_t number = llvm::find(scales, sum.scale) - scales.begin();
      mapping.map(sum.scale, function.getArgument(inputs.size() + sums.size() + number));
      mapping.map(sum.begin, total);
      for (Value factor : scaled->getOperands())
        if (factor != sum.begin)
          inside.clone(*factor.getDefiningOp(), mapping);
      total = inside.clone(*scaled, mapping)->getResult(0);
    }
    mapping.map(sum.result, term);
    mapping.map(add.getLhs() == sum.result ? add.getRhs() : add.getLhs(), total);
    return inside.clone(*add, mapping)->getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // Call
  //===--------------------------------------------------------------------===//

  par::CallOp call() {
    builder.setInsertionPointAfter(ops.back());
    Location loc = function.getLoc();
    SmallVector<Value> operands(inputs.begin(), inputs.end());
    SmallVector<Type> results;
    for (Value piece : pieces)
      results.push_back(piece.getType());
    for (const Sum &sum : sums) {
      Type type = sum.result.getType();
      operands.push_back(sum.begin ? sum.begin
                                   : builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type)));
      results.push_back(type);
    }
    for (Value scale : scales) {
      operands.push_back(scale);
      results.push_back(scale.getType());
    }
    return builder.create<par::CallOp>(loc, results, function.getSymName(), operands, parts);
  }

  void replace(par::CallOp made) {
    auto outside = [&](OpOperand &use) { return !split.contains(use.getOwner()); };
    for (auto [piece, result] : llvm::zip(pieces, made.getOutputs()))
      piece.replaceUsesWithIf(result, outside);
    for (auto [sum, result] : llvm::zip(sums, made.getOutputs().drop_front(pieces.size()))) {
      if (arith::AddFOp add = sum.add) {
        add->replaceAllUsesWith(ValueRange{result});
        add->erase();
      } else {
        Value replaced = sum.result;
        replaced.replaceUsesWithIf(result, outside);
      }
    }
    for (Operation *op : llvm::reverse(ops))
      op->erase();
    // What the function makes for itself now, and what sums begin with.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(split.getBlock())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  const Split &split;
  int64_t parts;
  SymbolTable &symbols;
  SmallVector<Operation *> ops;
  OpBuilder builder;
  func::FuncOp function;
  // Arguments: inputs, what sums begin with, scales. Results: pieces, sums, scales.
  llvm::SetVector<Value> inputs, scales;
  llvm::SetVector<Operation *> made; ///< what the function makes for itself
  SmallVector<Value> pieces;
  SmallVector<Sum> sums;
};
} // namespace

func::FuncOp par::callInParts(const Split &split, int64_t parts, SymbolTable &symbols) {
  return PartFunction(split, parts, symbols).run();
}
