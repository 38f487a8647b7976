//===- StateRowsTest.cpp - rows say what compiled units store and exchange ------------------------------===//
#include "TinyModel.h"
#include "par/Planner/UnitTables.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// A Llama in bf16 whose gradients and moments are f32, with two ranks' parts of state unless a test says
/// else.
class StateRowsTest : public ::testing::Test {
protected:
  explicit StateRowsTest(Names frozen = {}) : StateRowsTest(TinyModel(2, 64, 512, std::move(frozen))) {}
  explicit StateRowsTest(TinyModel &&given)
      : model(std::move(given)), cluster(cantFail(readCluster(PAR_CLUSTERS "dgx-h100.json"))),
        workers(cluster, model.getImport(), 1), tables(workers) {
    plan.seq = 16;
    plan.batch = 64;
    plan.microBatches = 8;
    plan.dtype = FloatKind::BF16;
    plan.mesh = {{"dp", 8}};
  }

  /// "forward all_gather parts started", for each row of collectives, in the order of actions.
  std::vector<std::string> listCollectives() {
    static constexpr const char *kinds[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
    std::vector<std::string> list;
    const StateRows *rows = tables.getRows(plan);
    if (!rows)
      return {"does not compile"};
    for (const CollectiveRow &row : rows->collectives)
      list.push_back((stringifyActionKind(row.action) + " " + kinds[static_cast<size_t>(row.kind)] + " " +
                      print(row.over) + (row.isStarted ? " started" : ""))
                         .str());
    return list;
  }
  static std::string print(DataAxes over) {
    static constexpr const char *names[] = {"none", "parts", "replicas", "all"};
    return names[static_cast<size_t>(over)];
  }
  /// "gradients parts 2", for each row of a weight's memory, by how many times its bytes.
  std::vector<std::string> listMemory() {
    std::vector<std::string> list;
    for (const MemoryRow &row : tables.getRows(plan)->variables.lookup("layers.0.mlp.up_proj.weight"))
      list.push_back((rank::stringifyCategory(row.category) + " " + print(row.over) + " " +
                      llvm::Twine(static_cast<int>(row.perByte)) + (row.isOnHost ? " host" : "") +
                      (row.lifetime == Lifetime::Passes ? " passes" : ""))
                         .str());
    llvm::sort(list);
    return list;
  }
  using List = std::vector<std::string>;

  TinyModel model;
  Cluster cluster;
  Plan plan;
  PlanWorkers workers;
  UnitTables tables;
};

// Ranks without ZeRO have all of everything, and add gradients up once, behind all micro-batches.
TEST_F(StateRowsTest, WithoutZeroAllIsWhole) {
  EXPECT_EQ(listMemory(), List({"gradients none 2", "optimizer none 2", "optimizer none 2",
                                "optimizer none 2", "parameters none 1"}));
  EXPECT_EQ(listCollectives(), List({"reduce all_reduce all"}));
}

// Stage 1 has whole gradients until they are scattered into parts, which replicas then add up.
TEST_F(StateRowsTest, StageOneScattersOnce) {
  plan.zero = 1;
  EXPECT_EQ(listMemory(), List({"gradients none 2", "gradients parts 2", "optimizer parts 2",
                                "optimizer parts 2", "optimizer parts 2", "parameters none 1"}));
  EXPECT_EQ(listCollectives(),
            List({"reduce all_reduce replicas", "reduce reduce_scatter parts", "update all_gather parts"}));
}

// Stage 2 scatters each micro-batch's gradients; what the last backward pass does more is counted once.
TEST_F(StateRowsTest, StageTwoScattersEachMicroBatch) {
  plan.zero = 2;
  plan.overlap = true;
  EXPECT_EQ(listMemory(), List({"gradients parts 2", "optimizer parts 2", "optimizer parts 2",
                                "optimizer parts 2", "parameters none 1"}));
  EXPECT_EQ(listCollectives(),
            List({"backward reduce_scatter parts started", "backward_last all_reduce replicas started",
                  "update all_gather parts started"}));
}

// Stage 3 gathers parameters forward and back, or once for all passes, which lie whole until then.
TEST_F(StateRowsTest, StageThreeGathers) {
  plan.zero = 3;
  plan.overlap = true;
  EXPECT_EQ(listCollectives(),
            List({"forward all_gather parts started", "backward all_gather parts started",
                  "backward reduce_scatter parts started", "backward_last all_reduce replicas started"}));
  plan.zero3Gather = GatherTime::PerStep;
  EXPECT_EQ(listCollectives(), List({"gather all_gather parts", "backward reduce_scatter parts started",
                                     "backward_last all_reduce replicas started"}));
  EXPECT_EQ(listMemory(), List({"communication none 1 passes", "gradients parts 2", "optimizer parts 2",
                                "optimizer parts 2", "optimizer parts 2", "parameters parts 1"}));
}

// A split backward pass gathers in its first part and scatters what the second one makes; the schedule's
// whole passes are there, too.
TEST_F(StateRowsTest, PartsOfABackwardPass) {
  plan.zero = 3;
  plan.overlap = true;
  plan.mesh.insert(plan.mesh.begin(), {"pp", 2});
  plan.schedule = ScheduleKind::ZbH1;
  List list = listCollectives();
  for (const char *row :
       {"backward_input all_gather parts started", "backward_weight reduce_scatter parts started",
        "backward_weight_last all_reduce replicas started", "backward reduce_scatter parts started"})
    EXPECT_TRUE(llvm::is_contained(list, row)) << row;
  EXPECT_FALSE(llvm::is_contained(list, "backward_weight all_gather parts started"));
}

// Offloaded state lies on the host, and is copied there and back, a tensor at a time.
TEST_F(StateRowsTest, OffloadedStateIsCopied) {
  plan.zero = 1;
  plan.offload = OffloadKind::DeviceUpdate;
  EXPECT_EQ(listMemory(), List({"gradients none 2", "gradients parts 2", "optimizer parts 2 host",
                                "optimizer parts 2 host", "optimizer parts 2 host", "parameters none 1"}));
  const StateRows *rows = tables.getRows(plan);
  EXPECT_DOUBLE_EQ(rows->copiedPerByte, 2);
  EXPECT_DOUBLE_EQ(rows->copiesPerTensor, 2);
  EXPECT_FALSE(rows->startsCopies);
  EXPECT_EQ(rows->updatedOver, DataAxes::Parts);
}

// One compilation serves all plans that store and exchange alike, whatever their ranks and rows.
TEST_F(StateRowsTest, PlansShareRows) {
  plan.zero = 2;
  const StateRows *rows = tables.getRows(plan);
  plan.mesh = {{"dp_replicate", 4}, {"dp_shard", 8}, {"tp", 2}};
  plan.batch = 128;
  plan.recompute = RecomputeKind::Full;
  EXPECT_EQ(tables.getRows(plan), rows);
  plan.overlap = true;
  EXPECT_NE(tables.getRows(plan), rows);
}

class FrozenRowsTest : public StateRowsTest {
protected:
  FrozenRowsTest() : StateRowsTest({"lm_head.*"}) {}
};

// A parameter that is not trained is gathered, but has nothing that is scattered, and nothing beside it.
TEST_F(FrozenRowsTest, AreGatheredAndNotScattered) {
  plan.zero = 3;
  const StateRows *rows = tables.getRows(plan);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->variables.lookup("lm_head.weight").size(), 1U);
  for (const CollectiveRow &row : rows->collectives)
    EXPECT_EQ(row.variables.contains("lm_head.weight"), row.kind == CollectiveKind::AllGather)
        << stringifyActionKind(row.action).str();
}

