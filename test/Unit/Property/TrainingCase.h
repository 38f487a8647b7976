//===- TrainingCase.h - one graph, trained for a step in several ways -------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_PROPERTY_TRAININGCASE_H
#define PAR_TEST_UNIT_PROPERTY_TRAININGCASE_H

#include "mlir/IR/OwningOpRef.h"
#include "par/Interpreter/TrainInterpreter.h"

namespace mlir::par::test {

/// What one step gives.
struct Outcome {
  double loss = 0.0;
  std::map<std::string, double> losses;                ///< further ones
  std::map<std::string, Tensor> gradients, parameters; ///< by name of the variable
  double replicaDifference = 0.0, padding = 0.0;
};

/// A graph with random parameters and inputs that depend on `seed` alone.
class TrainingCase {
public:
  TrainingCase(MLIRContext &context, OwningOpRef<ModuleOp> graph, uint64_t seed, int64_t microBatches = 1);

  /// The graph after `pipeline` (none = as it is), one step of it. None after a failure, with the diagnostics
  /// in `error`.
  std::optional<Outcome> run(const std::string &pipeline);
  /// What the gradient is of: the sum of losses times weights of the graph alone with `values` in place of
  /// its parameters.
  std::optional<double> evaluate(const std::map<std::string, Tensor> &values);
  const std::map<std::string, Tensor> &getParameters() const { return parameters; }

  std::string error;

private:
  void makeInputs(uint64_t seed, int64_t microBatches);

  MLIRContext &context;
  OwningOpRef<ModuleOp> graph;
  std::map<std::string, Tensor> parameters;
  TrainStep inputs;
  std::unique_ptr<TrainInterpreter> plain;
};

/// Forward, backward and update on one rank.
extern const char *const differentiatePipeline;
/// The same from a graph with shardings, on all ranks of its mesh: differentiated, with options of
/// par-differentiate-pipeline, and partitioned; sequence parallelism first, if wanted.
std::string getPartitionPipeline(const std::string &differentiation, bool sequenceParallel,
                                 const std::string &schedule, int64_t largestValue);
/// The same, with collectives started, within limits that `seed` draws.
std::string getOverlapPipeline(const std::string &partition, int64_t microBatches, uint64_t seed);
/// What `partition` gives, further to a rank program.
std::string getLowerPipeline(const std::string &partition, int64_t microBatches, int64_t largestValue);
/// Forward only, partitioned.
extern const char *const partitionForwardPipeline;

/// Empty if gradients of every parameter agree with central differences up to `tolerance` times the largest
/// element of the gradient (at least 1), else what differs. At most `elements` elements of a parameter are
/// tried.
std::string checkGradients(TrainingCase &test, double tolerance, int64_t elements);

/// Empty if the outcomes agree up to `tolerance` times the largest element, and promises about replicas and
/// padding are kept.
std::string compareOutcomes(const Outcome &expected, const Outcome &actual, double tolerance);

} // namespace mlir::par::test

#endif // PAR_TEST_UNIT_PROPERTY_TRAININGCASE_H
