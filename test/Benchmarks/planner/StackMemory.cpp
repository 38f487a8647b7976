//===- StackMemory.cpp - what a training software holds in memory
//-----------------------------------------===//
#include "StackMemory.h"

using namespace mlir::par;

/// Of a micro-batch on one rank of tensor parallelism.
static double countRows(const Row &row) {
  return double(row.plan.getGraphBatch() * row.plan.countStages() * row.plan.getAxis("tp")) /
         double(row.plan.countRanks()) * double(row.model.seq);
}

static double countKeyElements(const RowModel &model) {
  return double(model.hidden) * double(model.keyHeads) / double(model.heads);
}

/// Of a micro-batch and layer.
static double getSavedBytes(const Row &row, const SavedModel &saved) {
  const RowModel &model = row.model;
  auto ranks = double(row.plan.getAxis("tp")), hidden = double(model.hidden);
  double rows = countRows(row), sequenceRanks = row.plan.sequenceParallel ? ranks : 1;
  if (row.recompute == RowRecompute::Full)
    return 2 * rows * hidden / sequenceRanks; // its input
  double scores = saved.scoreBytes * double(model.heads) * double(model.seq);
  double split = saved.splitBytes * hidden + saved.keyBytes * countKeyElements(model) +
                 saved.widthBytes * double(model.feedForward) + scores;
  return rows * (saved.wholeBytes * hidden / sequenceRanks + split / ranks);
}

/// A layer with a gate has a third product in its feed-forward, and heads of its own behind the last layer.
static bool hasGate(const RowModel &model) {
  return model.keyHeads != model.heads || model.feedForward != 4 * model.hidden;
}

double mlir::par::countLayerParameters(const RowModel &model) {
  auto hidden = double(model.hidden), width = double(model.feedForward);
  return 2 * hidden * (hidden + countKeyElements(model)) + (hasGate(model) ? 3 : 2) * hidden * width;
}

/// Tables on one rank of a stage: that of tokens, also where it is the head, or the head's own.
static double countTableParameters(const Row &row, const SavedModel &saved, bool isFirst, bool isLast) {
  auto ranks = double(row.plan.getAxis("tp"));
  double table = double(row.model.vocabulary) * double(row.model.hidden);
  if (!hasGate(row.model))
    return isFirst || isLast ? table / ranks : 0;
  return (isFirst ? table / (saved.wholeTable ? 1 : ranks) : 0) + (isLast ? table / ranks : 0);
}

/// Where state is divided, a rank has a part of it, and whole what has been gathered or is not reduced yet.
static double getStateBytes(const Row &row, const SavedModel &saved, double layers, double tables) {
  double all = layers + tables;
  if (row.plan.zero < 3)
    return all * (saved.stateBytes + saved.gradientBytes);
  int64_t parts = row.plan.getAxis("dp_shard");
  if (parts <= 1)
    parts = row.plan.getAxis("dp");
  double some =
      tables + saved.gatheredLayers * countLayerParameters(row.model) / double(row.plan.getAxis("tp"));
  double gathered = row.plan.countStages() > 1 ? all : some;
  return all * saved.stateBytes / double(parts) + gathered * saved.gatheredBytes +
         (row.plan.microBatches > 1 ? all * saved.heldBytes : 0);
}

/// Behind the last layer.
static double getLossBytes(const Row &row, const SavedModel &saved) {
  double ranks = saved.splitLogits ? double(row.plan.getAxis("tp")) : 1;
  double norm = saved.normBytes * double(row.model.hidden) /
                (row.plan.sequenceParallel ? double(row.plan.getAxis("tp")) : 1);
  return countRows(row) * (saved.logitBytes * double(row.model.vocabulary) / ranks + norm);
}

bool mlir::par::saysMemory(const Row &row, const SavedModel &saved) {
  return row.recompute == RowRecompute::Full ||
         (row.recompute == saved.with && saved.wholeBytes + saved.splitBytes > 0);
}

double mlir::par::getStackBytes(const Row &row, const SavedModel &saved, llvm::ArrayRef<int64_t> layersOf,
                                llvm::ArrayRef<double> live) {
  size_t stages = live.size();
  double most = 0;
  for (size_t stage = 0; stage < (saved.firstStage ? 1 : stages); ++stage) {
    double layers = 0;
    for (size_t chunk = stage; chunk < layersOf.size(); chunk += stages)
      layers += double(layersOf[chunk]);
    bool isLast = stage + 1 == stages;
    double parameters = layers * countLayerParameters(row.model) / double(row.plan.getAxis("tp"));
    double bytes =
        getStateBytes(row, saved, parameters, countTableParameters(row, saved, stage == 0, isLast)) +
        live[stage] * layers * getSavedBytes(row, saved) + (isLast ? getLossBytes(row, saved) : 0);
    most = std::max(most, bytes);
  }
  return most * saved.reservedShare;
}
