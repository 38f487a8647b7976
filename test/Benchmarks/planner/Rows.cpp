//===- Rows.cpp - published training runs ---------------------------------------------------------------===//
#include "Rows.h"
#include "JsonFile.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir::par;
using llvm::StringRef;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Values that may be absent
//===----------------------------------------------------------------------===//

static const json::Object &getPart(const json::Object &row, StringRef key) {
  static const json::Object none;
  const json::Object *part = row.getObject(key);
  return part ? *part : none;
}
static int64_t getCount(const json::Object &part, StringRef key, int64_t absent) {
  return part.getInteger(key).value_or(absent);
}
static double getNumber(const json::Object &part, StringRef key) { return part.getNumber(key).value_or(0); }
static std::string getText(const json::Object &part, StringRef key) {
  return part.getString(key).value_or("").lower();
}
static bool isSaid(const json::Object &part, StringRef key) {
  const json::Value *value = part.get(key);
  return value && value->kind() != json::Value::Null;
}

//===----------------------------------------------------------------------===//
// Parts of a row
//===----------------------------------------------------------------------===//

/// Of layers with a gate: what is left of the model's parameters.
static int64_t solveFeedForward(const RowModel &model, double parameters) {
  auto hidden = double(model.hidden), keys = hidden * double(model.keyHeads) / double(model.heads);
  double tables = 2 * double(model.vocabulary) * hidden;
  double layer = (parameters - tables) / double(model.layers);
  double width = (layer - 2 * hidden * (hidden + keys)) / (3 * hidden);
  return int64_t(llvm::alignTo(uint64_t(std::max(width, 1.0)), 256));
}

static RowModel readModel(const json::Object &part) {
  RowModel model;
  model.name = part.getString("name").value_or("").str();
  model.layers = getCount(part, "layers", 0);
  model.hidden = getCount(part, "hidden", 0);
  model.heads = getCount(part, "heads", 0);
  model.keyHeads = getCount(part, "kv_heads", model.heads);
  model.vocabulary = getCount(part, "vocab", 51200); // GPT-2's, padded, which zb and others use
  model.seq = getCount(part, "seq", 0);
  model.feedForward = getCount(part, "ffn", 0);
  if (model.feedForward == 0 && model.heads > 0 && model.layers > 0 && isSaid(part, "params_b"))
    model.feedForward = solveFeedForward(model, 1e9 * getNumber(part, "params_b"));
  return model;
}

static RowCluster readCluster(const json::Object &part) {
  RowCluster cluster;
  cluster.device = part.getString("gpu").value_or("").str();
  cluster.nodeRanks = getCount(part, "gpus_per_node", 8);
  cluster.ranks = getCount(part, "n_gpus", 0);
  cluster.nodeRate = getNumber(part, "inter_gbps") * 1e9 / 8;
  return cluster;
}

/// The schedule; nothing where par has none such. Zero-bubble schedules are named as in Qi et al., arXiv
/// 2401.10241 and 2405.15362, which has the V-shaped ones.
static std::optional<ScheduleKind> readSchedule(const json::Object &part) {
  std::string name = getText(part, "schedule");
  bool hasChunks = getCount(part, "vpp", 1) > 1;
  return llvm::StringSwitch<std::optional<ScheduleKind>>(name)
      .Case("zb-1p", ScheduleKind::ZbH1) // as much memory as 1F1B
      .Case("zb-2p", ScheduleKind::ZbH2) // twice as much
      .Case("zb-v", ScheduleKind::ZbV)
      .StartsWith("v-", std::nullopt) // V-Half and V-Min
      .Default(hasChunks ? ScheduleKind::Interleaved : ScheduleKind::OneFOneB);
}

static NamedAxes readMesh(const json::Object &part, const RowCluster &cluster) {
  NamedAxes mesh;
  auto add = [&](const char *axis, int64_t size) {
    if (size > 1)
      mesh.emplace_back(axis, size);
  };
  int64_t data = getCount(part, "dp", 1);
  bool isHybrid = StringRef(getText(part, "zero")).contains("hsdp") && data > cluster.nodeRanks;
  add("pp", getCount(part, "pp", 1));
  add(isHybrid ? "dp_replicate" : "dp", isHybrid ? data / cluster.nodeRanks : data);
  if (isHybrid)
    add("dp_shard", cluster.nodeRanks);
  add("tp", getCount(part, "tp", 1));
  if (mesh.empty())
    mesh.emplace_back("dp", 1);
  return mesh;
}

