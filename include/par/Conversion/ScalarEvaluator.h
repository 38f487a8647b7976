//===- ScalarEvaluator.h - one element of a value of a kernel -------------------------------*- C++ -*-===//
//
// What a kernel means, element by element, is one part; how a target walks the elements is another, which
// writes the loops and asks for elements inside them (lib/Target).
//
//===----------------------------------------------------------------------------------------------------===//

#ifndef PAR_CONVERSION_SCALAREVALUATOR_H
#define PAR_CONVERSION_SCALAREVALUATOR_H

#include "par/Conversion/Scalars.h"

namespace mlir::par {

/// How a target walks the terms of a sum, or of a maximum, that one element is made of.
class TermWalk {
public:
  virtual ~TermWalk() = default;
  /// Folds `term(index)` over a box; `index` has the reduced dimensions only.
  virtual FailureOr<Value> reduce(ArrayRef<int64_t> sizes, Type type, ReduceKind kind,
                                  function_ref<FailureOr<Value>(ArrayRef<Value>)> term) = 0;
};

/// Emits the scalar code for elements of a kernel's values at the builder's place.
///
/// Elements computed once are remembered per (value, index) as long as their code dominates: `push` and `pop`
/// bracket the body of a loop.
class ScalarEvaluator : public Scalars {
public:
  ScalarEvaluator(OpBuilder &builder, Location loc, Value context, ArrayRef<StringAttr> axes, TermWalk &terms)
      : Scalars(builder, loc), context(context), axes(axes), terms(terms), elements(*this) {
    scopes.emplace_back();
  }
  ScalarEvaluator(const ScalarEvaluator &) = delete;

  /// Elements of `tensor` are loaded from `memory`.
  void bind(Value tensor, Value memory) { memories[tensor] = memory; }
  /// Elements of `tensor` are computed again.
  void unbind(Value tensor) { memories.erase(tensor); }
  /// Where a bound tensor lies.
  Value getMemory(Value tensor) const { return memories.lookup(tensor); }
  FailureOr<Value> evaluate(Value value, ArrayRef<Value> index);
  /// True for a sum of which at most one term counts, as a loss picks the logit of its target: evaluating it
  /// reads that term alone.
  static bool isPicked(ReduceOp op);
  /// The element of `value` is `element`, as far as the code that comes now goes.
  void remember(Value value, ArrayRef<Value> index, Value element) {
    scopes.back()[makeKey(value, index)] = element;
  }

  /// The row that an id means: id − offset (null: 0) of `rows` rows.
  FailureOr<TableRow> findRow(Value ids, Value offset, ArrayRef<Value> index, int64_t rows) {
    return elements.findRow(ids, offset, index, rows);
  }

  /// Elements of such values are computed again where they are needed next.
  void forget(function_ref<bool(Value)> isForgotten);

  void push() { scopes.emplace_back(); }
  void pop() { scopes.pop_back(); }

private:
  using Key = std::pair<void *, SmallVector<void *>>;

  /// Values and helpers with which ops write the code for their elements.
  class Elements final : public ElementBuilder {
  public:
    explicit Elements(ScalarEvaluator &evaluator)
        : ElementBuilder(evaluator.builder, evaluator.loc), evaluator(evaluator) {}
    FailureOr<Value> evaluate(Value value, ArrayRef<Value> index) override {
      return evaluator.evaluate(value, index);
    }
    FailureOr<Value> reduce(ArrayRef<int64_t> sizes, Type type, ReduceKind kind,
                            function_ref<FailureOr<Value>(ArrayRef<Value>)> term) override {
      return evaluator.terms.reduce(sizes, type, kind, term);
    }
    FailureOr<Value> readData(Value constant, DenseElementsAttr data, ArrayRef<Value> index) override;
    Value getCoordinate(StringRef axis) override;

  private:
    ScalarEvaluator &evaluator;
  };

  static Key makeKey(Value value, ArrayRef<Value> index);
  FailureOr<Value> compute(Value value, ArrayRef<Value> index);
  Value buildTable(DenseElementsAttr value);

  Value context;
  ArrayRef<StringAttr> axes;
  TermWalk &terms;
  Elements elements;
  llvm::DenseMap<Value, Value> memories;
  std::vector<std::map<Key, Value>> scopes;
};

/// Rewrites composite ops into elementwise ones and reductions, and elementwise ones that only par has; what
/// no result is made of goes. Error at an op that cannot be generated.
LogicalResult decomposeKernel(Block &block);

} // namespace mlir::par

#endif // PAR_CONVERSION_SCALAREVALUATOR_H