/// GPT-2 with 25 heads, of which two ranks have no equal parts: theirs are of another dimension than the
/// first, and are transposed before they are exchanged and behind it.
class TransposedRowsTest : public StateRowsTest {
protected:
  TransposedRowsTest()
      : StateRowsTest(TinyModel(
            R"({"model_type": "gpt2", "vocab_size": 50257, "n_embd": 1600, "n_head": 25, "n_layer": 2, "n_positions": 64})")) {
  }
};

// Rows are of those parameters too: one byte for each that is gathered, two for each that is summed up in
// f32. What is exchanged last is taken to run beside others, as what is exchanged before it does.
TEST_F(TransposedRowsTest, AreOfWhatIsTransposed) {
  plan.zero = 3;
  plan.overlap = true;
  EXPECT_EQ(listCollectives(),
            List({"forward all_gather parts started", "backward all_gather parts started",
                  "backward reduce_scatter parts started", "backward_last all_reduce replicas started"}));
  const StateRows *rows = tables.getRows(plan);
  for (const CollectiveRow &row : rows->collectives) {
    EXPECT_TRUE(row.variables.contains("h.0.attn.c_attn.weight")) << stringifyActionKind(row.action).str();
    EXPECT_DOUBLE_EQ(row.perByte, row.kind == CollectiveKind::AllGather ? 1 : 2);
  }
}

} // namespace
