//===- OpNumbers.h - numbers of an op's results, from those of its operands -----------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_OPNUMBERS_H
#define PAR_LIB_JUDGE_OPNUMBERS_H

#include "Number.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "par/Dialect/Par/IR/Par.h"
#include <map>
#include <set>

namespace mlir::par {

/// Functions of numbers, alike for ops of the reference and of a rank, whose factors have the sizes of the
/// one-device value.
class OpNumbers {
public:
  /// An op's sharding rule, made once; null: it has none.
  RuleAttr getRule(Operation *op);

  /// The number that is named by a place, in whatever module it is.
  const Number &getPlace(PlaceAttr place);

  /// `sizes`: of the factors of `rule`. A null rule: the op has none, or needs none.
  SmallVector<Number> get(Operation *op, ArrayRef<Number> operands, RuleAttr rule, ArrayRef<int64_t> sizes);
  /// The same of an op of one device, which has the sizes of its rule.
  SmallVector<Number> get(Operation *op, ArrayRef<Number> operands) {
    RuleAttr rule = getRule(op);
    return get(op, operands, rule, rule ? rule.getSizes() : ArrayRef<int64_t>());
  }

  /// exp and log undo each other.
  Number exp(const Number &number);
  Number log(const Number &number);

  /// Dimension i of the result is dimension `permutation[i]` of a tensor of that shape. Permutations compose,
  /// and undo each other; dimensions of one element move by reshapes.
  Number transpose(const Number &number, ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation);

  /// The tensor gets another shape; shapes undo each other.
  Number reshape(const Number &number, ArrayRef<int64_t> from, ArrayRef<int64_t> to);

  /// The logarithm of the sum of exponentials of a row of `logits`, and the target's logit.
  static Number getLse(const Number &logits, uint64_t classes) {
    return RandomFunction("lse").add(logits).add(classes).get();
  }
  static Number getPicked(const Number &logits, const Number &targets, uint64_t classes) {
    return RandomFunction("picked").add(logits).add(targets).add(classes).get();
  }

private:
  SmallVector<Number> getByParts(Operation *op, ArrayRef<Number> operands, RuleAttr rule,
                                 ArrayRef<int64_t> sizes);
  std::optional<Number> getKnown(Operation *op, ArrayRef<Number> operands);
  bool isUniform(const Number &number) const { return number == Number() || uniform.count(number); }
  Number permute(const Number &number, ArrayRef<int64_t> permutation);
  Number getConstant(ElementsAttr value);
  static Number compare(arith::CmpIPredicate predicate, const Number &left, const Number &right);
  uint64_t getText(Attribute attribute);
  void addAttributes(RandomFunction &function, Operation *op);

  struct Permuted {
    Number of;
    SmallVector<int64_t> permutation;
  };
  struct Reshaped {
    Number of;
    SmallVector<int64_t> shape; ///< of that
  };
  std::map<Number, Number> logarithms;
  std::map<Number, Reshaped> reshaped;
  std::map<Number, Permuted> permuted;
  llvm::DenseMap<Attribute, uint64_t> texts;
  std::set<Number> uniform; ///< all elements of such a tensor are the same
  llvm::DenseMap<Operation *, RuleAttr> rules;
  llvm::DenseMap<PlaceAttr, Number> places;
};

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_OPNUMBERS_H
