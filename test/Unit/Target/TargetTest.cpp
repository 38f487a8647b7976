//===- TargetTest.cpp - what a second target says is what passes do -------------------------------------===//
#include "par/Target/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "par/Conversion/Passes.h"
#include "par/Conversion/ScalarEvaluator.h"
#include "par/Register/Register.h"
#include "par/Transforms/Lower/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {
/// Sums in one chain.
class SerialWalk : public TermWalk {
public:
  explicit SerialWalk(OpBuilder &builder) : builder(builder) {}

  FailureOr<Value> reduce(ArrayRef<int64_t> sizes, Type type, ReduceKind kind,
                          function_ref<FailureOr<Value>(ArrayRef<Value>)> term) override {
    Scalars scalars(builder, builder.getUnknownLoc());
    Value zero = scalars.constantIndex(0), one = scalars.constantIndex(1);
    auto loop = builder.create<scf::ForOp>(scalars.loc, zero, scalars.constantIndex(sizes[0]), one,
                                           scalars.neutral(kind, type));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    FailureOr<Value> next = term({loop.getInductionVar()});
    if (succeeded(next))
      builder.create<scf::YieldOp>(scalars.loc, scalars.combine(kind, loop.getRegionIterArgs()[0], *next));
    return failed(next) ? next : FailureOr<Value>(loop.getResult(0));
  }

private:
  OpBuilder &builder;
};

/// A device of other sizes than a processor, on which every element of a kernel has a thread.
class StubTarget : public Target {
public:
  StubTarget() : Target(TargetKind::Cuda, {{rank::Space::Device}, 256, 256, 2}, {1, 1, 1, 1}) {}

  ArrayRef<ChipKind> getChips() const override {
    static constexpr ChipKind chips[] = {ChipKind::Sm90};
    return chips;
  }
  bool joinsProducts(Type) const override { return false; }
  SmallVector<int64_t> getWorkspaceBytes(rank::WorkOpInterface work) const override {
    return isa<rank::GemmOp>(*work) ? SmallVector<int64_t>{1000} : SmallVector<int64_t>();
  }

  FailureOr<func::FuncOp> writeKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                      ArrayRef<StringAttr> axes) const override {
    Block &block = work.getBody().front();
    if (failed(decomposeKernel(block)))
      return failure();
    Type index = builder.getIndexType();
    SmallVector<Type> types = {LLVM::LLVMPointerType::get(builder.getContext()), index, index};
    SmallVector<Value> tensors(block.getArguments());
    Value output = cast<rank::YieldOp>(block.getTerminator()).getValues()[0];
    tensors.push_back(output);
    for (Value tensor : tensors)
      types.push_back(Scalars::getMemoryType(cast<RankedTensorType>(tensor.getType())));
    auto function = builder.create<func::FuncOp>(work->getLoc(), name, builder.getFunctionType(types, {}));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(function.addEntryBlock());
    SerialWalk terms(builder);
    ScalarEvaluator evaluator(builder, work->getLoc(), function.getArgument(0), axes, terms);
    for (auto [number, tensor] : llvm::enumerate(tensors))
      if (tensor != output)
        evaluator.bind(tensor, function.getArgument(3 + number));
    Value thread = function.getArgument(1);
    FailureOr<Value> element = evaluator.evaluate(output, {thread});
    if (failed(element))
      return failure();
    evaluator.store(*element, getElementTypeOrSelf(output), function.getArguments().back(), {thread});
    builder.create<func::ReturnOp>(work->getLoc());
    written = function.clone();
    return function;
  }

  LogicalResult lowerKernels(ModuleOp kernels) const override {
    return findTarget(TargetKind::Cpu)->lowerKernels(kernels);
  }
  void describeMachine(const Plan &, llvm::json::Object &) const override {}
  llvm::Error writeProgram(ModuleOp, const Plan &, StringRef, StringRef) const override {
    return llvm::Error::success();
  }

  mutable OwningOpRef<func::FuncOp> written;
};

