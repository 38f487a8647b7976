//===- OpNumbers.cpp - numbers of an op's results, from those of its operands ---------------------------===//
#include "OpNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "par/Dialect/Par/IR/Targets.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::par;

uint64_t OpNumbers::getText(Attribute attribute) {
  auto [at, isNew] = texts.try_emplace(attribute, 0);
  if (isNew) {
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    at->second = llvm::xxh3_64bits(text);
  }
  return at->second;
}

RuleAttr OpNumbers::getRule(Operation *op) {
  auto [at, isNew] = rules.try_emplace(op);
  if (auto interface = isNew ? dyn_cast<ShardingRuleOpInterface>(op) : ShardingRuleOpInterface())
    at->second = interface.getShardingRule();
  return at->second;
}

const Number &OpNumbers::getPlace(PlaceAttr place) {
  auto [at, isNew] = places.try_emplace(place);
  if (isNew)
    at->second = RandomFunction("argument").add(getText(place)).get();
  return at->second;
}

/// An op's own attributes: what passes attach says nothing about its meaning.
void OpNumbers::addAttributes(RandomFunction &function, Operation *op) {
  for (StringAttr name : op->getName().getAttributeNames())
    if (Attribute value = op->getInherentAttr(name).value_or(op->getAttr(name)))
      if (!isa<arith::FastMathFlagsAttr, arith::IntegerOverflowFlagsAttr>(value))
        function.add(name.getValue()).add(getText(value));
}

Number OpNumbers::getConstant(ElementsAttr value) {
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements || !elements.isSplat())
    return RandomFunction("constant").add(getText(value)).get();
  auto ofInteger = [](const APInt &integer) {
    return Number::ofInteger(integer.getBitWidth() == 1 ? integer.getZExtValue() : integer.getSExtValue());
  };
  Number number = isa<FloatType>(elements.getElementType())
                      ? Number::ofFloat(elements.getSplatValue<APFloat>().convertToDouble())
                      : ofInteger(elements.getSplatValue<APInt>());
  uniform.insert(number);
  return number;
}

Number OpNumbers::compare(arith::CmpIPredicate predicate, const Number &left, const Number &right) {
  return RandomFunction("arith.cmpi").add(static_cast<uint64_t>(predicate)).add(left).add(right).get();
}

Number OpNumbers::exp(const Number &number) {
  Number result = RandomFunction("math.exp").add(number).get();
  logarithms.emplace(result, number);
  return result;
}

Number OpNumbers::log(const Number &number) {
  auto at = logarithms.find(number);
  return at != logarithms.end() ? at->second : RandomFunction("math.log").add(number).get();
}

Number OpNumbers::transpose(const Number &number, ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> from, to, whole, order, numbers(shape.size());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    numbers[dim] = from.size();
    if (size != 1)
      from.push_back(size);
  }
  for (int64_t dim : permutation) {
    whole.push_back(shape[dim]);
    if (shape[dim] != 1)
      to.push_back(shape[dim]), order.push_back(numbers[dim]);
  }
  return reshape(permute(reshape(number, shape, from), order), to, whole);
}

Number OpNumbers::permute(const Number &number, ArrayRef<int64_t> permutation) {
  if (isUniform(number))
    return number;
  Permuted result{number, SmallVector<int64_t>(permutation)};
  if (auto at = permuted.find(number); at != permuted.end()) {
    result.of = at->second.of;
    for (int64_t &dim : result.permutation)
      dim = at->second.permutation[dim];
  }
  if (llvm::is_sorted(result.permutation))
    return result.of;
  RandomFunction function("par.transpose");
  for (int64_t dim : result.permutation)
    function.add(static_cast<uint64_t>(dim));
  Number named = function.add(result.of).get();
  permuted.try_emplace(named, result);
  return named;
}

