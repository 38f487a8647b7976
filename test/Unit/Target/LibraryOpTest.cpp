//===- LibraryOpTest.cpp - an op of another dialect that a function written by hand computes --------===//
//
// Sums of rows: a row's results are the sum of the rows up to it, and of the rows from it on. par knows the
// op by its interfaces, by a call that is registered for processors, and by nothing else.
//
//===------------------------------------------------------------------------------------------------===//
#include "NativeProgram.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Conversion/Passes.h"
#include "par/Cost/LibraryModel.h"
#include "par/Cost/ProgramTimes.h"
#include "par/Cost/WorkOps.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Emit/Manifest.h"
#include "par/Pipelines/Pipelines.h"
#include "par/Register/Register.h"
#include "par/Target/CallBuilder.h"
#include "par/Target/LibraryCall.h"
#include "par/Transforms/Differentiate/Passes.h"
#include "par/Transforms/Lower/Passes.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Rows of `width` elements lie a stride apart; `sums` has room for one.
extern "C" void par_test_scan(int64_t batch, int64_t rows, int64_t width, const float *x, int64_t xStride,
                              float *before, int64_t beforeStride, float *behind, int64_t behindStride,
                              float *sums, int64_t bytes) {
  EXPECT_EQ(bytes, width * static_cast<int64_t>(sizeof(float)));
  auto sweep = [&](float *result, int64_t stride, bool backwards) {
    for (int64_t entry = 0; entry < batch; ++entry) {
      std::fill_n(sums, width, 0.0F);
      for (int64_t number = 0; number < rows; ++number) {
        int64_t row = entry * rows + (backwards ? rows - 1 - number : number);
        for (int64_t i = 0; i < width; ++i)
          result[row * stride + i] = sums[i] += x[row * xStride + i];
      }
    }
  };
  sweep(before, beforeStride, false);
  sweep(behind, behindStride, true);
}

namespace mlir::par::test {

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

class ScanOp
    : public Op<ScanOp, OpTrait::ZeroRegions, OpTrait::NResults<2>::Impl, OpTrait::ZeroSuccessors,
                OpTrait::OneOperand, ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
                MemoryEffectOpInterface::Trait, ShardingRuleOpInterface::Trait,
                DifferentiableOpInterface::Trait, InterpretableOpInterface::Trait, KernelOpInterface::Trait,
                CostOpInterface::Trait, LibraryOpInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "test.scan"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static void build(OpBuilder &, OperationState &state, Value x) {
    state.addOperands(x);
    state.addTypes({x.getType(), x.getType()});
  }
  void getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
  RankedTensorType getType() { return cast<RankedTensorType>(getOperand().getType()); }

  OpClass getOpClass() { return OpClass::Library; }
  void noteSequences(function_ref<bool(Value, Value)>) {}
  SmallVector<unsigned> getRowOperands() { return {0}; }
  SmallVector<unsigned> getRowResults() { return {0, 1}; }
  double getFlops() { return 2.0 * static_cast<double>(getType().getNumElements()); }

