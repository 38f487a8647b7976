//===- PlanSearchTest.cpp - nothing is lost by bounds and estimates
//---------------------------------------===//
#include "par/Planner/PlanSearch.h"
#include "par/Cost/ClusterFile.h"
#include "par/Import/Import.h"
#include "par/Register/Register.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

/// A small space: a model, ranks, and memory of a device.
struct Space {
  int64_t layers, ranks, batch;
  double memory; ///< bytes
  bool overlaps; ///< also plans with overlap
};

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

class PlanSearchTest : public ::testing::TestWithParam<Space> {
protected:
  PlanSearchTest() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    cluster = cantFail(readCluster(PAR_CLUSTERS "dgx-h100.json"));
    cluster.device.contextBytes = cluster.device.communicatorBytes = 0;
    cluster.device.memoryBytes = GetParam().memory;
    cluster.nodeRanks = 2; // so that links differ
    cluster.links.front().ranks = 2;
    request.ranks = GetParam().ranks;
    request.plan.batch = GetParam().batch;
    request.plan.seq = 128;
    request.plan.dtype = FloatKind::BF16;
    if (!GetParam().overlaps)
      request.pinned.insert("overlap");
    writeConfig();
  }

  void writeConfig() {
    llvm::SmallString<64> path;
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("planner", "json", path));
    config = path.str().str();
    std::error_code error;
    llvm::raw_fd_ostream(config, error)
        << R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 2048, "hidden_size": 256,
            "intermediate_size": 704, "num_attention_heads": 4, "num_key_value_heads": 4, "hidden_act": "silu",
            "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "attention_bias": false,
            "mlp_bias": false, "tie_word_embeddings": false, "num_hidden_layers": )"
        << GetParam().layers << "}";
  }
  ~PlanSearchTest() override { llvm::sys::fs::remove(config); }

  OwningOpRef<ModuleOp> import(const Plan &plan) {
    ImportOptions options;
    options.model = config;
    options.seq = plan.seq;
    options.batch = plan.getGraphBatch();
    options.dtype = "bf16";
    options.logits = false;
    return importModel(context, options);
  }
  PlanTrials::Import getImport() {
    return [this](const Plan &plan) { return import(plan); };
  }

  /// Every plan and what makes it smaller, cut as the search cuts it.
  std::vector<Plan> listAll() {
    UnitTables tables(context, cluster, getImport());
    PlanEstimator estimator(cluster, tables);
    std::vector<Plan> plans, all;
    visitPlans(request, static_cast<int64_t>(tables.getKinds(request.plan).size()),
               [&](const Plan &plan) { plans.push_back(plan); });
    for (size_t i = 0; i < plans.size(); ++i)
      for (Plan &smaller : findSmallerPlans(request, Plan(plans[i])))
        plans.push_back(std::move(smaller));
    for (Plan &plan : plans)
      if (std::optional<PlanEstimate> estimate = estimator.estimate(plan)) {
        plan.cuts = estimate->cuts;
        all.push_back(plan);
      }
    return all;
  }

  MLIRContext context;
  Cluster cluster;
  PlanRequest request;
  std::string config;
};

TEST_P(PlanSearchTest, FindsTheBestOfAllPlans) {
  PlanSearch search(context, cluster, request, getImport());
  SearchResult result = search.run(1);
  ASSERT_FALSE(result.plans.empty());
  const FoundPlan &found = result.plans.front();
  EXPECT_LE(static_cast<double>(found.size.getPeak()), search.getUsableBytes(found.plan));
  double best = std::numeric_limits<double>::infinity();
  std::vector<Plan> all = listAll();
  for (const Plan &plan : all) {
    std::optional<FoundPlan> judged = search.judge(plan);
    if (!judged || static_cast<double>(judged->size.getPeak()) > search.getUsableBytes(plan))
      continue;
    best = std::min(best, judged->seconds);
    if (plan == found.plan) {
      EXPECT_EQ(judged->seconds, found.seconds);
      EXPECT_EQ(judged->size.getPeak(), found.size.getPeak());
    }
  }
  EXPECT_EQ(found.seconds, best) << all.size() << " plans";
  // Far fewer are compiled than there are.
  EXPECT_LT(result.compiled, static_cast<int64_t>(all.size()) / 4);
}

/// Memory is ample, short of what the quickest plan takes, or short for all but a few.
INSTANTIATE_TEST_SUITE_P(Spaces, PlanSearchTest,
                         ::testing::Values(Space{2, 2, 4, 1e9, true}, Space{2, 4, 4, 60e6, false},
                                           Space{4, 2, 2, 48e6, true}));

} // namespace
