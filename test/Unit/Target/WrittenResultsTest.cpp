//===- WrittenResultsTest.cpp - kernels write all that is wanted, whatever that is --------------------===//
// The interpreter evaluates a kernel's region and knows nothing of loops: that a nest leaves a result out is
// seen only where its code runs on memory that holds no likely number.
#include "KernelGraphs.h"
#include "NativeProgram.h"
#include "par/Interfaces/Interfaces.h"
#include "par/Register/Register.h"
#include "par/Target/Target.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// The graphs, and their code, of all tests of this process.
class Graphs {
public:
  Graphs() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.allowUnregisteredDialects();
    graphs.emplace(context, kAllSizes);
    code.emplace(graphs->lower(TargetKind::Cpu));
  }

  MLIRContext context;
  std::optional<KernelGraphs> graphs;
  std::optional<NativeCode> code;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
};

Graphs &getGraphs() {
  static Graphs graphs;
  return graphs;
}

class WrittenResults : public testing::TestWithParam<ChipKind> {};

/// Every op that may be in a kernel × every subset of its results × leading sizes, on memory full of NaN.
TEST_P(WrittenResults, AreWhatTheInterpreterSays) {
  if (!runsHere(GetParam()))
    GTEST_SKIP() << "this machine does not run " << getName(GetParam()).str();
  KernelGraphs &graphs = *getGraphs().graphs;
  ASSERT_TRUE(getGraphs().code->module);
  NativeProgram program(*getGraphs().code, GetParam());
  ASSERT_EQ(program.error, "");
  std::mt19937 random(7);
  func::FuncOp last;
  Tensors arguments, expected;
  for (const ResultSubset &subset : graphs.subsets) {
    SCOPED_TRACE(subset.name);
    if (subset.whole != last) {
      last = subset.whole;
      arguments = graphs.drawArguments(last, random);
      expected = graphs.interpret(last, arguments);
      ASSERT_FALSE(expected.empty());
    }
    SmallVector<RankedTensorType> types;
    for (int result : subset.wanted)
      types.push_back(expected[result].type);
    for (int64_t parts : {1, 3, 64}) { // more than most loops have iterations
      std::vector<Memory> results = program.run(subset.name, arguments, types, parts);
      for (auto [result, memory] : llvm::zip(subset.wanted, results)) {
        SCOPED_TRACE("result " + std::to_string(result) + ", kernels in " + std::to_string(parts) + " parts");
        compareTensors(expected[result], memory);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, WrittenResults,
                         testing::ValuesIn(findTarget(TargetKind::Cpu)->getChips().vec()),
                         [](const auto &info) {
                           std::string name = getName(info.param).str();
                           llvm::erase_if(name, [](char letter) { return !llvm::isAlnum(letter); });
                           return name;
                         });

/// An op without a graph would be one that no test runs with each subset of its results.
TEST(KernelGraphs, HaveEveryOpThatBecomesAKernel) {
  const std::set<std::string> &ops = getGraphs().graphs->ops;
  for (RegisteredOperationName op : getGraphs().context.getRegisteredOperations()) {
    bool isElsewhere = op.hasInterface<CollectiveOpInterface>() ||
                       llvm::is_contained(getOpsWithoutKernels(), op.getStringRef());
    if (op.hasInterface<KernelOpInterface>())
      EXPECT_NE(ops.count(op.getStringRef().str()) > 0, isElsewhere) << op.getStringRef().str();
  }
}
} // namespace
