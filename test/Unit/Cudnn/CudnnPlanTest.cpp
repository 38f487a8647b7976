// cuDNN takes the graphs of par's attention and needs the memory that packages plan for it. No GPU is needed
// to ask; nothing is computed.
#include "AttentionShape.h"
#include "cuda/cudnn/AttentionGraph.h"
#include "cuda/cudnn/Deviceless.h"
#include "cuda/cudnn/ExecutionPlan.h"
#include "par/CudnnPlans.h"

#include <gtest/gtest.h>

using namespace par;
using namespace par::test;
using namespace par::cuda;

namespace {

class CudnnPlan : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (io::Status status = loadCudnnWithoutDevice(cudnn); !status.ok())
      GTEST_SKIP() << "no cuDNN to ask: " << status.message();
  }

  par_cudnn_attention formula(const AttentionShape &shape, bool isBackward) const {
    return formulaOf(shape, isBackward, /*isOlder=*/std::string(GetParam()) == "sm_80");
  }

  void prepare(const AttentionWork &work, AttentionGraph &graph, Descriptor &device) {
    io::Status status = graph.write();
    ASSERT_TRUE(status.ok()) << work.describe() << ": " << status.message();
    status = describeChip(GetParam(), device);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// The bytes that the first of cuDNN's proposals needs.
  void plan(const AttentionShape &shape, bool isBackward, int64_t &bytes) {
    AttentionWork work = workOf(shape, isBackward);
    AttentionGraph graph(*cudnn, work);
    Descriptor device(*cudnn);
    ASSERT_NO_FATAL_FAILURE(prepare(work, graph, device));
    ExecutionPlan plan(*cudnn);
    io::Status status = plan.build(graph.get(), device, INT64_MAX);
    ASSERT_TRUE(status.ok()) << work.describe() << ": " << status.message();
    EXPECT_EQ(graph.sharedBytes(), par_cudnn_shared_bytes(formula(shape, isBackward))) << work.describe();
    bytes = graph.sharedBytes() + plan.workspaceBytes();
  }

  void compare(const AttentionShape &shape) {
    for (bool isBackward : {false, true}) {
      int64_t bytes = -1;
      ASSERT_NO_FATAL_FAILURE(plan(shape, isBackward, bytes));
      EXPECT_EQ(bytes, par_cudnn_workspace(formula(shape, isBackward)))
          << workOf(shape, isBackward).describe() << " on " << GetParam();
    }
  }

  const Cudnn *cudnn = nullptr;
};

TEST_P(CudnnPlan, ExampleModels) {
  const AttentionShape shapes[] = {
      {8, 1024, 12, 12, 64, true, 0, true},  // GPT-2
      {16, 1024, 16, 16, 64, true, 0, true}, // medium
      {16, 1024, 20, 20, 64, true, 0, true}, // large
      {16, 1024, 25, 25, 64, true, 0, true}, // XL
      {2, 8192, 32, 8, 64},                  // Llama 3.2 1B
      {1, 8192, 32, 8, 128},                 // Llama 3.1 8B
      {1, 8192, 8, 2, 128},                  // the same, tp=4
      {1, 8192, 64, 8, 128},                 // 70B, Qwen2.5 72B
      {1, 8192, 16, 1, 128},                 // 405B, tp=8
      {1, 16384, 32, 8, 128, true, 4096},    // Mistral 7B
  };
  for (const AttentionShape &shape : shapes)
    compare(shape);
}

TEST_P(CudnnPlan, OtherShapes) {
  const AttentionShape shapes[] = {
      {2, 50, 3, 3, 64},  {2, 65, 3, 3, 8, false},
      {3, 130, 6, 2, 96}, {1, 200, 8, 2, 112, true, 64},
      {2, 7, 4, 1, 32},   {2, 128, 8, 4, 40, true, 100, true},
  };
  for (const AttentionShape &shape : shapes)
    compare(shape);
}

