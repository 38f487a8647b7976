//===- TrainInterpreter.h - evaluates training steps of a module ------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_TRAININTERPRETER_H
#define PAR_INTERPRETER_TRAININTERPRETER_H

#include "par/Interpreter/StepInterpreter.h"
#include <memory>

namespace mlir::par {

/// Holds the variables of a module and runs the chunk functions of docs/IR.md on them: per micro-batch
/// forward and backward, then reduce, norm and update. It takes a graph (forward only), a differentiated
/// module or a partitioned one, whose functions are marked `par.local` and which then runs on all ranks of
/// its mesh. Modules with more than one chunk are refused.
class TrainInterpreter : public StepInterpreter {
public:
  /// Null after emitting an error: no forward function, functions that see a variable in different shardings,
  /// a module of which only some functions are local. `split` runs backward_input and backward_weight, not
  /// backward.
  static std::unique_ptr<TrainInterpreter> create(ModuleOp module, bool split = false);

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
      : StepInterpreter(mesh), interpreter(module, mesh), module(module) {}
  LogicalResult findFunctions(bool split);
  LogicalResult bindVariables(func::FuncOp function);
  LogicalResult bindVariable(const Place &place);
  LogicalResult runFunction(func::FuncOp function, const TrainStep &step, int64_t microBatch);
  FailureOr<Tensors> supply(const Place &place, const TrainStep &step, int64_t microBatch);
  LogicalResult take(const Place &place, Tensors values);

  Interpreter interpreter;
  ModuleOp module;
  func::FuncOp logitsFunction;
  SmallVector<func::FuncOp> beforeStep, perMicroBatch, lastMicroBatch, perStep; ///< in the order of a step
  std::map<std::string, State> states;
  std::map<int64_t, Tensors> residuals; ///< of the present micro-batch
  std::map<OutputKind, Tensor> outputs; ///< of the present step
};

} // namespace mlir::par

#endif // PAR_INTERPRETER_TRAININTERPRETER_H
