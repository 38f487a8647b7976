//===- OpTest.cpp - checks that hold for every op of the graph ------------------------------------------===//
#include "OpTest.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "par/Interpreter/ShardTensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

OpTest::OpTest() {
  DialectRegistry registry;
  registry.insert<ParDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>();
  registerElementwiseModels(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
}

func::FuncOp OpTest::parse(StringRef text) {
  module = parseSourceString<ModuleOp>(text, &context);
  func::FuncOp function = module ? module->lookupSymbol<func::FuncOp>("main") : nullptr;
  EXPECT_TRUE(function) << text.str();
  return function;
}

Tensors OpTest::drawArguments(func::FuncOp function, double low, double high) {
  Tensors arguments;
  for (BlockArgument argument : function.getArguments()) {
    Tensor &tensor = arguments.emplace_back(cast<RankedTensorType>(argument.getType()));
    Type element = tensor.type.getElementType();
    auto bound = [&](StringRef name, int64_t otherwise) {
      auto attribute = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), name);
      return attribute ? attribute.getInt() : otherwise;
    };
    std::uniform_real_distribution<double> real(low, high);
    std::uniform_int_distribution<int64_t> integer(bound("test.min", 0),
                                                   bound("test.max", element.isInteger(1) ? 2 : 4) - 1);
    for (double &value : tensor.values)
      value = isa<FloatType>(element) ? real(random) : static_cast<double>(integer(random));
  }
  return arguments;
}

Tensors OpTest::evaluate(func::FuncOp function, const Tensors &arguments) {
  FailureOr<Tensors> results = Interpreter(*module).run(function, arguments);
  EXPECT_TRUE(succeeded(results));
  return succeeded(results) ? *results : Tensors();
}