class TargetTest : public testing::Test {
protected:
  TargetTest() {
    setTarget(stub);
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The module with `target` in its plan after `passes`; null if one fails, after an error in `errors`.
  OwningOpRef<ModuleOp> run(const std::string &target, const std::string &text,
                            function_ref<void(OpPassManager &)> addPasses) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        "module attributes {par.plan = #par.plan<target = \"" + target + "\">} {\n" + text + "}", &context);
    PassManager manager(&context);
    addPasses(manager);
    return module && succeeded(manager.run(*module)) ? std::move(module) : nullptr;
  }

  static void plan(OpPassManager &manager) {
    manager.addPass(createPlanMemory());
    manager.addPass(createVerifyProgram());
  }

  template <typename Op>
  static int count(ModuleOp module) {
    int ops = 0;
    module.walk([&](Op) { ++ops; });
    return ops;
  }

  static inline const StubTarget stub;
  MLIRContext context;
  std::string errors;
};

const char *kTwoBuffers = R"(
rank.func @f(%x: !rank.buffer<100>, %y: !rank.buffer<100>) attributes {results = 1 : i64} {
  %a = rank.alloc workspace : !rank.buffer<100>
  rank.copy %x to %a : !rank.buffer<100>, !rank.buffer<100>
  %b = rank.alloc workspace : !rank.buffer<100>
  rank.copy %a to %b : !rank.buffer<100>, !rank.buffer<100>
  rank.copy %b to %y : !rank.buffer<100>, !rank.buffer<100>
  rank.return
}
)";

/// Offset of the second buffer.
int64_t getOffset(ModuleOp module) {
  int64_t offset = 0;
  module.walk([&](rank::AllocOp alloc) { offset = std::max<int64_t>(offset, *alloc.getOffset()); });
  return offset;
}

TEST_F(TargetTest, isFoundByThePlan) {
  EXPECT_EQ(findTarget(TargetKind::Cuda), &stub);
  OwningOpRef<ModuleOp> module = run("cuda", "", [](OpPassManager &) {});
  EXPECT_EQ(getTarget(*module), &stub);
  module = run("cpu", "", [](OpPassManager &) {});
  EXPECT_EQ(getTarget(*module), findTarget(TargetKind::Cpu));
  OwningOpRef<ModuleOp> unplanned = parseSourceString<ModuleOp>("module {}", &context);
  EXPECT_EQ(getTarget(*unplanned), findTarget(TargetKind::Cpu));
}

TEST_F(TargetTest, alignsBuffers) {
  EXPECT_EQ(getOffset(*run("cpu", kTwoBuffers, plan)), 128);
  EXPECT_EQ(getOffset(*run("cuda", kTwoBuffers, plan)), 256);
  std::string placed = kTwoBuffers;
  for (const char *offset : {"{offset = 0 : i64}", "{offset = 128 : i64}"})
    placed.replace(placed.find("workspace :"), 11, std::string("workspace ") + offset + " :");
  placed.replace(placed.find("results = 1 : i64"), 17, "results = 1 : i64, frame = 228 : i64");
  auto verify = [](OpPassManager &manager) { manager.addPass(createVerifyProgram()); };
  EXPECT_TRUE(run("cpu", placed, verify)) << errors;
  EXPECT_FALSE(run("cuda", placed, verify));
  EXPECT_NE(errors.find("offset 128 in the frame, expected a multiple of 256"), std::string::npos) << errors;
}

TEST_F(TargetTest, refusesMemoriesItLacks) {
  std::string pinned = R"(
rank.func @f(%x: !rank.buffer<64>) attributes {results = 0 : i64} {
  %a = rank.alloc workspace : !rank.buffer<64, pinned>
  rank.copy %x to %a : !rank.buffer<64>, !rank.buffer<64, pinned>
  rank.return
})";
  EXPECT_TRUE(run("cpu", pinned, plan)) << errors;
  EXPECT_FALSE(run("cuda", pinned, plan));
  EXPECT_NE(errors.find("lies in pinned memory, which target cuda does not have"), std::string::npos)
      << errors;
}

