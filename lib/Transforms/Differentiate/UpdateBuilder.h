//===- UpdateBuilder.h - functions over the state of all parameters ---------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_UPDATEBUILDER_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_UPDATEBUILDER_H

#include "FunctionWriter.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::par {

/// A parameter and the state that belongs to it; `master` is null where the parameter is its own, `moments`
/// is empty for sgd, m and v for adamw.
struct ParameterState {
  VariableOp parameter, accumulator, master, gradient;
  SmallVector<VariableOp> moments;
  std::optional<bool> decays; ///< as `decay-on` says; nothing: by rank

  /// What an update reads: master or parameter, gradient, moments.
  SmallVector<VariableOp> getInputs() const {
    SmallVector<VariableOp> inputs{master ? master : parameter, gradient};
    inputs.append(moments);
    return inputs;
  }
  /// What it gives, in the order of the optimizer's results: all of these but the gradient, then the
  /// parameter where there is a master.
  SmallVector<VariableOp> getOutputs() const {
    SmallVector<VariableOp> outputs{master ? master : parameter};
    outputs.append(moments);
    if (master)
      outputs.push_back(parameter);
    return outputs;
  }
};

/// Writes `@update` and the update functions of layers.
class UpdateBuilder {
public:
  /// `forward` is the chunk's differentiated forward function; new functions go to the end of the module.
  UpdateBuilder(ModuleOp module, func::FuncOp forward, ArrayRef<ParameterState> states, bool adamw)
      : module(module), symbols(module), forward(forward), states(states), adamw(adamw) {}
  /// Fills `update`, an empty function, but for its `finish`.
  /// `readNorm` adds the argument that has the norm, behind those of state, and gives its value.
  void build(FunctionWriter &update, llvm::function_ref<Value()> readNorm);

private:
  /// Values of one parameter's state: getInputs(); after an update getOutputs().
  using Values = SmallVector<Value>;
  /// Entry `part` of the inputs or outputs of the parameter at `position` of a group.
  struct Part {
    unsigned part, position;
    VariableOp variable;
  };

  void addArguments(FunctionWriter &update, llvm::function_ref<Value()> readNorm);
  Value buildClipFactor(OpBuilder &builder, Location location, Value clip, Value norm);
  SmallVector<Value> buildUpdate(OpBuilder &builder, Location location, unsigned index, ArrayRef<Value> state,
                                 ArrayRef<Value> scalars);
  DenseMap<Operation *, SmallVector<unsigned>> groupByCall();
  func::FuncOp getLayerUpdate(StringRef layer, ArrayRef<unsigned> group);
  func::FuncOp createLayerUpdate(StringRef name, ArrayRef<unsigned> group);
  void callLayerUpdate(OpBuilder &builder, CallOp call, ArrayRef<unsigned> group);
  /// Part 0 of all parameters of a group, then part 1: parameters, gradients, first moments, second moments.
  SmallVector<Part> listParts(ArrayRef<unsigned> group, bool outputs);
  SmallVector<unsigned> listAll() const { return llvm::to_vector(llvm::seq<unsigned>(0, states.size())); }
  bool hasDecay(unsigned index) const;
  /// Gradient, moments and parameter are updated as the gradient lies: parameters are cut before and put
  /// together after it.
  ShardingAttr getUpdateSharding(unsigned index) const {
    VariableOp gradient = states[index].gradient;
    return gradient.getComputeAttr();
  }

  ModuleOp module;
  SymbolTable symbols;
  func::FuncOp forward;
  ArrayRef<ParameterState> states;
  bool adamw;
  SmallVector<Values> arguments; ///< of @update, per parameter
  SmallVector<Values> updated;   ///< parameter, then moments
  SmallVector<Value> scalars;    ///< in the order of the optimizer's op, the clip factor last
  llvm::StringMap<func::FuncOp> layerUpdates;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_UPDATEBUILDER_H