double OpTest::compare(const Tensors &actual, const Tensors &expected) {
  if (actual.size() != expected.size())
    return INFINITY;
  double worst = 0;
  for (auto [a, b] : llvm::zip(actual, expected)) {
    if (a.size() != b.size())
      return INFINITY;
    for (auto [x, y] : llvm::zip(a.values, b.values)) {
      if (x == y || (std::isnan(x) && std::isnan(y)))
        continue;
      double difference = std::abs(x - y) / std::max(1.0, std::abs(y));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
  }
  return worst;
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// Zeros for a value without cotangent.
static Value orZeros(OpBuilder &builder, Value cotangent, Value like) {
  return cotangent ? cotangent
                   : buildSplat(builder, like.getLoc(), cast<RankedTensorType>(like.getType()), 0.0);
}

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

func::FuncOp OpTest::buildGradient(func::FuncOp function) {
  func::FuncOp gradient = function.clone();
  gradient.setName("gradient");
  module->push_back(gradient);
  Operation *exit = gradient.front().getTerminator();
  OpBuilder builder(exit);
  llvm::DenseMap<Value, Value> cotangents;
  SmallVector<Operation *> ops;
  for (Operation &op : gradient.front().without_terminator())
    ops.push_back(&op);
  for (Value result : exit->getOperands())
    if (isFloat(result))
      cotangents[result] = gradient.front().addArgument(result.getType(), result.getLoc());
  for (Operation *op : llvm::reverse(ops)) {
    SmallVector<Value> given, taken(op->getNumOperands());
    for (Value result : op->getResults())
      given.push_back(cotangents.lookup(result));
    SmallVector<bool> needed = llvm::map_to_vector(op->getOperands(), isFloat);
    EXPECT_TRUE(succeeded(cast<DifferentiableOpInterface>(op).differentiate(builder, given, needed, taken)));
    for (auto [operand, cotangent] : llvm::zip(op->getOperands(), taken))
      if (cotangent) {
        EXPECT_EQ(cotangent.getType(), operand.getType());
        Value &sum = cotangents[operand];
        sum = sum ? builder.create<arith::AddFOp>(op->getLoc(), sum, cotangent).getResult() : cotangent;
      }
  }
  SmallVector<Value> results;
  for (BlockArgument argument : gradient.getArguments().take_front(function.getNumArguments()))
    if (isFloat(argument))
      results.push_back(orZeros(builder, cotangents.lookup(argument), argument));
  exit->setOperands(results);
  gradient.setType(
      builder.getFunctionType(gradient.front().getArgumentTypes(), ValueRange(results).getTypes()));
  gradient.setAllArgAttrs(ArrayRef<DictionaryAttr>(
      SmallVector<DictionaryAttr>(gradient.getNumArguments(), builder.getDictionaryAttr({}))));
  EXPECT_TRUE(succeeded(verify(gradient)));
  return gradient;
}

/// Σ over the float results of cotangent · value.
static double contract(const Tensors &values, const Tensors &cotangents) {
  double sum = 0;
  size_t next = 0;
  for (const Tensor &tensor : values)
    if (isa<FloatType>(tensor.type.getElementType())) {
      for (auto [value, weight] : llvm::zip(tensor.values, cotangents[next].values))
        sum += value * weight;
      ++next;
    }
  return sum;
}

void OpTest::checkGradient(const OpCase &each) {
  func::FuncOp function = parse(each.text);
  ASSERT_TRUE(function);
  func::FuncOp gradient = buildGradient(function);
  ASSERT_FALSE(HasFailure());
  Tensors arguments = drawArguments(function, each.low, each.high), all = drawArguments(gradient, -1.0, 1.0);
  std::copy(arguments.begin(), arguments.end(), all.begin());
  Tensors cotangents(all.begin() + arguments.size(), all.end()), actual = evaluate(gradient, all), expected;
  constexpr double kStep = 1e-5;
  for (Tensor &argument : arguments) {
    if (!isa<FloatType>(argument.type.getElementType()))
      continue;
    Tensor &difference = expected.emplace_back(argument.type);
    for (int64_t i = 0; i < argument.size(); ++i) {
      double value = argument.values[i];
      argument.values[i] = value + kStep;
      double above = contract(evaluate(function, arguments), cotangents);
      argument.values[i] = value - kStep;
      double below = contract(evaluate(function, arguments), cotangents);
      argument.values[i] = value;
      difference.values[i] = (above - below) / (2 * kStep);
    }
  }
  EXPECT_LT(compare(actual, expected), 1e-6);
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

void OpTest::checkDecomposition(const OpCase &each) {
  func::FuncOp function = parse(each.text);
  ASSERT_TRUE(function);
  Tensors arguments = drawArguments(function, each.low, each.high), expected = evaluate(function, arguments);
  SmallVector<KernelOpInterface> composites;
  function.walk([&](KernelOpInterface op) {
    bool isOwn = op.getKernelKind() == KernelKind::Elementwise && isa<ParDialect>(op->getDialect());
    if (op.getKernelKind() == KernelKind::Composite || isOwn)
      composites.push_back(op);
  });
  ASSERT_FALSE(composites.empty());
  for (KernelOpInterface op : composites) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> results = op.decompose(builder);
    ASSERT_TRUE(succeeded(results));
    op->replaceAllUsesWith(*results);
    op->erase();
  }
  ASSERT_TRUE(succeeded(verify(function)));
  EXPECT_LT(compare(evaluate(function, arguments), expected), 1e-12);
}

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

/// The sharding of one tensor when factors have `axes`; pending reductions of a result are unreduced.
static ShardingAttr getFactorSharding(MLIRContext *context, TensorFactorsAttr factors,
                                      ArrayRef<SmallVector<StringAttr>> axes,
                                      ArrayRef<StringAttr> unreduced = {}) {
  SmallVector<SmallVector<StringAttr>> dims;
  for (DenseI64ArrayAttr dim : factors.getDims())
    dims.push_back(dim.empty() ? SmallVector<StringAttr>() : axes[dim[0]]);
  return ShardingAttr::get(context, "mesh", dims, unreduced);
}

static ShardingAttr getResultFactorSharding(Operation *op, RuleAttr rule, int64_t result,
                                            ArrayRef<SmallVector<StringAttr>> axes) {
  SmallVector<StringAttr> unreduced;
  for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
    if (rule.isPending(result, factor))
      llvm::append_range(unreduced, axes[factor]);
  return getFactorSharding(op->getContext(), rule.getResults()[result], axes, unreduced);
}

/// @local: the op on one rank's shards.
func::FuncOp OpTest::buildLocal(Operation *op, ArrayRef<SmallVector<StringAttr>> factorAxes) {
  RuleAttr rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  MeshAttr mesh = getMesh(*module);
  OpBuilder builder(&context);
  auto localType = [&](Value value, ShardingAttr sharding) -> Type {
    return sharding.getLocalType(cast<RankedTensorType>(value.getType()), mesh);
  };
  SmallVector<Type> operandTypes, resultTypes;
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    operandTypes.push_back(
        localType(operand, getFactorSharding(&context, rule.getOperands()[number], factorAxes)));
  for (OpResult result : op->getResults())
    resultTypes.push_back(
        localType(result, getResultFactorSharding(op, rule, result.getResultNumber(), factorAxes)));
  auto local =
      func::FuncOp::create(op->getLoc(), "local", builder.getFunctionType(operandTypes, resultTypes));
  if (Operation *old = module->lookupSymbol("local"))
    old->erase();
  module->push_back(local);
  Block *block = local.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  Localizer localizer(builder, op, rule, mesh, block->getArguments(), resultTypes, factorAxes);
  FailureOr<SmallVector<Value>> results = cast<ShardingRuleOpInterface>(op).localize(localizer);
  EXPECT_TRUE(succeeded(results));
  builder.create<func::ReturnOp>(op->getLoc(), succeeded(results) ? *results : SmallVector<Value>());
  EXPECT_TRUE(succeeded(verify(local)));
  return local;
}

void OpTest::checkSplit(func::FuncOp function, ArrayRef<SmallVector<StringAttr>> factorAxes,
                        const Tensors &arguments) {
  Operation *op = &function.front().front();
  RuleAttr rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  MeshAttr mesh = getMesh(*module);
  Tensors expected = evaluate(function, arguments);
  func::FuncOp local = buildLocal(op, factorAxes);
  ASSERT_FALSE(HasFailure());
  std::vector<Tensors> shards(mesh.getNumRanks());
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    ShardingAttr sharding = getFactorSharding(&context, rule.getOperands()[number], factorAxes);
    auto argument = cast<BlockArgument>(operand);
    for (auto [rank, shard] :
         llvm::enumerate(shardTensor(arguments[argument.getArgNumber()], sharding, mesh)))
      shards[rank].push_back(shard);
  }
  FailureOr<std::vector<Tensors>> results = Interpreter(*module, mesh).run(local, shards);
  ASSERT_TRUE(succeeded(results));
  for (auto [number, whole] : llvm::enumerate(expected)) {
    Tensors parts;
    for (Tensors &tensors : *results)
      parts.push_back(tensors[number]);
    UnshardedTensor joined =
        unshardTensor(parts, getResultFactorSharding(op, rule, number, factorAxes), mesh, whole.type);
    EXPECT_LT(compare({joined.value}, {whole}), 1e-10) << "result " << number;
    EXPECT_LT(joined.replicaDifference, 1e-10) << "result " << number;
  }
}

void OpTest::checkShards(const OpCase &each) {
  func::FuncOp function = parse(std::string("par.mesh @mesh <[\"a\"=2, \"b\"=2]>\n") + each.text);
  ASSERT_TRUE(function);
  RuleAttr rule = cast<ShardingRuleOpInterface>(function.front().front()).getShardingRule();
  Tensors arguments = drawArguments(function, each.low, each.high);
  StringAttr a = StringAttr::get(&context, "a"), b = StringAttr::get(&context, "b");
  int64_t count = rule.getNumFactors(), splits = 0;
  // Factor `first` over a and `second` over b; one factor over both, either way round.
  for (int64_t first = 0; first < count; ++first)
    for (int64_t second = 0; second < count; ++second)
      for (bool swapped : {false, true}) {
        SmallVector<SmallVector<StringAttr>> axes(count);
        axes[first].push_back(swapped ? b : a);
        axes[second].push_back(swapped ? a : b);
        bool possible = llvm::all_of(llvm::seq<int64_t>(0, count), [&](int64_t factor) {
          return axes[factor].empty() ||
                 (rule.maySplit(factor) && rule.getSizes()[factor] % (1 << axes[factor].size()) == 0);
        });
        if (!possible)
          continue;
        SCOPED_TRACE("factors " + RuleAttr::getFactorName(first) + " and " + RuleAttr::getFactorName(second));
        checkSplit(function, axes, arguments);
        ++splits;
      }
  EXPECT_GT(splits, 0) << "no factor of the case can be split";
}