  /// Rows are summed in one piece.
  RuleAttr getShardingRule() {
    RuleBuilder rule(*this);
    for (auto [dim, size] : llvm::enumerate(getType().getShape())) {
      int64_t factor = rule.addFactor(size, dim == 1 ? FactorKind::NeedReplication : FactorKind::PassThrough);
      rule.mapOperand(0, dim, factor).mapResult(0, dim, factor).mapResult(1, dim, factor);
    }
    return rule.addLinear({0}).build();
  }
  LogicalResult differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool>,
                              SmallVectorImpl<Value> &operandCotangents) {
    if (cotangents[0]) // rows before it have each row's
      operandCotangents[0] = builder.create<ScanOp>(getLoc(), cotangents[0])->getResult(1);
    return success();
  }
  LogicalResult interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results, InterpreterContext &) {
    int64_t rows = operands[0].shape()[1], width = operands[0].shape()[2];
    for (int64_t place = 0; place < operands[0].size(); ++place) {
      int64_t row = place / width % rows, first = place - row * width;
      for (int64_t other = 0; other < rows; ++other) {
        double value = operands[0].values[first + other * width];
        results[0].values[place] += other <= row ? value : 0;
        results[1].values[place] += other >= row ? value : 0;
      }
    }
    return success();
  }
};

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context) : Dialect("test", context, TypeID::get<TestDialect>()) {
    addOperations<ScanOp>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

//===----------------------------------------------------------------------===//
// Its call
//===----------------------------------------------------------------------===//

class ScanCall : public LibraryCall {
public:
  SmallVector<int64_t> getScratchBytes(rank::LibraryWorkInterface work) const override {
    return {4 * getType(work).getDimSize(2)};
  }

  LogicalResult emitCall(CallBuilder &calls, rank::LibraryWorkInterface work) const override {
    auto structure = cast<rank::LibraryAttr>(work.getDescription());
    RankedTensorType type = getType(work);
    SmallVector<Value> arguments;
    for (int64_t size : type.getShape())
      arguments.push_back(calls.i64(size));
    auto addRows = [&](OperandRange tensors, ArrayAttr list) {
      for (auto rows : list.getAsRange<rank::RowsAttr>())
        arguments.append(
            {calls.addressOf(tensors, rows, type.getElementType()), calls.i64(rows.getStride())});
    };
    addRows(work.getIns(), structure.getOperands());
    addRows(work.getOuts(), structure.getResults());
    calls.appendScratch(work, arguments);
    declare(calls.module, ValueRange(arguments).getTypes());
    calls.call("par_test_scan", arguments);
    return success();
  }

private:
  static RankedTensorType getType(rank::LibraryWorkInterface work) {
    return cast<RankedTensorType>(work.getContent()->getResult(0).getType());
  }
  static void declare(ModuleOp module, TypeRange types) {
    if (module.lookupSymbol("par_test_scan"))
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()), SmallVector<Type>(types));
    builder.create<LLVM::LLVMFuncOp>(module.getLoc(), "par_test_scan", type);
  }
};

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

class LibraryOpTest : public testing::Test {
protected:
  LibraryOpTest() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    registerLibraryCall(TargetKind::Cpu, ScanOp::getOperationName(), std::make_unique<ScanCall>());
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    registry.insert<TestDialect>();
    return registry;
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) { return parseSourceString<ModuleOp>(text, &context); }

  /// Rows of a joint tensor, and a joint tensor of results, as a program.
  OwningOpRef<ModuleOp> lowerRows(const std::string &target, const std::string &rows = kRows) {
    std::string steps;
    for (const char *phase : {"forward", "backward", "reduce", "update"})
      steps += std::string("func.func @") + phase + "() attributes {par.phase = #par.phase<" + phase +
               ", chunk = 0>} { " + (phase == std::string("forward") ? kUse : "") + " return }\n";
    OwningOpRef<ModuleOp> module =
        parse("module attributes {par.plan = #par.plan<target = \"" + target + "\">} {" + rows + steps + "}");
    PassManager manager(&context);
    manager.addNestedPass<func::FuncOp>(createFormKernels());
    manager.addPass(createToRank());
    manager.addPass(createPlanMemory());
    manager.addPass(createVerifyProgram());
    return module && succeeded(manager.run(*module)) ? std::move(module) : nullptr;
  }

  static constexpr const char *kRows = R"(
    func.func private @rows(%joint: tensor<2x5x12xf32>) -> tensor<2x5x8xf32> {
      %x = par.slice %joint from [0, 0, 4] : tensor<2x5x12xf32> -> tensor<2x5x4xf32>
      %before, %behind = "test.scan"(%x) : (tensor<2x5x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x5x4xf32>)
      %y = par.concat %before, %behind dim 2 : (tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> tensor<2x5x8xf32>
      return %y : tensor<2x5x8xf32>
    })";
  static constexpr const char *kUse = R"(
      %c = arith.constant dense<0.0> : tensor<2x5x12xf32>
      %r = par.call @rows(%c) : (tensor<2x5x12xf32>) -> tensor<2x5x8xf32>
    )";

  MLIRContext context;
};

static rank::LibraryWorkInterface findWork(ModuleOp module) {
  rank::LibraryWorkInterface found;
  module.walk([&](rank::LibraryWorkInterface work) { found = work; });
  return found;
}

/// It reads and writes rows where they lie in joint tensors, and has the scratch memory that its call asks
/// for.
TEST_F(LibraryOpTest, rowsLieInJointTensors) {
  OwningOpRef<ModuleOp> module = lowerRows("cpu");
  ASSERT_TRUE(module);
  rank::LibraryWorkInterface work = findWork(*module);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->getName().getStringRef(), "rank.library");
  std::string description;
  llvm::raw_string_ostream(description) << work.getDescription();
  EXPECT_EQ(description,
            "#rank.library<operands = [#rank.rows<buffer = 0, offset = 4, stride = 12>], results = "
            "[#rank.rows<buffer = 0, stride = 8>, #rank.rows<buffer = 0, offset = 4, stride = 8>]>");
  ASSERT_EQ(work.getScratch().size(), 1u);
  EXPECT_EQ(rank::getBytes(work.getScratch().front()), 16);
  int64_t kernels = 0;
  module->walk([&](rank::KernelOp) { ++kernels; });
  EXPECT_EQ(kernels, 1); // the constant of the step: nothing is copied beside the call
}

