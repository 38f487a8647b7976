//===- TrainInterpreter.h - evaluates training steps of a module ------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_TRAININTERPRETER_H
#define PAR_INTERPRETER_TRAININTERPRETER_H

#include "par/Interpreter/StepInterpreter.h"
#include "par/Schedule/Schedule.h"
#include <memory>

namespace mlir::par {

/// Holds the variables of a module and runs its chunk functions on them in the order of a schedule
/// (par/Schedule/Schedule.h). It takes a graph (forward only), a differentiated
/// module or a partitioned one, whose functions are marked `par.local` and which then runs on all ranks of
/// its mesh. Modules with more than one chunk are refused.
class TrainInterpreter : public StepInterpreter {
public:
  /// Null after emitting an error: no forward function, functions that see a variable in different shardings,
  /// a module of which only some functions are local, a schedule that one chunk does not have. Without the
  /// name of a schedule it is the plan's, and without a plan 1f1b.
  static std::unique_ptr<TrainInterpreter> create(ModuleOp module, StringRef schedule = "");

  bool setVariable(StringRef name, const Tensor &value) override;
  std::optional<Tensor> getVariable(StringRef name) override;
  std::map<std::string, Tensor> getVariables(Role role) override;
  void setRounding(bool on) override { interpreter.setRounding(on); }

  FailureOr<TrainResult> step(const TrainStep &step) override;
  FailureOr<Tensor> logits(const Tensor &tokens) override;

private:
  /// A variable on every rank, in the sharding in which functions bind it.
  struct State {
    VariableOp variable;
    ShardingAttr sharding; ///< null on one rank
    RankedTensorType localType;
    Tensors shards;
  };
  struct Place; ///< an argument or result of a chunk function

  TrainInterpreter(ModuleOp module, MeshAttr mesh)
      : StepInterpreter(mesh), interpreter(module, mesh), module(module), functions(module) {}
  LogicalResult findFunctions();
  /// What a step runs, in its order.
  FailureOr<std::vector<Action>> listActions(int64_t microBatches);
  /// The function that does it, null if there is none.
  func::FuncOp find(ActionKind kind) const;
  LogicalResult bindVariables(func::FuncOp function);
  LogicalResult bindVariable(const Place &place);
  LogicalResult runFunction(func::FuncOp function, const TrainStep &step, int64_t microBatch);
  FailureOr<Tensors> supply(const Place &place, const TrainStep &step, int64_t microBatch);
  LogicalResult take(const Place &place, Tensors values, int64_t microBatch);

  Interpreter interpreter;
  ModuleOp module;
  ChunkFunctions functions;
  std::string schedule;     ///< its name
  bool hasBackward = false; ///< a backward function that is not the last micro-batch's alone
  int64_t chunk = 0;
  StepParts parts;
  std::optional<Accumulation> accumulation; ///< of a step
  bool isFirst = false;                     ///< the present call finds its accumulators empty
  std::map<std::string, State> states;
  /// Of micro-batches whose backward pass is still to come, by micro-batch and number.
  std::map<int64_t, std::map<int64_t, Tensors>> residuals;
  std::map<OutputKind, Tensor> outputs; ///< of the present step
};

} // namespace mlir::par

#endif // PAR_INTERPRETER_TRAININTERPRETER_H
