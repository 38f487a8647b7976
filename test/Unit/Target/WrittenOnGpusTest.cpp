//===- WrittenOnGpusTest.cpp - kernels of GPUs write all that is wanted, whatever that is -------------===//
// WrittenResultsTest.cpp is the same for processors.
#include "KernelGraphs.h"
#include "KernelOfText.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Every op that may be in a kernel × every subset of its results × leading sizes. The emulator says what is
/// not written.
TEST(WrittenOnGpus, IsWhatTheInterpreterSays) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module = KernelGraphs(context, kFewSizes).lower(TargetKind::Cuda);
  ASSERT_TRUE(module);
  Plan plan;
  plan.target = TargetKind::Cuda;
  plan.chip = ChipKind::Sm90;
  KernelProgram program(*module, plan, [&](ModuleOp copy) {
    PassManager manager(&context);
    manager.addPass(createRankToLLVM());
    return manager.run(copy);
  });
  ASSERT_TRUE(program.kernels);
  std::mt19937 random(7);
  for (const std::string &name : program.names) {
    KernelCase one(program, name, random);
    SCOPED_TRACE(name + ", " + one.getPlan().str());
    one.checkValues(par_emulation_forward);
  }
}

/// What is written once per row, of a row alone: a nest without an innermost loop would leave it out.
TEST(WrittenOnGpus, ANumberOfOneRow) {
  for (int64_t rows : {1, 3}) {
    std::string x = shape({rows, 40}, "f32"), s = shape({rows}, "f32");
    KernelOfText kernel({{x, s},
                         {x, s},
                         "%0 = arith.addf %b, %b : " + s + "\n%1 = par.expand %0 dims [1] : " + s + " -> " +
                             x + "\n%2 = arith.addf %a, %1 : " + x + "\nrank.yield %2, %0 : " + x + ", " +
                             s});
    EXPECT_EQ(kernel->getPlan(), "generic");
    kernel->check();
  }
}
} // namespace