/// What a call is told is what the region says, and nothing that the call would leave out is in it.
TEST_F(LibraryOpTest, descriptionsAreWhatTheRegionComputes) {
  OwningOpRef<ModuleOp> module = lowerRows("cpu");
  ASSERT_TRUE(module);
  std::string text, message;
  llvm::raw_string_ostream(text) << *module;
  OwningOpRef<ModuleOp> again = parse(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(findWork(*again).getDescription(), findWork(*module).getDescription());
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  rank::LibraryWorkInterface work = findWork(*again);
  work.setDescription(
      rank::LibraryAttr::get(&context, ArrayAttr::get(&context, {}), ArrayAttr::get(&context, {})));
  EXPECT_TRUE(failed(verify(work)));
  EXPECT_NE(
      message.find("rank_library_c2: `structure` says #rank.library<operands = [], results = []>, but the "
                   "region computes #rank.library<operands = [#rank.rows<buffer = 0, offset = 4, "),
      std::string::npos)
      << message;
  message.clear();
  auto scan = cast<ScanOp>(work.getContent().getOperation());
  OpBuilder builder(scan);
  scan->setOperand(0, builder.create<math::TanhOp>(scan.getLoc(), scan.getOperand()));
  EXPECT_TRUE(failed(verify(work)));
  EXPECT_NE(message.find("rank_library_c1: the region must hold one op of a library"), std::string::npos)
      << message;
}

/// An output that the op is not about would never be written.
TEST_F(LibraryOpTest, callsWriteAllOutputs) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  EXPECT_FALSE(parse(R"(
    rank.func @f(%x: !rank.buffer<32>, %y: !rank.buffer<32>, %z: !rank.buffer<32>, %w: !rank.buffer<32>) attributes {results = 3 : i64} {
      rank.library ins(%x : !rank.buffer<32>) outs(%y, %z, %w : !rank.buffer<32>, !rank.buffer<32>, !rank.buffer<32>) attributes {
          structure = #rank.library<operands = [#rank.rows<buffer = 0, stride = 4>], results = [#rank.rows<buffer = 0, stride = 4>, #rank.rows<buffer = 1, stride = 4>]>} {
      ^bb0(%a: tensor<1x2x4xf32>):
        %b, %c = "test.scan"(%a) : (tensor<1x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>)
        rank.yield %b, %c, %a : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
      }
      rank.return
    })"));
  EXPECT_NE(message.find("rank_library_c1: the region must hold one op of a library"), std::string::npos)
      << message;
}

/// A result that nobody reads is written all the same, beside rows that lie in a joint tensor, too.
TEST_F(LibraryOpTest, unreadResultsHaveMemory) {
  OwningOpRef<ModuleOp> module = lowerRows("cpu", R"(
    func.func private @rows(%joint: tensor<2x5x12xf32>) -> tensor<2x5x8xf32> {
      %x = par.slice %joint from [0, 0, 4] : tensor<2x5x12xf32> -> tensor<2x5x8xf32>
      %before, %behind = "test.scan"(%x) : (tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>)
      return %before : tensor<2x5x8xf32>
    })");
  ASSERT_TRUE(module);
  EXPECT_EQ(findWork(*module).getOuts().size(), 2u);
}

/// The program of a processor calls the function, with what the interpreter says as its result.
TEST_F(LibraryOpTest, programsCallTheFunction) {
  OwningOpRef<ModuleOp> whole = parse(kRows);
  std::mt19937 random(11);
  Tensor joint = drawTensor(
      cast<RankedTensorType>((*whole->getOps<func::FuncOp>().begin()).getArgumentTypes()[0]), random);
  Interpreter interpreter(*whole);
  FailureOr<Tensors> expected = interpreter.run(interpreter.lookup("rows"), Tensors{joint});
  ASSERT_TRUE(succeeded(expected));
  NativeCode code(lowerRows("cpu"));
  ASSERT_TRUE(code.module);
  NativeProgram program(code, findTarget(TargetKind::Cpu)->getChips().front());
  ASSERT_EQ(program.error, "");
  std::vector<Memory> results = program.run("rows", {joint}, {expected->front().type}, 1);
  compareTensors(expected->front(), results.front());
}

/// A target without a call of it says so where the program is made.
TEST_F(LibraryOpTest, targetsWithoutACallRefuseIt) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  EXPECT_FALSE(lowerRows("cuda"));
  EXPECT_NE(message.find("no call of a library on the target cuda computes test.scan"), std::string::npos)
      << message;
}

