//===- MemoryProfileTest.cpp - the replayed step agrees with the memory plan ----------------------------===//
#include "par/Emit/MemoryProfile.h"
#include "mlir/Parser/Parser.h"
#include "par/Import/Import.h"
#include "par/Pipelines/Pipelines.h"
#include "par/Register/Register.h"
#include "par/Transforms/Differentiate/Passes.h"
#include "par/Transforms/Lower/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {
class MemoryProfileTest : public testing::Test {
protected:
  MemoryProfileTest() : context(makeRegistry()) { context.loadAllAvailableDialects(); }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  /// test/Tools/par-import/Inputs/NAME.json, compiled down to offsets.
  OwningOpRef<ModuleOp> compile(const std::string &name, const std::string &mesh, int64_t zero,
                                int64_t microBatches) {
    ImportOptions import;
    import.model = PAR_TEST_DIR "/Tools/par-import/Inputs/" + name + ".json";
    import.batch = 4;
    OwningOpRef<ModuleOp> module = importModel(context, import);
    PassManager manager(&context);
    AnnotatePipelineOptions annotate;
    annotate.mesh = mesh;
    annotate.zero = zero;
    buildAnnotatePipeline(manager, annotate);
    buildPropagatePipeline(manager);
    buildDifferentiatePipeline(manager, DifferentiatePipelineOptions());
    buildPropagatePipeline(manager);
    buildPartitionPipeline(manager, PartitionPipelineOptions());
    LowerPipelineOptions lower;
    lower.microBatches = microBatches;
    buildLowerPipeline(manager, lower);
    return module && succeeded(manager.run(*module)) ? std::move(module) : nullptr;
  }

  MLIRContext context;
};
} // namespace

static bool liveTogether(const LiveBuffer &a, const LiveBuffer &b) {
  return a.begin <= b.end && b.begin <= a.end;
}

// Across all functions and frames: no two buffers that are live at one kernel share a byte, the highest end
// is the planned peak, and the sums by category add up to what is live.
TEST_F(MemoryProfileTest, WholeSteps) {
  struct Case {
    const char *model, *mesh;
    int64_t zero, microBatches;
  };
  for (auto [model, mesh, zero, microBatches] :
       {Case{"llama", "dp=1", 0, 1}, Case{"gpt2-dropout", "dp=2,tp=2", 0, 2}, Case{"llama", "dp=2", 3, 2}}) {
    SCOPED_TRACE(std::string(model) + " " + mesh);
    OwningOpRef<ModuleOp> module = compile(model, mesh, zero, microBatches);
    ASSERT_TRUE(module);
    MemoryProfile profile = profileStages(*module).front();
    int64_t end = 0;
    for (const LiveBuffer &a : profile.buffers) {
      end = std::max(end, a.offset + a.bytes);
      for (const LiveBuffer &b : profile.buffers)
        if (&a != &b && a.bytes && b.bytes && liveTogether(a, b))
          EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset)
              << a.name << " and " << b.name << " overlap";
    }
    EXPECT_EQ(end, profile.peakBytes);
    EXPECT_LE(profile.mostLive, profile.peakBytes);
    int64_t live = 0, sum = 0;
    for (const LiveBuffer *buffer : profile.getLiveAtPeak())
      live += buffer->bytes;
    for (int64_t bytes : profile.live[profile.fullest])
      sum += bytes;
    EXPECT_EQ(live, profile.mostLive);
    EXPECT_EQ(sum, profile.mostLive);
  }
}

// Points, lifetimes inside a callee's frame, names and types.
TEST_F(MemoryProfileTest, NamesAndLifetimes) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    rank.func @half(%x: !rank.buffer<256>, %y: !rank.buffer<256>) attributes {results = 1 : i64} {
      %a = rank.alloc workspace : !rank.buffer<256>
      rank.kernel ins(%x : !rank.buffer<256>) outs(%a : !rank.buffer<256>) {
      ^bb0(%0: tensor<64xf32>):
        %1 = math.tanh %0 : tensor<64xf32>
        rank.yield %1 : tensor<64xf32>
      }
      rank.copy %a to %y : !rank.buffer<256>, !rank.buffer<256>
      rank.return
    }
    rank.func @whole(%x: !rank.buffer<256>, %y: !rank.buffer<256>) attributes {results = 1 : i64} {
      %h = rank.alloc activations : !rank.buffer<256>
      %f = rank.alloc workspace : !rank.buffer<0>
      rank.call @half frame %f : !rank.buffer<0> ins(%x : !rank.buffer<256>) outs(%h : !rank.buffer<256>)
      rank.copy %h to %y : !rank.buffer<256>, !rank.buffer<256>
      rank.return
    }
    rank.schedule train {
      %w = rank.slot variable "w" parameters {tensor = tensor<64xf32>} : !rank.buffer<256>
      %r = rank.slot residual "0.0" activations {tensor = tensor<64xf32>} : !rank.buffer<256>
      %f = rank.slot frame "forward" workspace : !rank.buffer<0>
      rank.action forward @whole frame %f : !rank.buffer<0> ins(%w : !rank.buffer<256>) outs(%r : !rank.buffer<256>)
          {chunk = 0 : i64, micro_batch = 1 : i64}
      rank.return
    })",
                                                             &context);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  manager.addPass(createPlanMemory());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  MemoryProfile profile = profileStages(*module).front();
  EXPECT_EQ(profile.points,
            (std::vector<std::string>{"forward, micro-batch 1, half: kernel elementwise",
                                      "forward, micro-batch 1, half: copy", "forward, micro-batch 1: copy"}));
  ASSERT_EQ(profile.buffers.size(), 4u);
  auto expect = [&](unsigned number, StringRef name, StringRef type, int64_t begin, int64_t end) {
    const LiveBuffer &buffer = profile.buffers[number];
    EXPECT_EQ(buffer.name, name);
    EXPECT_EQ(buffer.type, type);
    EXPECT_EQ(buffer.begin, begin);
    EXPECT_EQ(buffer.end, end);
  };
  expect(0, "kernel elementwise (forward, micro-batch 1, half)", "tensor<64xf32>", 0, 1);
  expect(1, "copy (forward, micro-batch 1)", "", 0, 2);
  expect(2, "variable w", "tensor<64xf32>", 0, 2);
  expect(3, "saved copy (forward)", "tensor<64xf32>", 0, 2);
  EXPECT_EQ(profile.mostLive, 1024);
  EXPECT_EQ(profile.fullest, 0);
}
