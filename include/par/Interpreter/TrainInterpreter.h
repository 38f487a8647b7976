//===- TrainInterpreter.h - evaluates training steps of a module ---------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_TRAININTERPRETER_H
#define PAR_INTERPRETER_TRAININTERPRETER_H

#include "par/Interpreter/Interpreter.h"
#include <array>
#include <map>
#include <memory>

namespace mlir::par {

/// What the runtime supplies for one optimizer step (docs/IR.md, `par.input`).
struct TrainStep {
  int64_t number = 1;                   ///< from 1; drives bias1 and bias2
  std::vector<Tensor> tokens, targets;  ///< per micro-batch, global: i32 [batch / micro-batches, seq]
  std::array<uint32_t, 2> dropoutKey{}; ///< low word first (docs/Package.md, "Random numbers")
  double lr = 3e-4, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1, clip = 1.0;
};

/// Loss and norm belong to the parameters before the update.
struct TrainResult {
  double loss = 0.0;              ///< mean over the targets that are not −100
  std::optional<double> gradNorm; ///< absent in a graph that has no backward pass
};

/// Holds the variables of a module and runs the chunk functions of docs/IR.md on them: per micro-batch forward and
/// backward, then reduce, norm and update. It takes a graph (forward only), a differentiated module or a partitioned
/// one, whose functions are marked `par.local` and which then runs on all ranks of its mesh. Modules with more than one
/// chunk are refused.
class TrainInterpreter {
public:
  /// Null after emitting an error: no forward function, functions that see a variable in different shardings, a
  /// module of which only some functions are local. `split` runs backward_input and backward_weight, not backward.
  static std::unique_ptr<TrainInterpreter> create(ModuleOp module, bool split = false);

  int64_t getNumRanks() const { return interpreter.getNumRanks(); }
  /// Sets a variable from its logical value; all begin as zeros. False if no function binds it.
  bool setVariable(StringRef name, const Tensor &value);
  /// Logical value of a variable that some function binds.
  std::optional<Tensor> getVariable(StringRef name);
  /// Logical values of all variables of a role, by name of the variable.
  std::map<std::string, Tensor> getVariables(Role role);

  FailureOr<TrainResult> step(const TrainStep &step);
  /// The function of phase `logits`: tokens i32 [batch, seq] → [batch, seq, vocab]. An error if there is none.
  FailureOr<Tensor> logits(const Tensor &tokens);

  /// Largest difference between replicas and largest absolute value in padding met so far, over every value that
  /// was put together: outputs and the variables that were asked for.
  double getReplicaDifference() const { return replicaDifference; }
  double getPadding() const { return padding; }

private:
  /// A variable on every rank, in the sharding in which functions bind it.
  struct State {
    VariableOp variable;
    ShardingAttr sharding; ///< null on one rank
    RankedTensorType localType;
    Tensors shards;
  };
  struct Place; ///< an argument or result of a chunk function

  TrainInterpreter(ModuleOp module, MeshAttr mesh) : interpreter(module, mesh), module(module) {}
  LogicalResult findFunctions(bool split);
  LogicalResult bindVariables(func::FuncOp function);
  LogicalResult bindVariable(const Place &place);
  LogicalResult runFunction(func::FuncOp function, const TrainStep &step, int64_t microBatch);
  FailureOr<Tensors> supply(const Place &place, const TrainStep &step, int64_t microBatch);
  FailureOr<Tensor> getInput(const Place &place, StringRef name, const TrainStep &step, int64_t microBatch);
  FailureOr<double> getScalar(const Place &place, StringRef name, const TrainStep &step, int64_t microBatch);
  LogicalResult take(const Place &place, Tensors values);
  Tensors shard(const Place &place, const Tensor &global, double fill) const;
  Tensor unshard(const Tensors &shards, ShardingAttr sharding, RankedTensorType type);

  Interpreter interpreter;
  ModuleOp module;
  func::FuncOp logitsFunction;
  SmallVector<func::FuncOp> perMicroBatch, perStep; ///< in the order of a step
  std::map<std::string, State> states;
  std::map<int64_t, Tensors> residuals; ///< of the present micro-batch
  std::map<std::string, Tensor> outputs; ///< of the present step
  double replicaDifference = 0.0, padding = 0.0;
};

} // namespace mlir::par

#endif // PAR_INTERPRETER_TRAININTERPRETER_H
