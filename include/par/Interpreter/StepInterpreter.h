//===- StepInterpreter.h - what evaluates training steps --------------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_STEPINTERPRETER_H
#define PAR_INTERPRETER_STEPINTERPRETER_H

#include "par/Dialect/Par/IR/Places.h"
#include "par/Interpreter/Interpreter.h"
#include <array>
#include <map>

namespace mlir::par {

/// What the runtime supplies for one optimizer step (docs/IR.md, `#par.place<input …>`).
struct TrainStep {
  int64_t number = 1; ///< from 1; drives bias1 and bias2
  /// Per micro-batch, global: i32 [batch / micro-batches, seq]. A program that keeps documents apart reads
  /// positions and documents, too.
  std::vector<Tensor> tokens, targets, positions, documents;
  int64_t microBatches = 1; ///< at least; as many as there are tokens or targets of
  int64_t rows = 0;         ///< of all of them; losses are means over rows where there are no tokens
  std::array<uint32_t, 2> dropoutKey{};      ///< low word first (docs/Package.md, "Random numbers")
  std::map<std::string, double> lossWeights; ///< by name; of others the graph's
  /// Values of open inputs by name: one for each micro-batch, or one for the step.
  std::map<std::string, std::vector<Tensor>> openInputs;
  double lr = 3e-4, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1, clip = 1.0;
};

/// Loss and norm belong to the parameters before the update.
struct TrainResult {
  double loss = 0.0;                    ///< sum times the loss scale: a mean over targets, or over rows
  std::map<std::string, double> losses; ///< further ones, by name; not weighted
  std::optional<double> gradNorm;       ///< absent in a graph that has no backward pass
};

/// Holds the variables of a program and evaluates steps on them, on all ranks of a mesh.
class StepInterpreter {
public:
  virtual ~StepInterpreter() = default;

  int64_t getNumRanks() const { return mesh ? mesh.getNumRanks() : 1; }
  /// Sets a variable from its logical value; all begin as zeros. False if the program does not use it.
  virtual bool setVariable(StringRef name, const Tensor &value) = 0;
  /// Logical value of a variable that the program uses.
  virtual std::optional<Tensor> getVariable(StringRef name) = 0;
  /// Logical values of all variables of a role, by name of the variable.
  virtual std::map<std::string, Tensor> getVariables(Role role) = 0;
  /// As Interpreter::setRounding; variables are rounded when they are set.
  virtual void setRounding(bool on) = 0;

  virtual FailureOr<TrainResult> step(const TrainStep &step) = 0;
  /// The logits of the step's first micro-batch: [batch, seq, vocab]. An error if the program computes none.
  virtual FailureOr<Tensor> logits(const TrainStep &step) = 0;

  /// Largest difference between replicas and largest absolute value in padding met so far, over every value
  /// that was put together: outputs and the variables that were asked for.
  double getReplicaDifference() const { return replicaDifference; }
  double getPadding() const { return padding; }

protected:
  explicit StepInterpreter(MeshAttr mesh) : mesh(mesh) {}

  /// The values of losses by their names in a manifest.
  static TrainResult makeResult(const std::map<std::string, double> &losses, std::optional<double> gradNorm);

  /// Shards of an input on all ranks; padding holds `fill`. No sharding: one rank.
  Tensors shard(const Tensor &global, ShardingAttr sharding, RankedTensorType localType, double fill) const;
  /// Puts a value together and remembers how far its shards keep their promises.
  Tensor unshard(const Tensors &shards, ShardingAttr sharding, RankedTensorType type);

  MeshAttr mesh;

private:
  double replicaDifference = 0.0, padding = 0.0;
};

/// An input by its name in a manifest, and the weight that the graph gives to the loss whose weight it is.
struct InputRequest {
  InputKind input;
  std::string name;
  FloatAttr weight; ///< null: 1
};

/// The value of an input for a micro-batch, of logical type `type`. `error` begins the diagnostic of tokens
/// `empty`: accumulators.
FailureOr<Tensor> makeInput(const InputRequest &request, RankedTensorType type, const TrainStep &step,
                            int64_t microBatch, EmptyAccumulators empty,
                            llvm::function_ref<InFlightDiagnostic()> error);
FailureOr<Tensor> makeOpenInput(StringRef name, RankedTensorType type, const TrainStep &step,
                                int64_t microBatch, llvm::function_ref<InFlightDiagnostic()> error);

/// What the padding of an input holds: targets there count for nothing.
inline double getInputFill(StringRef input) {
  return input == stringifyInputKind(InputKind::Targets) ? -100.0 : 0.0;
}

int64_t countMicroBatches(const TrainStep &step);

/// The number that the runtime multiplies losses by: 1 / (targets that count), or 1 / rows without tokens.
double getLossScale(const TrainStep &step);

} // namespace mlir::par

#endif // PAR_INTERPRETER_STEPINTERPRETER_H
