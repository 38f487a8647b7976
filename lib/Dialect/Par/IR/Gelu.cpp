//===- Gelu.cpp - GELU and its derivative, found among elementwise ops ----------------------------------===//
#include "par/Dialect/Par/IR/Gelu.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

namespace {
/// Smooth functions of two variables that agree at many points are one: no op here has a branch.
bool isArithmetic(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::TanhOp>(op);
}

bool isSplat(Operation *op) {
  auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
  auto value = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
  return value && value.isSplat();
}

/// A product and its bias, say: what GELU is of, and no part of it.
bool isSumOfTensors(Operation *op) {
  return isa<arith::AddFOp>(op) && llvm::all_of(op->getOperands(), [](Value operand) {
           Operation *producer = operand.getDefiningOp();
           return producer && !isArithmetic(producer) && !isSplat(producer);
         });
}

/// How `result` is computed of `variable` and of at most one other tensor.
class Expression {
public:
  /// None if there is anything else in it.
  static std::optional<Expression> read(Value result, Value variable) {
    Expression expression(result, variable);
    if (!expression.add(result))
      return std::nullopt;
    llvm::sort(expression.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return expression;
  }

  double evaluate(double x, double y) const {
    llvm::DenseMap<Value, double> values{{variable, x}};
    if (other)
      values[other] = y;
    for (Operation *op : ops) {
      auto operand = [&](unsigned number) { return values.lookup(op->getOperand(number)); };
      values[op->getResult(0)] = isa<arith::AddFOp>(op)   ? operand(0) + operand(1)
                                 : isa<arith::SubFOp>(op) ? operand(0) - operand(1)
                                 : isa<arith::MulFOp>(op) ? operand(0) * operand(1)
                                 : isa<math::TanhOp>(op)  ? std::tanh(operand(0))
                                 : isa<arith::ExtFOp>(op) ? operand(0)
                                                          : getConstant(op);
    }
    return values.lookup(result);
  }

  /// All that depends on the variable, but the result, is used in here alone.
  bool keepsToItself() const {
    llvm::SmallPtrSet<Operation *, 32> inside(ops.begin(), ops.end());
    llvm::DenseSet<Value> dependent{variable};
    for (Operation *op : ops)
      if (llvm::any_of(op->getOperands(), [&](Value operand) { return dependent.contains(operand); }))
        dependent.insert(op->getResult(0));
    dependent.erase(result);
    return llvm::all_of(dependent, [&](Value value) {
      return llvm::all_of(value.getUsers(), [&](Operation *user) { return inside.contains(user); });
    });
  }

  Value result, variable, other;
  SmallVector<Operation *> ops;

private:
  Expression(Value result, Value variable) : result(result), variable(variable) {}

  static double getConstant(Operation *op) {
    return cast<DenseFPElementsAttr>(cast<arith::ConstantOp>(op).getValue())
        .getSplatValue<APFloat>()
        .convertToDouble();
  }

  bool add(Value value) {
    if (value == variable || value == other)
      return true;
    Operation *op = value.getDefiningOp();
    if (op && visited.contains(op))
      return true;
    if (isSplat(op) || (op && isArithmetic(op) && !isSumOfTensors(op))) {
      visited.insert(op);
      ops.push_back(op);
      return ops.size() <= most &&
             llvm::all_of(op->getOperands(), [&](Value operand) { return add(operand); });
    }
    if (other || !isa<FloatType>(getElementTypeOrSelf(value.getType())))
      return false;
    // A narrower tensor is read as it lies in memory.
    if (auto wide = dyn_cast_or_null<arith::ExtFOp>(op); wide && wide.getIn() != variable) {
      visited.insert(op);
      ops.push_back(op);
      value = wide.getIn();
    }
    other = value;
    return true;
  }

  static constexpr size_t most = 64;
  llvm::SmallPtrSet<Operation *, 32> visited;
};
} // namespace

static constexpr double kScale = 0.79788456080286536, kCube = 0.044715; // √(2/π)

static double gelu(double x) { return 0.5 * x * (1 + std::tanh(kScale * (x + kCube * x * x * x))); }

static double geluGradient(double x) {
  double t = std::tanh(kScale * (x + kCube * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kScale * (1 + 3 * kCube * x * x);
}

/// Constants are of f32, whose digits are 6e-8 apart.
static bool isNear(double value, double expected) {
  return std::abs(value - expected) <= 1e-6 * (1 + std::abs(expected));
}

static bool isGelu(const Expression &expression) {
  if (expression.other)
    return false;
  for (double x = -6; x <= 6; x += 0.37)
    if (!isNear(expression.evaluate(x, 0), gelu(x)))
      return false;
  return true;
}

static bool isGeluGradient(const Expression &expression) {
  if (!expression.other)
    return false;
  for (double factor : {1.0, -0.625, 3.0})
    for (double x = -6; x <= 6; x += 0.37)
      if (!isNear(expression.evaluate(factor, x), factor * geluGradient(x)))
        return false;
  return true;
}

/// Without it nothing is GELU: most models have none, whose blocks are then not searched.
static bool hasTangent(Block *block) {
  return llvm::any_of(*block, [](Operation &op) { return isa<math::TanhOp>(op); });
}

/// The first value made of `begin` that is what is looked for.
static std::optional<GeluMatch> find(Value begin, function_ref<bool(const Expression &)> isFound) {
  auto type = dyn_cast<RankedTensorType>(begin.getType());
  if (!type || !type.getElementType().isF32() || !hasTangent(begin.getParentBlock()))
    return std::nullopt;
  constexpr size_t most = 64;
  llvm::SmallSetVector<Operation *, 32> made;
  auto follow = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (isArithmetic(user) && user->getBlock() == begin.getParentBlock())
        made.insert(user);
  };
  follow(begin);
  for (size_t next = 0; next < made.size() && made.size() <= most; ++next)
    follow(made[next]->getResult(0));
  SmallVector<Operation *> ordered(made.begin(), made.end());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ordered) {
    std::optional<Expression> expression = Expression::read(op->getResult(0), begin);
    if (expression && isFound(*expression))
      return GeluMatch{op->getResult(0), expression->other ? expression->other : begin, expression->ops};
  }
  return std::nullopt;
}

std::optional<GeluMatch> par::findGelu(Value x) { return find(x, isGelu); }

std::optional<GeluMatch> par::findGeluGradient(Value factor) {
  return find(factor, [](const Expression &expression) {
    return expression.keepsToItself() && isGeluGradient(expression);
  });
}
