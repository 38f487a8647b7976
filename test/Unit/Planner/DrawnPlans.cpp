//===- DrawnPlans.cpp - random models, and random plans of them -----------------------------------------===//
#include "DrawnPlans.h"
#include "par/Schedule/Schedule.h"
#include "llvm/Support/JSON.h"

using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Patterns of what is not trained: mostly nothing, else a table, a part of every layer, or the first layers.
static Names drawFrozen(Dice &dice, bool isGpt2, bool isTied) {
  std::string table = isGpt2 ? "transformer.wte.*" : "model.embed_tokens.*";
  std::string layers = isGpt2 ? "transformer.h." : "model.layers.";
  switch (dice.below(8)) {
  case 0:
    return {table};
  case 1:
    return {"*.mlp.*"};
  case 2:
    return {table, layers + "0.*"};
  case 3:
    return isTied ? Names{layers + "0.*"} : Names{"lm_head.*"};
  default:
    return {};
  }
}

static void drawTypes(Dice &dice, Plan &plan) {
  plan.dtype = dice.pick({FloatKind::F32, FloatKind::BF16});
  plan.gradType = dice.pick({FloatKind::F32, FloatKind::BF16});
  if (dice.once(4))
    plan.optimizer = OptimizerKind::Sgd;
  else
    plan.momentType = dice.pick({FloatKind::F32, FloatKind::F32, FloatKind::BF16});
  if (dice.once(2)) {
    plan.target = TargetKind::Cuda;
    plan.chip = ChipKind::Sm90;
  }
}

DrawnModel::DrawnModel(uint64_t seed) {
  Dice dice(seed);
  family = dice.pick<const char *>({"gpt2", "llama", "mistral", "olmo", "qwen2"});
  layers = 1 + dice.below(6);
  heads = dice.pick<int64_t>({2, 4});
  isTied = !dice.once(3);
  bool isGpt2 = family == "gpt2";
  int64_t hidden = heads * dice.pick<int64_t>({16, 32}), vocabulary = dice.pick<int64_t>({512, 1000, 4096});
  llvm::json::Object object{
      {"model_type", family}, {"vocab_size", vocabulary}, {"tie_word_embeddings", isTied}};
  if (isGpt2) {
    object["n_positions"] = 256, object["n_embd"] = hidden, object["n_layer"] = layers,
    object["n_head"] = heads;
    for (const char *dropout : {"attn_pdrop", "embd_pdrop", "resid_pdrop"})
      object[dropout] = 0.0;
  } else {
    object["max_position_embeddings"] = 256, object["hidden_size"] = hidden;
    object["intermediate_size"] = hidden * 11 / 4, object["num_hidden_layers"] = layers;
    object["num_attention_heads"] = heads,
    object["num_key_value_heads"] = dice.pick<int64_t>({heads / 2, heads});
    object["hidden_act"] = "silu";
  }
  if (family == "mistral")
    object["sliding_window"] = 16;
  plan.freeze = drawFrozen(dice, isGpt2, isTied);
  plan.seq = dice.pick<int64_t>({16, 32, 64});
  drawTypes(dice, plan);
  llvm::raw_string_ostream(config) << llvm::json::Value(std::move(object));
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static void drawPipeline(Dice &dice, int64_t units, Plan &plan) {
  using Kind = ScheduleKind;
  int64_t stages = plan.countStages();
  if (stages == 1)
    return;
  for (;;) {
    plan.schedule = dice.pick({Kind::GPipe, Kind::OneFOneB, Kind::OneFOneB, Kind::Interleaved, Kind::ZbH1,
                               Kind::ZbH2, Kind::ZbV, Kind::DualPipeV});
    plan.chunks = getUsualChunks(getName(plan.schedule));
    if (plan.schedule == Kind::Interleaved && dice.once(3))
      ++plan.chunks;
    auto placed = placeChunksOf(getName(plan.schedule), {stages, plan.microBatches, plan.chunks});
    if (placed && static_cast<int64_t>(placed->size()) <= units)
      return;
    llvm::consumeError(placed.takeError());
  }
}

static void drawMesh(Dice &dice, int64_t units, int64_t heads, Plan &plan) {
  int64_t pp = std::min(dice.pick<int64_t>({1, 1, 2, 2, 3, 4}), units), dp = dice.pick<int64_t>({1, 2, 4});
  int64_t tp = dice.pick<int64_t>({1, 1, 2, heads});
  plan.mesh.clear();
  if (pp > 1)
    plan.mesh.emplace_back(getAxisName(AxisRole::Pipeline).str(), pp);
  if (dp == 4 && dice.once(3)) {
    plan.mesh.emplace_back("dp_replicate", 2);
    plan.mesh.emplace_back("dp_shard", 2);
  } else {
    plan.mesh.emplace_back("dp", dp);
  }
  if (tp > 1)
    plan.mesh.emplace_back("tp", tp);
  plan.sequenceParallel = tp > 1 && dice.once(2);
  plan.microBatches = dice.pick<int64_t>({1, 2, 4, 8});
  plan.batch = plan.microBatches * dp * dice.pick<int64_t>({1, 1, 2});
  if (dp > 1)
    plan.zero = dice.below(4);
  if (plan.zero == 3 && dice.once(2))
    plan.zero3Gather = GatherTime::PerStep;
}

Plan mlir::par::drawPlan(const DrawnModel &model, uint64_t seed) {
  Dice dice(seed);
  Plan plan = model.plan;
  int64_t units = model.layers + 2;
  drawMesh(dice, units, model.heads, plan);
  drawPipeline(dice, units, plan);
  plan.recompute = dice.pick({RecomputeKind::None, RecomputeKind::Selective, RecomputeKind::Full});
  if (dice.once(3))
    plan.offload = OffloadKind::DeviceUpdate;
  bool isAlone = plan.countRanks() == plan.countStages() && plan.offload == OffloadKind::None;
  plan.overlap = !isAlone && dice.once(2);
  return plan;
}