Number OpNumbers::reshape(const Number &number, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (isUniform(number))
    return number;
  Reshaped first{number, SmallVector<int64_t>(from)};
  if (auto at = reshaped.find(number); at != reshaped.end())
    first = at->second;
  if (ArrayRef<int64_t>(first.shape) == to)
    return first.of;
  RandomFunction function("par.reshape");
  for (ArrayRef<int64_t> shape : {ArrayRef<int64_t>(first.shape), to}) {
    function.add(shape.size());
    for (int64_t size : shape)
      function.add(static_cast<uint64_t>(size));
  }
  Number named = function.add(first.of).get();
  reshaped.try_emplace(named, first);
  return named;
}

/// Ops that the field knows, and those that change nothing.
std::optional<Number> OpNumbers::getKnown(Operation *op, ArrayRef<Number> x) {
  // Sums of conditions are modulo 2, and one that is extended as a signed number is −1.
  bool readsConditions = op->getNumOperands() && getElementTypeOrSelf(op->getOperand(0)).isInteger(1);
  if (readsConditions && isa<arith::AddIOp, arith::SubIOp, arith::ExtSIOp, arith::SIToFPOp>(op))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<Number>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([&](auto) { return x[0] + x[1]; })
      .Case<arith::SubFOp, arith::SubIOp>([&](auto) { return x[0] - x[1]; })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) { return x[0] * x[1]; })
      .Case<arith::NegFOp>([&](auto) { return Number() - x[0]; })
      .Case<arith::DivFOp>([&](auto) -> std::optional<Number> {
        if (x[1] == Number())
          return std::nullopt;
        return x[0] * x[1].inverse();
      })
      .Case<arith::ConstantOp>([&](arith::ConstantOp constant) -> std::optional<Number> {
        auto elements = dyn_cast<ElementsAttr>(constant.getValue());
        return elements ? std::optional(getConstant(elements)) : std::nullopt;
      })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::SIToFPOp, ConstrainOp, ReshardOp,
            TransferOp>([&](auto) { return x[0]; })
      .Case<arith::MaximumFOp, arith::MinimumFOp>(
          [&](auto) { return x[0] == x[1] ? std::optional(x[0]) : std::nullopt; })
      // A condition is 0 or 1.
      .Case<arith::SelectOp>([&](auto) { return x[0] * x[1] + (Number::ofInteger(1) - x[0]) * x[2]; })
      .Case<arith::CmpIOp>(
          [&](arith::CmpIOp compare) { return this->compare(compare.getPredicate(), x[0], x[1]); })
      .Case<math::ExpOp>([&](auto) { return exp(x[0]); })
      .Case<math::LogOp>([&](auto) { return log(x[0]); })
      .Case([&](ReshapeOp op) {
        return reshape(x[0], op.getInput().getType().getShape(), op.getType().getShape());
      })
      // A scalar is the same along every dimension.
      .Case<ExpandOp>([&](ExpandOp expand) -> std::optional<Number> {
        if (expand.getInput().getType().getRank())
          return std::nullopt;
        uniform.insert(x[0]);
        return x[0];
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// A rule says by the factors of dimensions what is added up and repeated; their sizes say how dimensions are
/// divided, and over how many elements a mean is.
static void addRule(RandomFunction &function, RuleAttr rule, size_t operands, ArrayRef<int64_t> sizes) {
  auto add = [&](ArrayRef<TensorFactorsAttr> tensors) {
    for (TensorFactorsAttr tensor : tensors) {
      function.add(tensor.getDims().size());
      for (DenseI64ArrayAttr dim : tensor.getDims()) {
        function.add(dim.size());
        for (auto [number, factor] : llvm::enumerate(dim.asArrayRef()))
          function.add(factor).add(number ? sizes[factor] : 0);
      }
    }
  };
  add(rule.getOperands().take_front(operands)), add(rule.getResults());
  for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
    if (rule.getKinds()[factor] != FactorKind::PassThrough)
      function.add(sizes[factor]);
}

/// The type that a tensor of a rank has on one device.
static Type getWholeType(Type local, TensorFactorsAttr factors, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape;
  for (DenseI64ArrayAttr dim : factors.getDims()) {
    shape.push_back(1);
    for (int64_t factor : dim.asArrayRef())
      shape.back() *= sizes[factor];
  }
  return cast<RankedTensorType>(local).clone(shape);
}

/// A composite op's results follow from the ops that it is made of: `localize` writes these where columns are
/// cut.
SmallVector<Number> OpNumbers::getByParts(Operation *op, ArrayRef<Number> operands, RuleAttr rule,
                                          ArrayRef<int64_t> sizes) {
  Block block;
  IRMapping mapping;
  llvm::DenseMap<Value, Number> values;
  for (auto [operand, number, factors] : llvm::zip(op->getOperands(), operands, rule.getOperands())) {
    Value argument = block.addArgument(getWholeType(operand.getType(), factors, sizes), op->getLoc());
    mapping.map(operand, argument);
    values[argument] = number;
  }
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  Operation *copy = builder.clone(*op, mapping);
  for (auto [result, factors] : llvm::zip(copy->getResults(), rule.getResults()))
    result.setType(getWholeType(result.getType(), factors, sizes));
  builder.setInsertionPoint(copy);
  FailureOr<SmallVector<Value>> results = cast<KernelOpInterface>(copy).decompose(builder);
  SmallVector<Number> numbers;
  if (succeeded(results)) {
    for (Operation &part : llvm::make_range(block.begin(), copy->getIterator())) {
      SmallVector<Number> read;
      for (Value operand : part.getOperands())
        read.push_back(values.lookup(operand));
      auto interface = dyn_cast<ShardingRuleOpInterface>(part);
      RuleAttr own = interface ? interface.getShardingRule() : RuleAttr();
      SmallVector<Number> made = get(&part, read, own, own ? own.getSizes() : ArrayRef<int64_t>());
      for (auto [value, number] : llvm::zip(part.getResults(), made))
        values[value] = number;
    }
    for (Value result : *results)
      numbers.push_back(values.lookup(result));
  }
  block.dropAllUses();
  return numbers;
}

SmallVector<Number> OpNumbers::get(Operation *op, ArrayRef<Number> operands, RuleAttr rule,
                                   ArrayRef<int64_t> sizes) {
  if (auto transposed = dyn_cast<TransposeOp>(op)) {
    SmallVector<int64_t> shape;
    for (DenseI64ArrayAttr dim : rule.getOperands().front().getDims())
      shape.push_back(sizes[dim[0]]);
    return {transpose(operands[0], shape, transposed.getPermutation())};
  }
  if (std::optional<Number> known = getKnown(op, operands))
    return {*known};
  auto isZero = [&](int64_t operand) { return operands[operand] == Number(); };
  if (rule && llvm::any_of(rule.getLinear(),
                           [&](DenseI64ArrayAttr set) { return llvm::all_of(set.asArrayRef(), isZero); }))
    return SmallVector<Number>(op->getNumResults());
  if (auto loss = dyn_cast<CrossEntropyOp>(op)) {
    Number counts = compare(arith::CmpIPredicate::ne, operands[1], Number::ofInteger(kIgnoredTarget));
    Number lse = getLse(operands[0], loss.getClasses());
    return {counts * (lse - getPicked(operands[0], operands[1], loss.getClasses())), lse};
  }
  if (isa<RmsNormOp, RmsNormBackwardOp>(op) && op->hasAttr("count"))
    if (SmallVector<Number> numbers = getByParts(op, operands, rule, sizes); !numbers.empty())
      return numbers;
  SmallVector<Number> ordered(operands);
  if (op->hasTrait<OpTrait::IsCommutative>())
    llvm::sort(ordered);
  SmallVector<Number> numbers;
  for (unsigned result = 0; result < op->getNumResults(); ++result) {
    RandomFunction function(op->getName().getStringRef());
    function.add(result);
    addAttributes(function, op);
    for (const Number &operand : ordered)
      function.add(operand);
    if (rule && getOpClass(op) != OpClass::Elementwise)
      addRule(function, rule, operands.size(), sizes);
    numbers.push_back(function.get());
  }
  return numbers;
}
