//===- Propagation.h - the fixed point of sharding propagation --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PROPAGATE_PROPAGATION_H
#define PAR_LIB_TRANSFORMS_PROPAGATE_PROPAGATION_H

#include "par/Sharding/FactorAssignment.h"
#include <deque>

namespace mlir::par {

/// Clones functions that are called with variables of different compute shardings, so that each has one set.
void specializeCallees(ModuleOp module);

/// What is known of one value (or function result, or variable): axes per dimension, which dimensions may
/// still gain axes, and per axis the annotation it came from.
struct ShardingState {
  DimAxes dims;
  SmallVector<bool> open;
  Axes replicated;
  llvm::SmallDenseMap<StringAttr, StringAttr> origins;
  int64_t changed = 0; ///< when it last gained axes, in changes of all states

  bool uses(StringAttr axis) const;
  /// Whether it is known where each of its axes comes from.
  bool isExplained() const;
  StringAttr getOrigin(StringAttr axis) const { return origins.lookup(axis); }
};

/// Axes flow along factors until nothing changes.
class Propagation {
public:
  Propagation(ModuleOp module, MeshAttr mesh, double flopsPerByte, bool explain)
      : module(module), symbols(module), mesh(mesh), flopsPerByte(flopsPerByte), explain(explain) {}

  /// Takes the annotations of variables, arguments, results and `constrain` ops.
  void seed();
  void run();
  /// Writes closed shardings to every value, function result and variable.
  void writeShardings();
  /// Writes `par.origin` to every op.
  void writeOrigins();

private:
  using ResultKey = std::pair<Operation *, unsigned>;

  ShardingState &add(Value value, ShardingState state);
  ShardingState &get(Value value);
  ShardingState &get(func::FuncOp function, unsigned result);
  /// `origin`: of its axes, if the sharding is an annotation.
  ShardingState makeState(RankedTensorType type, ShardingAttr sharding, StringRef origin);
  /// The state that a variable, what belongs to it and everything bound to them share; null for no variable.
  ShardingState *getShared(FlatSymbolRefAttr symbol);
  void seedVariables();
  void seedFunction(func::FuncOp function);

  /// Gives every value the origins of its axes, from where they are known; then the fallbacks.
  void findOrigins();
  void spreadOrigins();
  bool copyOrigins(Operation *op);
  void writeOrigins(Operation *op);

  /// What propagates, in what way, and at which change it last did.
  struct RuledOp {
    Operation *op;
    RuleAttr rule;
    int64_t visited = -1;
  };
  bool visit(RuledOp &ruled);
  bool hasNews(const RuledOp &ruled);
  bool visitRule(Operation *op, RuleAttr rule);
  bool visitCall(CallOp call);
  bool visitReturn(func::ReturnOp op);
  /// Extends `state` along one dimension; true if it changed.
  bool extend(ShardingState &state, unsigned dim, ArrayRef<StringAttr> axes, int64_t size,
              function_ref<StringAttr(StringAttr)> origin);
  /// Lets two states of one shape gain from each other.
  bool join(ShardingState &a, ShardingState &b, RankedTensorType type);

  ModuleOp module;
  SymbolTable symbols;
  MeshAttr mesh;
  double flopsPerByte;
  int64_t changes = 0; ///< of states, so far
  bool explain;
  std::deque<std::pair<Value, ShardingState>> values; ///< those that belong to no variable
  llvm::DenseMap<Value, ShardingState *> states;
  std::map<ResultKey, ShardingState> results;
  std::map<std::string, ShardingState> variables;     ///< by the parameter that they belong to
  llvm::DenseMap<StringAttr, ShardingState *> shared; ///< variable → its entry of `variables`
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PROPAGATE_PROPAGATION_H