const char *kHead = R"(
func.func @head(%x: tensor<4x4xf32>, %w: tensor<32x4xf32>) -> tensor<4xf32> {
  %l = par.einsum "be,ve->bv"(%x, %w) : (tensor<4x4xf32>, tensor<32x4xf32>) -> tensor<4x32xf32>
  %s = par.reduce sum %l dims [1] : tensor<4x32xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}
)";

TEST_F(TargetTest, saysWhatIsTooLarge) {
  auto split = [](OpPassManager &manager) { manager.addPass(createSplitLargeValues()); };
  EXPECT_EQ(count<par::CallOp>(*run("cpu", kHead, split)), 0);
  EXPECT_EQ(count<par::CallOp>(*run("cuda", kHead, split)), 1);
}

const char *kProducts = R"(
func.func @forward(%x: tensor<8x4xf32> {par.place = #par.place<variable @x>},
                   %w: tensor<6x4xf32> {par.place = #par.place<variable @w>})
    -> (tensor<8x6xf32> {par.place = #par.place<residual 0>}, tensor<8xf32> {par.place = #par.place<residual 1>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %0 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1 = par.einsum "ik,jk->ij"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %2 = par.reduce sum %1 dims [1] : tensor<8x6xf32> -> tensor<8xf32>
  return %0, %2 : tensor<8x6xf32>, tensor<8xf32>
}
par.variable @x : tensor<8x4xf32> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
par.variable @w : tensor<6x4xf32> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}
func.func @backward(%r: tensor<8x6xf32> {par.place = #par.place<residual 0>}, %s: tensor<8xf32> {par.place = #par.place<residual 1>})
    attributes {par.phase = #par.phase<backward, chunk = 0>} { return }
func.func @reduce() attributes {par.phase = #par.phase<reduce, chunk = 0>} { return }
func.func @update() attributes {par.phase = #par.phase<update, chunk = 0>} { return }
)";

void lower(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createFormKernels());
  manager.addNestedPass<func::FuncOp>(createJoinProducts());
  manager.addPass(createToRank());
  manager.addPass(createPlanMemory());
  manager.addPass(createVerifyProgram());
}

TEST_F(TargetTest, joinsProductsAndGivesWorkspace) {
  OwningOpRef<ModuleOp> cpu = run("cpu", kProducts, lower);
  ASSERT_TRUE(cpu) << errors;
  EXPECT_EQ(count<rank::GemmOp>(*cpu), 1);
  OwningOpRef<ModuleOp> other = run("cuda", kProducts, lower);
  ASSERT_TRUE(other) << errors;
  EXPECT_EQ(count<rank::GemmOp>(*other), 2);
  other->walk([](rank::GemmOp gemm) {
    ASSERT_EQ(gemm.getScratch().size(), 1u);
    EXPECT_EQ(rank::getBytes(gemm.getScratch()[0]), 1000);
  });
}

/// An element has a thread: the only loop is that of the element's sum.
TEST_F(TargetTest, walksElementsItsOwnWay) {
  OwningOpRef<ModuleOp> module = run("cuda", kProducts, [](OpPassManager &manager) {
    lower(manager);
    manager.addPass(createRankToLLVM());
  });
  ASSERT_TRUE(module) << errors;
  ASSERT_TRUE(stub.written);
  EXPECT_TRUE(succeeded(verify(*stub.written)));
  int loops = 0, stores = 0;
  stub.written->walk([&](scf::ForOp) { ++loops; });
  stub.written->walk([&](memref::StoreOp store) {
    ++stores;
    EXPECT_EQ(store.getIndices()[0], stub.written->getArgument(1));
  });
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(stores, 1);
  stub.written = {};
}
} // namespace