/// Of a whole training step on two ranks each has its half of the batch, profiles and reports count it under
/// its name, and its derivative is another call.
TEST_F(LibraryOpTest, stepsAreSplitAndCounted) {
  OwningOpRef<ModuleOp> module = parse(R"(
    module attributes {par.plan = #par.plan<target = "cpu">} {
    par.variable @table : tensor<7x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<zeros>}
    func.func @forward(%ids: tensor<4x6xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
        %targets: tensor<4x6xi32> {par.place = #par.place<input targets>, par.dims = ["batch", "seq"]},
        %table: tensor<7x4xf32> {par.place = #par.place<variable @table>})
        -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
      %x = par.embedding %ids, %table : (tensor<4x6xi32>, tensor<7x4xf32>) -> tensor<4x6x4xf32>
      %y, %z = "test.scan"(%x) : (tensor<4x6x4xf32>) -> (tensor<4x6x4xf32>, tensor<4x6x4xf32>)
      %d = arith.mulf %y, %y : tensor<4x6x4xf32>
      %loss = par.reduce sum %d dims [0, 1, 2] : tensor<4x6x4xf32> -> tensor<f32>
      return %loss : tensor<f32>
    }})");
  PassManager manager(&context);
  AnnotatePipelineOptions annotate;
  annotate.mesh = "dp=2";
  buildAnnotatePipeline(manager, annotate);
  buildPropagatePipeline(manager);
  buildDifferentiatePipeline(manager, DifferentiatePipelineOptions());
  buildPropagatePipeline(manager);
  buildPartitionPipeline(manager, PartitionPipelineOptions());
  buildLowerPipeline(manager, LowerPipelineOptions());
  ASSERT_TRUE(module && succeeded(manager.run(*module)));
  int64_t calls = 0;
  module->walk([&](rank::LibraryOp work) {
    ++calls;
    EXPECT_EQ(cast<RankedTensorType>(work.getContent()->getResult(0).getType()).getShape(),
              ArrayRef<int64_t>({2, 6, 4}));
  });
  EXPECT_EQ(calls, 3); // evaluation has one, too
  llvm::json::Object manifest = buildManifest(*module, /*withPrograms=*/false);
  const llvm::json::Object *entry = nullptr;
  for (const llvm::json::Value &each : *manifest.getArray("step_work"))
    if (each.getAsObject()->getString("class") == "scan")
      entry = each.getAsObject();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->getString("kind"), "kernel");
  EXPECT_EQ(entry->getInteger("calls"), 2);
  EXPECT_EQ(entry->getNumber("flops"), 2 * 2.0 * 48);
  EXPECT_EQ(entry->getNumber("bytes"), 2 * 3.0 * 4 * 48);
}

/// It takes as long as a kernel of its operations and bytes, and what a model says where it has one.
TEST_F(LibraryOpTest, modelsSayHowLongItTakes) {
  OwningOpRef<ModuleOp> module = lowerRows("cpu");
  ASSERT_TRUE(module);
  rank::LibraryWorkInterface work = findWork(*module);
  Computation computation = describeComputation(work);
  EXPECT_EQ(computation.flops, 40 + 2.0 * 40 + 80); // the ops that say where rows lie count as any other
  EXPECT_EQ(computation.bytes, 4.0 * (120 + 80));
  EXPECT_FALSE(computation.library);
  TimeTerms terms = ProgramTimes(*module, RooflineMachine(DeviceRates{10, 1e9, 1, 1}))
                        .measure(work->getParentOfType<rank::FuncOp>());
  EXPECT_EQ(terms.kernels, 20.0);
  registerLibraryModel(ScanOp::getOperationName(), [](rank::LibraryWorkInterface call) -> DeviceTime {
    return [bytes = rank::getBytes(call.getScratch().front())](const DeviceModel &) { return 3.0 * bytes; };
  });
  DeviceTime time = describeComputation(work).library;
  registerLibraryModel(ScanOp::getOperationName(), [](rank::LibraryWorkInterface) { return DeviceTime(); });
  ASSERT_TRUE(time);
  EXPECT_EQ(time(DeviceModel()), 48.0);
}

} // namespace mlir::par::test
