//===- PredictRow.cpp - what par predicts for a published run -------------------------------------------===//
#include "PredictRow.h"
#include "StackMachine.h"
#include "StackMemory.h"
#include "par/Compile/PlanFlags.h"
#include "par/Compile/PlanTrials.h"
#include "par/Cost/ClusterFile.h"
#include "par/Cost/PredictStep.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Import/Import.h"
#include "par/Support/MakeError.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Divisible among tensor-parallel ranks, as Megatron pads it.
static int64_t padVocabulary(const Row &row) {
  return int64_t(llvm::alignTo(uint64_t(row.model.vocabulary), uint64_t(128 * row.plan.getAxis("tp"))));
}

/// Two products of a layer's width, or three of two thirds of it, are as much work.
static bool isGpt(const RowModel &model) {
  return model.keyHeads == model.heads && model.feedForward == 4 * model.hidden;
}

static json::Object describeGpt(const Row &row) {
  const RowModel &model = row.model;
  return json::Object{{"model_type", "gpt2"},
                      {"n_layer", model.layers},
                      {"n_embd", model.hidden},
                      {"n_head", model.heads},
                      {"n_inner", model.feedForward},
                      {"n_positions", model.seq},
                      {"vocab_size", padVocabulary(row)},
                      {"attn_pdrop", 0.0},
                      {"embd_pdrop", 0.0},
                      {"resid_pdrop", 0.0}};
}

static json::Object describeLlama(const Row &row) {
  const RowModel &model = row.model;
  // Four times the hidden size is a layer without a gate.
  int64_t width = model.feedForward == 4 * model.hidden ? model.feedForward / 3 * 2 : model.feedForward;
  return json::Object{{"model_type", "llama"},
                      {"num_hidden_layers", model.layers},
                      {"hidden_size", model.hidden},
                      {"num_attention_heads", model.heads},
                      {"num_key_value_heads", model.keyHeads},
                      {"intermediate_size", width},
                      {"max_position_embeddings", model.seq},
                      {"vocab_size", padVocabulary(row)},
                      {"tie_word_embeddings", false}};
}

namespace {
/// A config in a file of its own, while it lives.
class ConfigFile {
public:
  static llvm::Expected<ConfigFile> write(json::Object config) {
    ConfigFile file;
    int descriptor = 0;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("row", "json", descriptor, file.path))
      return makeError("a temporary file: " + code.message());
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << json::Value(std::move(config));
    return file;
  }
  ConfigFile(ConfigFile &&other) noexcept : path(std::move(other.path)) { other.path.clear(); }
  ConfigFile &operator=(ConfigFile &&) = delete;
  ~ConfigFile() {
    if (!path.empty())
      llvm::sys::fs::remove(path);
  }
  std::string getPath() const { return path.str().str(); }

private:
  ConfigFile() = default;
  llvm::SmallString<64> path;
};
} // namespace

//===----------------------------------------------------------------------===//
// The cluster
//===----------------------------------------------------------------------===//

/// A network of another rate.
static void scaleNetwork(LinkLevel &level, double nodeRate) {
  double by = nodeRate / level.perNode;
  level.perNode = nodeRate;
  level.message.scale(std::min(by, 1.0)); // a rank has one adapter
  for (auto *list : {&level.allReduce, &level.allGather, &level.reduceScatter, &level.allToAll})
    for (CollectiveRates &rates : *list)
      rates.rate.scale(by);
}

/// The row's nodes and network, and what the software reaches of it.
static void adaptNetwork(Cluster &cluster, const RowCluster &asked, const Stack &stack) {
  LinkLevel &network = cluster.links.back();
  if (asked.nodeRate > 0)
    scaleNetwork(network, asked.nodeRate);
  if (asked.nodeRanks != cluster.nodeRanks) {
    if (asked.nodeRate <= 0) // as many adapters as devices
      scaleNetwork(network, network.perNode * double(asked.nodeRanks) / double(cluster.nodeRanks));
    cluster.links.front().ranks = cluster.nodeRanks = asked.nodeRanks;
  }
  if (stack.networkShare != 1)
    scaleNetwork(network, network.perNode * stack.networkShare);
}

/// The software's own kernels, on the row's variant of the device.
static llvm::Error adaptDevice(Cluster &cluster, const RowDevice &variant, const Stack &stack) {
  DeviceModel &device = cluster.device;
  if (stack.attention) {
    auto rates = stack.attention->getRates(cluster.chip, device.products.peakBF16);
    if (!rates)
      return rates.takeError();
    device.attention = std::move(*rates);
  }
  device.products.share *= stack.productsRate;
  variant.apply(device);
  return llvm::Error::success();
}

