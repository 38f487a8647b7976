//===- RuleLemma.cpp - where results are by an op's rule ------------------------------------------------===//
#include "Lemma.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// One op whose factors are cut as its operands are.
class RuleLemma {
public:
  RuleLemma(LemmaContext &context, RuleAttr rule)
      : context(context), rule(rule), factors(rule.getNumFactors()) {}

  FailureOr<SmallVector<Held, 0>> run() {
    for (unsigned operand = 0; operand < context.operands.size(); ++operand)
      if (failed(readOperand(operand)))
        return failure();
    if (failed(checkFactors()) || failed(readPending()))
      return failure();
    SmallVector<int64_t> sizes;
    for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor) {
      bool isKnown = factors[factor] && factors[factor]->size != HeldDim::kUnbounded;
      // A dimension along which all is the same may have more elements on one device, even if ranks have one.
      bool isOpen = isa<TransposeOp>(context.op) && factors[factor] && factors[factor]->isConstant;
      sizes.push_back(isKnown || isOpen ? factors[factor]->size : rule.getSizes()[factor]);
    }
    SmallVector<Number> what;
    for (const Held &operand : context.operands.drop_back(context.hasOffset))
      what.push_back(operand.what);
    what = context.numbers.get(context.op, what, rule, sizes);
    SmallVector<Held, 0> results;
    for (unsigned result = 0; result < context.op->getNumResults(); ++result)
      results.push_back(makeResult(result, what[result]));
    return results;
  }

