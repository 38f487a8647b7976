//===- PredictRow.h - what par predicts for a published run ------------------------------------*- C++
//-*-===//
#ifndef PAR_BENCHMARKS_PLANNER_PREDICTROW_H
#define PAR_BENCHMARKS_PLANNER_PREDICTROW_H

#include "Devices.h"
#include "Rows.h"
#include "Stack.h"
#include "mlir/IR/MLIRContext.h"
#include "par/Cost/TimeTerms.h"

namespace mlir::par {

struct RowPrediction {
  double seconds = 0;
  TimeTerms terms;
  double peakBytes = 0; ///< of par's own run by that plan
};

/// Compiles the rows' plans and replays their steps on the clusters of a folder.
class RowPredictor {
public:
  RowPredictor(MLIRContext &context, std::string clusters, std::vector<RowDevice> devices)
      : context(context), clusters(std::move(clusters)), devices(std::move(devices)) {}

  /// Errors: a device without a cluster file, a plan that does not compile.
  llvm::Expected<RowPrediction> predict(const Row &row, const Stack &stack);

private:
  llvm::Expected<RowPrediction> predictLayer(const Row &row, const Stack &stack);
  llvm::Expected<Cluster> makeCluster(const RowCluster &asked, const Stack &stack) const;
  llvm::Expected<RowPrediction> predict(const Row &row, const Stack &stack, RecomputeKind recompute,
                                        const Cluster &cluster);

  MLIRContext &context;
  const std::string clusters;
  const std::vector<RowDevice> devices;
};

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_PREDICTROW_H
