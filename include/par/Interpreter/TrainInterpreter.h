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
/// its mesh. Of a module of several chunks it runs them in plain order, each stage with variables of its own.
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
  FailureOr<Tensor> logits(const TrainStep &step) override;

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
      : StepInterpreter(mesh), interpreter(module, mesh), module(module), functions(module), symbols(module) {
  }
  LogicalResult findFunctions();
  /// What a step runs, in its order.
  FailureOr<std::vector<Action>> listActions(int64_t microBatches);
  std::vector<Action> listPlainly(int64_t microBatches) const;
  SmallVector<ActionKind, 2> listBackward(int64_t chunk, bool isLast) const;
  /// The function that does it, null if there is none.
  func::FuncOp find(const Action &action) const;
  /// Adds up, over the stages that have it, what a role of variables holds, and gives all the sum.
  void sumOverStages(llvm::function_ref<bool(VariableOp)> isSummed);
  LogicalResult bindVariables(func::FuncOp function);
  LogicalResult bindVariable(const Place &place);
  LogicalResult runAction(const Action &action, const TrainStep &step);
  LogicalResult runFunction(func::FuncOp function, const TrainStep &step, int64_t microBatch);
  FailureOr<Tensors> supply(const Place &place, const TrainStep &step, int64_t microBatch);
  LogicalResult take(const Place &place, Tensors values, int64_t microBatch);

  Interpreter interpreter;
  ModuleOp module;
  ChunkFunctions functions;
  SymbolTable symbols;
  std::string schedule;     ///< its name
  bool hasBackward = false; ///< a backward function that is not the last micro-batch's alone
  StepParts parts;
  std::map<int64_t, Accumulation> accumulation; ///< of a step, by stage
  EmptyAccumulators empty;                      ///< of the present call
  using StageName = std::pair<int64_t, std::string>;
  std::map<StageName, State> states; ///< by stage and name
  /// Of micro-batches whose backward pass is still to come, by chunk, micro-batch and number.
  std::map<std::pair<int64_t, int64_t>, std::map<int64_t, Tensors>> residuals;
  /// What crosses a cut: the place where it is taken, by the chunk that does, the direction (whether it is a
  /// cotangent), the micro-batch and the number.
  std::map<std::tuple<int64_t, bool, int64_t, int64_t>, Tensors> boundaries;
  std::map<std::string, Tensor> outputs; ///< of the present step, by name in a manifest
};

} // namespace mlir::par

#endif // PAR_INTERPRETER_TRAININTERPRETER_H