private:
  using Padding = HeldDim::Padding;

  LogicalResult readOperand(unsigned operand) {
    const Held &held = context.operands[operand];
    if (!held.hasDims)
      return context.refuse("reads operand " + Twine(operand) + ", of which a rank holds several blocks");
    for (int64_t dim = 0, rank = held.dims.size(); dim < rank; ++dim) {
      ArrayRef<int64_t> of = rule.getOperands()[operand].getDims()[dim];
      int64_t minor = 1;
      for (int64_t factor : of.drop_front(of.empty() ? 0 : 1)) {
        minor *= rule.getSizes()[factor];
        HeldDim whole;
        whole.size = rule.getSizes()[factor];
        if (failed(unify(factor, whole, operand)))
          return failure();
      }
      if (of.empty())
        continue;
      HeldDim major = held.dims[dim];
      if (!major.isConstant && major.size != HeldDim::kUnbounded) {
        if (major.size % minor)
          return context.refuse("reads a dimension of operand " + Twine(operand) + " whose " +
                                Twine(major.size) + " elements are no whole groups of " + Twine(minor));
        major.size /= minor;
      }
      if (failed(unify(of.front(), major, operand)))
        return failure();
    }
    return success();
  }

  /// Two dimensions of one factor must agree; a constant agrees with everything.
  LogicalResult unify(int64_t factor, const HeldDim &dim, unsigned operand) {
    std::optional<HeldDim> &known = factors[factor];
    if (!known || known->isConstant) {
      known = dim;
      return success();
    }
    if (dim.isConstant)
      return success();
    if (known->axes != dim.axes)
      return context.refuse("reads operand " + Twine(operand) + " cut over " + quote(dim.axes) +
                            " along factor " + RuleAttr::getFactorName(factor) + ", which is cut over " +
                            quote(known->axes));
    if (known->size == HeldDim::kUnbounded)
      known->size = dim.size;
    if (dim.size != HeldDim::kUnbounded && dim.size != known->size)
      return context.refuse("reads " + Twine(dim.size) + " elements of operand " + Twine(operand) +
                            " along factor " + RuleAttr::getFactorName(factor) + ", which has " +
                            Twine(known->size));
    return success();
  }

  bool isCut(int64_t factor) const { return factors[factor] && !factors[factor]->axes.empty(); }

  bool isPadded(int64_t factor) const {
    return factors[factor] && par::isPadded(*factors[factor], rule.getSizes()[factor], context.mesh);
  }

  /// Whether all shards together are less than the value: a value of every index was taken for another one.
  bool hasTooFew(int64_t factor) const {
    return factors[factor] && !factors[factor]->isConstant && factors[factor]->size != HeldDim::kUnbounded &&
           rule.getSizes()[factor] * countShards(*factors[factor], context.mesh) < factors[factor]->size;
  }

  /// The padding of an operand along a factor that it has, and that has padding.
  Padding getPadding(unsigned operand, int64_t factor) const {
    const Held &held = context.operands[operand];
    if (held.isZero())
      return Padding::Zero;
    Padding padding = Padding::Any;
    for (int64_t dim = 0, rank = held.dims.size(); dim < rank; ++dim)
      if (rule.getOperandFactor(operand, dim) == factor && !held.dims[dim].isConstant)
        padding = held.dims[dim].padding;
    return padding;
  }

  LogicalResult checkFactors() {
    auto op = cast<ShardingRuleOpInterface>(context.op);
    for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor) {
      FactorKind kind = rule.getKinds()[factor];
      if (hasTooFew(factor))
        return context.refuse("reads " + Twine(rule.getSizes()[factor]) + " elements per rank along factor " +
                              RuleAttr::getFactorName(factor) + ", of which one device has " +
                              Twine(factors[factor]->size));
      if (kind == FactorKind::PassThrough)
        continue;
      // An extremum of shards is one of the ranks' extrema.
      if (kind != FactorKind::Reduction && isCut(factor) && !isa<ReduceOp>(context.op))
        return context.refuse("is cut over " + quote(factors[factor]->axes) + " along factor " +
                              RuleAttr::getFactorName(factor) + ", and no lemma says what that gives");
      if (factors[factor] && factors[factor]->isConstant) { // of as many elements as ranks have
        factors[factor]->isConstant = false;
        factors[factor]->size = rule.getSizes()[factor] * countShards(*factors[factor], context.mesh);
      }
      if (!isPadded(factor))
        continue;
      for (unsigned operand = 0; operand < context.operands.size(); ++operand) {
        std::optional<double> neutral = op.getPaddingNeutral(operand);
        if (!neutral || !rule.operandHas(operand, factor))
          continue;
        if (getPadding(operand, factor) != (*neutral == 0.0 ? Padding::Zero : Padding::NegativeInfinity))
          return context.refuse("adds up padding of operand " + Twine(operand) + " along factor " +
                                RuleAttr::getFactorName(factor) + ", which may hold anything");
      }
    }
    return success();
  }

  /// Pending sums pass through operands in which the op is linear, and where nothing else is cut over the
  /// axis.
  LogicalResult readPending() {
    for (unsigned operand = 0; operand < context.operands.size(); ++operand) {
      if (!context.operands[operand].extreme.empty())
        return context.refuse("reads operand " + Twine(operand) + ", a shard's extremum over " +
                              quote(context.operands[operand].extreme));
      if (!context.operands[operand].logPending.empty())
        return context.refuse("reads operand " + Twine(operand) +
                              " as a logarithm of a sum that is pending over " +
                              quote(context.operands[operand].logPending));
      for (StringAttr axis : context.operands[operand].pending)
        if (!llvm::is_contained(pending, axis))
          pending.push_back(axis);
    }
    for (const Held &operand : context.operands.drop_back(context.hasOffset))
      for (StringAttr axis : operand.coordinates)
        if (!llvm::is_contained(coordinates, axis))
          coordinates.push_back(axis);
    if (failed(checkCoordinates()))
      return failure();
    for (StringAttr axis : pending) {
      SmallVector<int64_t> operands;
      for (unsigned operand = 0; operand < context.operands.size(); ++operand)
        if (llvm::is_contained(context.operands[operand].pending, axis))
          operands.push_back(operand);
      bool isLinear = llvm::any_of(rule.getLinear(), [&](DenseI64ArrayAttr set) {
        return llvm::all_of(set.asArrayRef(),
                            [&](int64_t operand) {
                              return llvm::is_contained(operands, operand) ||
                                     context.operands[operand].isZero();
                            }) &&
               llvm::all_of(operands,
                            [&](int64_t operand) { return llvm::is_contained(set.asArrayRef(), operand); });
      });
      if (!isLinear)
        return context.refuse("reads operand " + Twine(operands.front()) + " as a sum that is pending over " +
                              quote(axis));
      for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
        if (isCut(factor) && llvm::is_contained(factors[factor]->axes, axis))
          return context.refuse("is cut over " + quote(axis) + " along factor " +
                                RuleAttr::getFactorName(factor) + " while operand " +
                                Twine(operands.front()) + " is a sum pending over it");
    }
    return success();
  }

  /// A number of the rank may not meet shards or terms of other ranks: their sum would be of different
  /// functions.
  LogicalResult checkCoordinates() {
    for (StringAttr axis : coordinates) {
      auto isCutOver = [&](int64_t factor) {
        return isCut(factor) && llvm::is_contained(factors[factor]->axes, axis);
      };
      if (llvm::is_contained(pending, axis) || llvm::any_of(llvm::seq<int64_t>(0, factors.size()), isCutOver))
        return context.refuse("reads coordinates over " + quote(axis) +
                              " beside shards or terms of its ranks");
    }
    return success();
  }

  /// Whether results hold zeros along a factor beyond its size.
  bool clears(int64_t factor) const {
    auto op = cast<ShardingRuleOpInterface>(context.op);
    auto isZero = [&](int64_t operand) {
      return context.operands[operand].isZero() ||
             (rule.operandHas(operand, factor) && getPadding(operand, factor) == Padding::Zero);
    };
    auto isZeroIfThere = [&](int64_t operand) {
      return !rule.operandHas(operand, factor) || isZero(operand);
    };
    auto all = llvm::seq<int64_t>(0, context.operands.size());
    return op.clearsPadding(factor) ||
           llvm::any_of(rule.getLinear(),
                        [&](DenseI64ArrayAttr set) { return llvm::all_of(set.asArrayRef(), isZero); }) ||
           (op.mapsZeroToZero() && llvm::all_of(all, isZeroIfThere));
  }

  Held makeResult(unsigned result, const Number &what) const {
    Held held;
    held.what = what;
    held.pending = pending;
    held.coordinates = coordinates;
    for (DenseI64ArrayAttr of : rule.getResults()[result].getDims()) {
      HeldDim dim;
      int64_t size = 1;
      for (int64_t factor : of.asArrayRef().drop_front(of.empty() ? 0 : 1))
        size *= rule.getSizes()[factor];
      if (of.empty()) {
        dim.size = 1;
      } else if (!factors[of[0]]) {
        DenseElementsAttr elements;
        bool isOneElement = matchPattern(context.op, m_Constant(&elements)) && elements.isSplat();
        dim.isConstant = getOpClass(context.op) == OpClass::Repeats || isOneElement;
        dim.size = dim.isConstant ? HeldDim::kUnbounded : rule.getSizes()[of[0]] * size;
        dim.padding = Padding::Zero;
      } else {
        dim = *factors[of[0]];
        dim.size = dim.size == HeldDim::kUnbounded ? dim.size : dim.size * size;
        dim.isConstant &= of.size() == 1;
        dim.padding = !isPadded(of[0]) || clears(of[0]) ? Padding::Zero : Padding::Any;
      }
      held.dims.push_back(dim);
    }
    for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
      if (isCut(factor) && rule.isPending(result, factor))
        held.pending.append(factors[factor]->axes.begin(), factors[factor]->axes.end());
    if (auto reduce = dyn_cast<ReduceOp>(context.op)) {
      held.extremeKind = reduce.getKind();
      for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
        if (isCut(factor) && !rule.resultHas(result, factor) && !rule.isPending(result, factor))
          held.extreme.append(factors[factor]->axes.begin(), factors[factor]->axes.end());
    }
    llvm::sort(held.pending, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
    return held;
  }

  LemmaContext &context;
  RuleAttr rule;
  SmallVector<std::optional<HeldDim>> factors; ///< none: no operand has it
  Axes pending, coordinates;
};
} // namespace

LemmaResult par::applyRule(LemmaContext &context) {
  RuleAttr rule = context.numbers.getRule(context.op);
  if (!rule)
    return context.refuse("is an op of which no lemma is known");
  return RuleLemma(context, rule).run();
}
