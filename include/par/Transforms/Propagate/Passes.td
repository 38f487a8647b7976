//===- Passes.td - propagate: forward shardings complete and closed -----------------------------------------===//
#ifndef PAR_TRANSFORMS_PROPAGATE_PASSES
#define PAR_TRANSFORMS_PROPAGATE_PASSES

include "mlir/Pass/PassBase.td"

def PropagateShardings : Pass<"par-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "completes shardings through factors";
  let description = [{
    **Before:** some variables, inputs and `constrain` ops have shardings. **After:** every tensor value, function
    result and variable has a closed one. Functions that are called with variables of different shardings were cloned.

    Every op's rule links dimensions by factors; axes flow along them both ways until nothing changes. An axis that
    two dimensions claim in one op goes where the modelled bytes of resharding are least. Only dimensions propagate;
    what is unreduced is derived by `par-insert-reshards`.
  }];
  let options = [
    Option<"explain", "explain", "bool", "false",
      "a remark for every value that gains an axis, with where it came from">,
    Option<"origins", "origins", "bool", "true",
      "say at every op where its axes come from (`par.origin`), for remarks on collectives">];
}

def PrintShardingRules : Pass<"par-print-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "a remark with the sharding rule of every op on tensors";
  let description = [{
    **Before and after:** the same module; nothing is changed.

    For tests and for those who ask why a value could not be sharded:
    `remark: #par.rule<([a, b], [c, b])->([a, c]) {a=8, b=64, c=16} reduction={b} linear=[{0}, {1} ]>`.
  }];
}

#endif // PAR_TRANSFORMS_PROPAGATE_PASSES
