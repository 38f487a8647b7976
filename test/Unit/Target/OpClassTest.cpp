//===- OpClassTest.cpp - ops of another dialect are treated right by their class alone
//-----------------------===//
#include "KernelOfText.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"
#include "par/Transforms/Lower/Passes.h"

using namespace mlir;

namespace mlir::par::test {

/// What ops of the test dialect have in common: no operand or one, one result, and par's interfaces.
template <typename Derived, template <typename> class Operands>
class TestOp : public Op<Derived, OpTrait::ZeroRegions, OpTrait::OneResult,
                         OpTrait::OneTypedResult<TypedValue<RankedTensorType>>::Impl, OpTrait::ZeroSuccessors,
                         Operands, ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
                         MemoryEffectOpInterface::Trait, InterpretableOpInterface::Trait,
                         KernelOpInterface::Trait, CostOpInterface::Trait> {
public:
  using Op<Derived, OpTrait::ZeroRegions, OpTrait::OneResult,
           OpTrait::OneTypedResult<TypedValue<RankedTensorType>>::Impl, OpTrait::ZeroSuccessors, Operands,
           ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
           MemoryEffectOpInterface::Trait, InterpretableOpInterface::Trait, KernelOpInterface::Trait,
           CostOpInterface::Trait>::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
};

/// Rows in reverse order.
class ReverseOp : public TestOp<ReverseOp, OpTrait::OneOperand> {
public:
  using TestOp::TestOp;
  static StringRef getOperationName() { return "test.reverse"; }
  OpClass getOpClass() { return OpClass::Permutes; }
  LogicalResult interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results, InterpreterContext &) {
    int64_t rows = results[0].shape()[0], width = results[0].size() / rows;
    for (int64_t row = 0; row < rows; ++row)
      std::copy_n(operands[0].values.begin() + (rows - 1 - row) * width, width,
                  results[0].values.begin() + row * width);
    return success();
  }
  FailureOr<Value> emitElement(ElementBuilder &b, ArrayRef<Value> index) {
    Index source(index);
    source[0] = b.create<arith::SubIOp>(b.constantIndex(getShape(getOperand())[0] - 1), index[0]);
    return b.evaluate(getOperand(), source);
  }
};

/// The number of a row, counted from the last one.
class CountdownOp : public TestOp<CountdownOp, OpTrait::ZeroOperands> {
public:
  using TestOp::TestOp;
  static StringRef getOperationName() { return "test.countdown"; }
  OpClass getOpClass() { return OpClass::Index; }
  LogicalResult interpret(ArrayRef<Tensor>, MutableArrayRef<Tensor> results, InterpreterContext &) {
    int64_t rows = results[0].shape()[0], width = results[0].size() / rows;
    for (int64_t i = 0; i < results[0].size(); ++i)
      results[0].values[i] = static_cast<double>(rows - 1 - i / width);
    return success();
  }
  FailureOr<Value> emitElement(ElementBuilder &b, ArrayRef<Value> index) {
    Value count = b.create<arith::SubIOp>(b.constantIndex(getShape(getResult())[0] - 1), index[0]);
    Value number = b.create<arith::IndexCastOp>(b.builder.getI32Type(), count);
    return b.create<arith::SIToFPOp>(b.builder.getF32Type(), number);
  }
};

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context) : Dialect("test", context, TypeID::get<TestDialect>()) {
    addOperations<ReverseOp, CountdownOp>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  registry.insert<TestDialect>();
  return registry;
}

/// A kernel of elements in their places and of elements of other rows is what the interpreter says.
TEST(OpClassTest, kernelsComputeTheirElements) {
  std::string x = shape({5, 16}, "f32");
  KernelOfText kernel({{x},
                       {x},
                       "%r = \"test.reverse\"(%a) : (" + x + ") -> " + x +
                           "\n%n = \"test.countdown\"() : () -> " + x + "\n%0 = arith.mulf %r, %n : " + x +
                           "\nrank.yield %0 : " + x},
                      /*isAligned=*/true, makeRegistry());
  kernel->check();
}

/// A value that follows from an index alone has no memory: every kernel that needs it computes it.
TEST(OpClassTest, numbersOfPlacesAreFree) {
  MLIRContext context(makeRegistry());
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %n = "test.countdown"() : () -> tensor<8x8xf32>
      %y = arith.addf %x, %n : tensor<8x8xf32>
      %z = par.einsum "ik,kj->ij"(%y, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %v = arith.mulf %z, %n : tensor<8x8xf32>
      return %v : tensor<8x8xf32>
    })",
                                                             &context);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  manager.addNestedPass<func::FuncOp>(createFormKernels());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  int64_t count = 0;
  module->walk([&](CountdownOp op) {
    ++count;
    EXPECT_TRUE(op->hasAttr(ParDialect::kKernelAttr));
  });
  EXPECT_EQ(count, 2); // each kernel has its own
}

/// How an op becomes code, and whether it is cheap to compute again, follows from its class.
TEST(OpClassTest, classesSayHowOpsBecomeCode) {
  EXPECT_EQ(getKernelKind(OpClass::Permutes), KernelKind::Primitive);
  EXPECT_EQ(getKernelKind(OpClass::View), KernelKind::View);
  EXPECT_EQ(getKernelKind(OpClass::Composite), KernelKind::Composite);
  EXPECT_EQ(getKernelKind(OpClass::Opaque), KernelKind::None);
  for (OpClass each : {OpClass::Elementwise, OpClass::Placed, OpClass::Index, OpClass::View,
                       OpClass::Permutes, OpClass::Slices, OpClass::Pads, OpClass::Joins, OpClass::Repeats})
    EXPECT_TRUE(isCheapClass(each));
  for (OpClass each :
       {OpClass::Opaque, OpClass::Annotation, OpClass::SelectsRows, OpClass::AddsRows, OpClass::Reduction,
        OpClass::Contraction, OpClass::Composite, OpClass::Library, OpClass::Collective})
    EXPECT_FALSE(isCheapClass(each));
}

} // namespace mlir::par::test
