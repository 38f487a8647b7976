//===- StackMemory.cpp - what a training software holds in memory
//-----------------------------------------===//
#include "StackMemory.h"

using namespace mlir::par;

/// Of a micro-batch and layer.
static double getSavedBytes(const Row &row, const SavedModel &saved) {
  const RowModel &model = row.model;
  auto ranks = double(row.plan.getAxis("tp"));
  double rows = double(row.plan.getGraphBatch() * row.plan.countStages()) * ranks /
                double(row.plan.countRanks()) * double(model.seq);
  double whole = saved.wholeBytes / (row.plan.sequenceParallel ? ranks : 1);
  double scores = saved.scoreBytes * rows * double(model.heads) * double(model.seq) / ranks;
  return rows * double(model.hidden) * (whole + saved.splitBytes / ranks) + scores;
}

static double countLayerParameters(const RowModel &model) {
  auto hidden = double(model.hidden), width = double(model.feedForward);
  double keys = hidden * double(model.keyHeads) / double(model.heads);
  bool hasGate = model.keyHeads != model.heads || width != 4 * hidden;
  return 2 * hidden * (hidden + keys) + (hasGate ? 3 : 2) * hidden * width;
}

double mlir::par::getStackBytes(const Row &row, const SavedModel &saved, llvm::ArrayRef<int64_t> layersOf,
                                llvm::ArrayRef<double> live) {
  auto ranks = double(row.plan.getAxis("tp"));
  size_t stages = live.size();
  double most = 0;
  for (size_t stage = 0; stage < stages; ++stage) {
    double layers = 0;
    for (size_t chunk = stage; chunk < layersOf.size(); chunk += stages)
      layers += double(layersOf[chunk]);
    double parameters = layers * countLayerParameters(row.model);
    if (stage == 0 || stage + 1 == stages) // the table of tokens, also where it is the head
      parameters += double(row.model.vocabulary) * double(row.model.hidden);
    double state = parameters / ranks * saved.stateBytes;
    most = std::max(most, state + live[stage] * layers * getSavedBytes(row, saved));
  }
  return most;
}