llvm::Expected<Cluster> RowPredictor::makeCluster(const RowCluster &asked, const Stack &stack) const {
  const RowDevice *device = findDevice(devices, asked.device);
  if (!device)
    return makeError("no cluster file of " + asked.device);
  llvm::Expected<Cluster> cluster = readCluster(clusters + "/" + device->cluster + ".json");
  if (!cluster)
    return cluster;
  adaptNetwork(*cluster, asked, stack);
  if (llvm::Error error = adaptDevice(*cluster, *device, stack))
    return error;
  return cluster;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// As many layers in every chunk, where that can be; what is before and behind them counts as a layer where
/// that makes it even.
static std::vector<int64_t> cutEvenly(const Row &row, int64_t units) {
  int64_t chunks = row.plan.countStages() * row.plan.chunks, layers = row.model.layers;
  std::vector<int64_t> cuts;
  if (chunks == 1 || units != layers + 2)
    return cuts;
  bool isEven = layers % chunks == 0;
  if (!isEven && units % chunks != 0)
    return cuts;
  for (int64_t chunk = 1; chunk < chunks; ++chunk)
    cuts.push_back(isEven ? 1 + chunk * layers / chunks : chunk * units / chunks);
  return cuts;
}

/// Layers of every chunk, where units before and behind them are no layers.
static std::vector<int64_t> countLayers(const Row &row, llvm::ArrayRef<int64_t> cuts) {
  int64_t chunks = row.plan.countStages() * row.plan.chunks;
  if (cuts.empty())
    return std::vector<int64_t>(size_t(chunks), row.model.layers / chunks);
  std::vector<int64_t> counts;
  int64_t begin = 1;
  for (int64_t cut : cuts) {
    counts.push_back(cut - begin);
    begin = cut;
  }
  counts.push_back(row.model.layers + 1 - begin);
  return counts;
}

/// The rows that a tensor-parallel rank has of a micro-batch.
static int64_t countRows(const Plan &plan) {
  return plan.getGraphBatch() * plan.countStages() * plan.getAxis("tp") / plan.countRanks() * plan.seq;
}

/// The ratio of bytes that the software's kernels move to those of par's program for the plan.
static double compareKernels(const Row &row, const Plan &plan, const Stack &stack, ModuleOp module) {
  bool transposes = !(plan.sequenceParallel && stack.sequenceFirst);
  double own = countKernelBytes(module, transposes);
  if (!stack.passes || own == 0)
    return 1;
  auto count = [&](const KernelPasses &passes) {
    return passes.count(plan.getAxis("tp"), plan.sequenceParallel);
  };
  double forward = count(stack.passes->forward), backward = count(stack.passes->backward);
  double passes = forward * (plan.recompute == RecomputeKind::Full ? 2 : 1) + backward;
  return passes * 2 * double(countRows(plan)) * double(row.model.hidden) / own;
}

static LayerWork describeLayer(const Row &row, const Plan &plan, MeshAttr mesh) {
  LayerWork layer;
  int64_t ranks = plan.getAxis("tp"), rows = countRows(plan);
  layer.layersOf = countLayers(row, plan.cuts);
  layer.last = {FloatKind::BF16, 1, rows, row.model.hidden, row.model.feedForward / ranks};
  layer.logits = double(rows) * double(padVocabulary(row)) / double(ranks);
  layer.parameters = countLayerParameters(row.model) / double(ranks);
  layer.splitsSequence = plan.sequenceParallel;
  layer.isRunAgain = plan.recompute == RecomputeKind::Full;
  if (ranks == 1)
    return layer;
  Exchange sum;
  sum.kind = plan.sequenceParallel ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce;
  sum.bytes = 2 * double(rows) * double(row.model.hidden);
  sum.axes.push_back(size_t(mesh.getPosition("tp")));
  layer.sum = sum;
  return layer;
}

/// Without bubbles: what the stage that computes longest computes and sends.
static double getBusySeconds(const PredictedStep &step) {
  std::vector<double> sent(step.timeline.stages.size());
  for (const TimedMessage &message : step.timeline.messages)
    sent[size_t(message.send.stage)] += message.end - message.begin;
  return step.terms.sum() - step.terms.pipeline + *llvm::max_element(sent);
}

llvm::Expected<RowPrediction> RowPredictor::predict(const Row &row, const Stack &stack,
                                                    RecomputeKind recompute, const Cluster &cluster) {
  llvm::Expected<ConfigFile> file =
      ConfigFile::write(isGpt(row.model) ? describeGpt(row) : describeLlama(row));
  if (!file)
    return file.takeError();
  PlanTrials trials(context, CompilePhase::Import, [&](const Plan &plan) {
    ImportOptions options;
    options.model = file->getPath();
    options.seq = plan.seq;
    options.batch = plan.getGraphBatch();
    options.dtype = getName(plan.dtype).str();
    options.logits = false;
    return importModel(context, options);
  });
  Plan plan = row.plan;
  plan.target = cluster.target;
  completeChip(plan, {});
  plan.recompute = recompute;
  plan.overlap = stack.overlap || stack.overlapTensor;
  if (plan.countStages() > 1)
    plan.cuts = cutEvenly(row, int64_t(trials.measureUnits(plan).size()));
  OwningOpRef<ModuleOp> module = trials.compile(plan);
  if (!module)
    return makeError("the plan does not compile");
  bool attentionAgain = row.recompute == RowRecompute::Selective && stack.selectiveLayers == 0;
  MeshAttr mesh = getMesh(*module);
  LayerWork layer = describeLayer(row, plan, mesh);
  layer.kernelBytes = compareKernels(row, plan, stack, *module);
  StackMachine machine(cluster, mesh, stack, attentionAgain, std::move(layer));
  FailureOr<PredictedStep> step = predictStep(*module, machine);
  if (failed(step))
    return makeError("the step cannot be replayed");
  RowPrediction prediction;
  const Timeline &timeline = step->timeline;
  prediction.seconds =
      stack.hasNoBubble && plan.schedule == ScheduleKind::ZbH2 ? getBusySeconds(*step) : timeline.end;
  prediction.terms = step->terms;
  prediction.terms.pipeline -= timeline.end - prediction.seconds;
  double bytes = stack.saved && saysMemory(row, *stack.saved)
                     ? getStackBytes(row, *stack.saved, countLayers(row, plan.cuts), timeline.peakLive)
                     : double(PlanSize::measure(*module).getPeak());
  prediction.peakBytes = bytes / (stack.isBinary ? double(1 << 30) / 1e9 : 1);
  return prediction;
}

/// Part of the layers by one, the others by the other.
static RowPrediction mix(const RowPrediction &left, const RowPrediction &right, double share) {
  RowPrediction mixed;
  mixed.seconds = (1 - share) * left.seconds + share * right.seconds;
  mixed.peakBytes = (1 - share) * left.peakBytes + share * right.peakBytes;
  mixed.terms.add(left.terms, 1 - share);
  mixed.terms.add(right.terms, share);
  return mixed;
}

/// A layer alone: what a micro-batch more takes of two layers, less what it takes of one.
llvm::Expected<RowPrediction> RowPredictor::predictLayer(const Row &row, const Stack &stack) {
  RowPrediction layer;
  for (int64_t layers : {1, 2})
    for (int64_t microBatches : {1, 2}) {
      Row part = row;
      part.isLayer = false;
      part.model.layers = layers;
      part.plan.batch *= microBatches;
      part.plan.microBatches *= microBatches;
      llvm::Expected<RowPrediction> prediction = predict(part, stack);
      if (!prediction)
        return prediction;
      double sign = layers == microBatches ? 1 : -1;
      layer.seconds += sign * prediction->seconds;
      layer.terms.add(prediction->terms, sign);
    }
  return layer;
}

llvm::Expected<RowPrediction> RowPredictor::predict(const Row &asked, const Stack &usual) {
  const Stack stack = asked.sumsInF32 ? sumInF32(usual) : usual;
  if (asked.isLayer)
    return predictLayer(asked, stack);
  Row row = asked;
  if (row.plan.countStages() > 1 && !stack.stagesSplitSequence)
    row.plan.sequenceParallel = false;
  llvm::Expected<Cluster> cluster = makeCluster(row.cluster, stack);
  if (!cluster)
    return cluster.takeError();
  if (row.recompute == RowRecompute::Full)
    return predict(row, stack, RecomputeKind::Full, *cluster);
  llvm::Expected<RowPrediction> none = predict(row, stack, RecomputeKind::None, *cluster);
  if (!none || row.recompute == RowRecompute::None || stack.selectiveLayers == 0)
    return none;
  llvm::Expected<RowPrediction> full = predict(row, stack, RecomputeKind::Full, *cluster);
  if (!full)
    return full;
  return mix(*none, *full, stack.selectiveLayers);
}