TEST_P(CudnnPlan, LessMemoryIsRefused) {
  AttentionWork work = workOf({2, 256, 4, 2, 64}, true);
  AttentionGraph graph(*cudnn, work);
  Descriptor device(*cudnn);
  ASSERT_NO_FATAL_FAILURE(prepare(work, graph, device));
  ExecutionPlan plan(*cudnn);
  io::Status status = plan.build(graph.get(), device, 1000);
  EXPECT_NE(status.message().find("expected at most 1000"), std::string::npos) << status.message();
}

/// A head of 20 elements is none of cuDNN's.
TEST_P(CudnnPlan, OddHeadsAreRefused) {
  AttentionWork work = workOf({2, 64, 4, 4, 20}, false);
  AttentionGraph graph(*cudnn, work);
  Descriptor device(*cudnn);
  ASSERT_NO_FATAL_FAILURE(prepare(work, graph, device));
  ExecutionPlan plan(*cudnn);
  EXPECT_FALSE(plan.build(graph.get(), device, INT64_MAX).ok());
}

/// What was written down is the same plan, for such a device; else it is none.
TEST_P(CudnnPlan, PlansAreStored) {
  AttentionWork work = workOf({2, 256, 4, 2, 64}, true);
  AttentionGraph graph(*cudnn, work);
  Descriptor device(*cudnn);
  ASSERT_NO_FATAL_FAILURE(prepare(work, graph, device));
  ExecutionPlan plan(*cudnn), same(*cudnn), less(*cudnn), broken(*cudnn);
  ASSERT_TRUE(plan.build(graph.get(), device, INT64_MAX).ok());
  std::string text;
  io::Status status = plan.store(text);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(text.front(), '{');
  EXPECT_EQ(text.back(), '}');
  status = same.restore(text, device, plan.workspaceBytes());
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(same.workspaceBytes(), plan.workspaceBytes());
  EXPECT_NE(less.restore(text, device, plan.workspaceBytes() - 1).message().find("expected at most"),
            std::string::npos);
  EXPECT_FALSE(broken.restore(text.substr(0, text.size() / 2), device, INT64_MAX).ok());
}

/// What par-compile --cudnn-plans puts into a package is what a run restores.
TEST_P(CudnnPlan, PlansOfAPackage) {
  const std::string head =
      R"({"kernels": [{"name": "a", "plan": "attention", "grid": [1, 1, 1], "block": [32, 1, 1],)"
      R"( "shared_bytes": 0, "coords": false, "buffers": []}], "products": [], "attentions": [)";
  const std::string attention =
      R"({"name": "attention_1", "backward": false, "causal": true, "scale": 0.125, "batch": 2, "rows": 128,)"
      R"( "kv_heads": 2, "group": 2, "head_dim": 64, "window": 0, "lse": 4, "workspace": 5,)"
      R"( "workspace_bytes": 256, "buffers": 6, "q": [0, 0, 256], "k": [1, 0, 128], "v": [2, 0, 128],)"
      R"( "out": [3, 0, 256], "launches": [{"kernel": 0, "buffers": []}]})";
  std::string text;
  io::Status status = planAttentionForPackage(head + attention + "]}", GetParam(), text);
  ASSERT_TRUE(status.ok()) << status.message();
  StoredPlans stored;
  ASSERT_TRUE(parse("plans", text, stored).ok());
  EXPECT_TRUE(stored.basis == basisOf(*cudnn, GetParam()));
  ASSERT_EQ(stored.plans.size(), 1u);
  Descriptor device(*cudnn);
  ASSERT_TRUE(describeChip(GetParam(), device).ok());
  ExecutionPlan plan(*cudnn);
  status = plan.restore(stored.plans[0], device, 256);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_NE(planAttentionForPackage(head + "]}", GetParam(), text).message().find("no attention"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Chips, CudnnPlan, testing::Values("sm_90", "sm_80"));

} // namespace