static Plan readPlan(const json::Object &part, const RowModel &model, const RowCluster &cluster) {
  Plan plan;
  plan.seq = model.seq;
  plan.batch = getCount(part, "global_batch", 0);
  plan.dtype = FloatKind::BF16;
  plan.mesh = readMesh(part, cluster);
  std::string zero = getText(part, "zero");
  plan.zero = StringRef(zero).starts_with("3") ? 3 : getCount(part, "zero", 0);
  plan.sequenceParallel = part.getBoolean("sp").value_or(false) && plan.getAxis("tp") > 1;
  plan.schedule = readSchedule(part).value_or(ScheduleKind::OneFOneB);
  if (plan.schedule == ScheduleKind::Interleaved)
    plan.chunks = getCount(part, "vpp", 1);
  else if (plan.schedule == ScheduleKind::ZbV)
    plan.chunks = 2;
  int64_t rows = getCount(part, "dp", 1) * getCount(part, "micro_batch", 0);
  plan.microBatches = rows > 0 && plan.batch % rows == 0 ? plan.batch / rows : 0;
  return plan;
}

static RowRecompute readRecompute(const json::Object &part) {
  std::string name = getText(part, "recompute");
  if (StringRef(name).starts_with("selective"))
    return RowRecompute::Selective;
  return name == "full" ? RowRecompute::Full : RowRecompute::None;
}

//===----------------------------------------------------------------------===//
// What cannot be said as a plan of par
//===----------------------------------------------------------------------===//

static std::string refuse(const json::Object &row, const Row &read) {
  const json::Object &model = getPart(row, "model"), &plan = getPart(row, "plan");
  if (isSaid(model, "moe"))
    return "a mixture of experts";
  for (const char *axis : {"cp", "ep"})
    if (getCount(plan, axis, 1) > 1)
      return std::string(axis) + " is not built";
  if (StringRef(getText(plan, "precision")).contains("fp8"))
    return "fp8 is not built";
  if (!readSchedule(plan))
    return "par has no schedule " + plan.getString("schedule")->str();
  if (read.seconds <= 0)
    return "no step time";
  for (const char *key : {"tp", "pp", "dp", "micro_batch", "global_batch"})
    if (!isSaid(plan, key))
      return std::string("unknown plan: no ") + key;
  const RowModel &shape = read.model;
  if (std::min({shape.layers, shape.hidden, shape.heads, shape.feedForward, shape.seq}) <= 0)
    return "unknown sizes of the model";
  if (read.plan.microBatches == 0 || read.plan.countRanks() != read.cluster.ranks)
    return "the plan's counts do not go together";
  return "";
}

static Row readRow(const json::Object &object) {
  Row row;
  const json::Object &measured = getPart(object, "measured");
  row.id = object.getString("id").value_or("").str();
  row.group = StringRef(row.id).split('-').first.str();
  row.model = readModel(getPart(object, "model"));
  row.cluster = readCluster(getPart(object, "hardware"));
  row.plan = readPlan(getPart(object, "plan"), row.model, row.cluster);
  row.isLayer = object.getString("notes").value_or("").starts_with("ONE transformer layer only");
  row.recompute = readRecompute(getPart(object, "plan"));
  row.sumsInF32 = StringRef(getText(getPart(object, "plan"), "precision")).contains("fp32 grad accum");
  row.seconds = getNumber(measured, "iter_s");
  row.peakBytes = 1e9 * getNumber(measured, "peak_mem_gb");
  row.refusal = refuse(object, row);
  return row;
}

llvm::Expected<std::vector<Row>> mlir::par::readRows(StringRef path) {
  llvm::Expected<json::Value> value = readJson(path);
  if (!value)
    return value.takeError();
  const json::Array *list = value->getAsArray();
  if (const json::Object *object = value->getAsObject())
    list = object->getArray("rows");
  if (!list)
    return makeError(path + ": no list of rows");
  std::vector<Row> rows;
  for (const json::Value &element : *list)
    if (const json::Object *object = element.getAsObject())
      rows.push_back(readRow(*object));
  return rows;
}
