//===- ChosenOnceTest.cpp - what is chosen once is not run again ----------------------------------------===//
//
// An op of another dialect chooses a class for every row, as a router does: par knows it by its interfaces
// alone.
//
//===----------------------------------------------------------------------------------------------------===//
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Register/Register.h"
#include "par/Transforms/Differentiate/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace mlir::par::test {

/// The number of the largest of each row's elements.
template <typename Derived, template <typename> class... Traits>
class LargestOp : public Op<Derived, OpTrait::ZeroRegions, OpTrait::OneResult,
                            OpTrait::OneTypedResult<TypedValue<RankedTensorType>>::Impl,
                            OpTrait::ZeroSuccessors, OpTrait::OneOperand, ConditionallySpeculatable::Trait,
                            OpTrait::AlwaysSpeculatableImplTrait, MemoryEffectOpInterface::Trait,
                            ShardingRuleOpInterface::Trait, InterpretableOpInterface::Trait,
                            KernelOpInterface::Trait, CostOpInterface::Trait, Traits...> {
public:
  using Base =
      Op<Derived, OpTrait::ZeroRegions, OpTrait::OneResult,
         OpTrait::OneTypedResult<TypedValue<RankedTensorType>>::Impl, OpTrait::ZeroSuccessors,
         OpTrait::OneOperand, ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
         MemoryEffectOpInterface::Trait, ShardingRuleOpInterface::Trait, InterpretableOpInterface::Trait,
         KernelOpInterface::Trait, CostOpInterface::Trait, Traits...>;
  using Base::Base;

  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
  RuleAttr getShardingRule() {
    RuleBuilder rule(*this);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(this->getOperand().getType()).getShape();
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
      bool isLast = dim == rank - 1;
      int64_t factor =
          rule.addFactor(shape[dim], isLast ? FactorKind::NeedReplication : FactorKind::PassThrough);
      rule.mapOperand(0, dim, factor);
      if (!isLast)
        rule.mapResult(0, dim, factor);
    }
    return rule.build();
  }
  LogicalResult interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results, InterpreterContext &) {
    int64_t width = operands[0].shape().back();
    for (int64_t row = 0; row < results[0].size(); ++row) {
      auto begin = operands[0].values.begin() + row * width;
      results[0].values[row] = static_cast<double>(std::max_element(begin, begin + width) - begin);
    }
    return success();
  }
  OpClass getOpClass() { return OpClass::Reduction; }
};

class ChooseOp : public LargestOp<ChooseOp, ChosenOnce> {
public:
  using LargestOp::LargestOp;
  static StringRef getOperationName() { return "test.choose"; }
};

/// The same, but for the trait.
class ComputeOp : public LargestOp<ComputeOp> {
public:
  using LargestOp::LargestOp;
  static StringRef getOperationName() { return "test.compute"; }
};

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context) : Dialect("test", context, TypeID::get<TestDialect>()) {
    addOperations<ChooseOp, ComputeOp>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

/// Rows of experts, by the largest score; $op is the op that says which.
static constexpr const char *kRouting = R"(
par.variable @scores : tensor<5x4xf32> dims ["experts", "embed"] {role = #par.role<parameter>}
par.variable @experts : tensor<5x4xf32> dims ["experts", "embed"] {role = #par.role<parameter>}
par.variable @table : tensor<7x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
func.func private @layer(%x: tensor<2x3x4xf32>, %scores: tensor<5x4xf32>, %experts: tensor<5x4xf32>) -> tensor<2x3x4xf32> {
  %t = math.tanh %x : tensor<2x3x4xf32>
  %s = par.einsum "bse,xe->bsx"(%t, %scores) : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
  %p = par.softmax %s : tensor<2x3x5xf32>
  %ids = "$op"(%p) : (tensor<2x3x5xf32>) -> tensor<2x3xi32>
  %e = par.take_rows %ids, %experts : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
  %y = arith.mulf %e, %t : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
func.func @forward(%ids: tensor<2x3xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
    %targets: tensor<2x3xi32> {par.place = #par.place<input targets>, par.dims = ["batch", "seq"]},
    %table: tensor<7x4xf32> {par.place = #par.place<variable @table>}, %scores: tensor<5x4xf32> {par.place = #par.place<variable @scores>},
    %experts: tensor<5x4xf32> {par.place = #par.place<variable @experts>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table : (tensor<2x3xi32>, tensor<7x4xf32>) -> tensor<2x3x4xf32>
  %y = $layer
  %d2 = arith.mulf %y, %y : tensor<2x3x4xf32>
  %loss = par.reduce sum %d2 dims [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
)";

/// Ops of the name `op` in functions of the backward pass.
static int64_t countRunsAgain(const std::string &op, const std::string &recompute, bool split) {
  DialectRegistry registry;
  registerDialects(registry);
  registry.insert<TestDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string text = kRouting;
  text.replace(text.find("$op"), 3, op);
  text.replace(
      text.find("$layer"), 6,
      "par.call @layer(%x, %scores, %experts) : (tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>) "
      "-> tensor<2x3x4xf32>");
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return -1;
  PassManager manager(&context);
  DifferentiatePipelineOptions options;
  options.split = split;
  options.recompute = recompute;
  buildDifferentiatePipeline(manager, options);
  if (failed(manager.run(*module)))
    return -1;
  int64_t count = 0;
  for (auto function : module->getOps<func::FuncOp>())
    if (function.getSymName().contains("backward"))
      function.walk([&](Operation *each) { count += each->getName().getStringRef() == op; });
  return count;
}

/// Every policy, also with a backward pass in two parts: the choice is saved.
TEST(ChosenOnceTest, noPolicyRunsItAgain) {
  for (const char *recompute : {"none", "selective", "full"})
    for (bool split : {false, true})
      EXPECT_EQ(countRunsAgain("test.choose", recompute, split), 0) << recompute << split;
}

/// Without the trait it would be run again: what the test above says is the trait's doing.
TEST(ChosenOnceTest, othersAreRunAgain) {
  EXPECT_GT(countRunsAgain("test.compute", "full", /*split=*/false), 0);
}

} // namespace mlir::par::test
