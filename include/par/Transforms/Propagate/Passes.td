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

def VerifyShardings : Pass<"par-verify-shardings", "::mlir::ModuleOp"> {
  let summary = "checks the form after the phase propagate, and that of explicit reshards";
  let description = [{
    - (shardings_c1) every variable, argument, result and value has a sharding, and no dimension of it is open
    - (shardings_c2) what is unreduced is a sum: one that its op makes (a factor that the rule reduces is split), or one
      that passes through it, as all operands of a set in which the op is linear are unreduced over the axis. A value
      that is unreduced goes into such sets alone. Both ends of a call or return say the same of it. An input, and what
      `par.constrain` gives, is whole.
    - (shardings_c3) whatever accesses a variable has its `compute` sharding

    ```mlir
    %y = par.einsum "bm,me->be"(%x, %w) {par.sharding = [#par.sharding<@mesh, [{}, {} ], unreduced={"tp"}>]} : …
    %z = math.exp %y : …   // error: operand 0 is a sum over "tp" that is not complete, and the op is linear in nothing
    ```
    Propagation leaves sums to `par-insert-reshards`. With `derived` the module is what that gives: every sum says that
    it is one, until a `par.reshard` completes it, and variables are accessed as they are stored (`storage`).
  }];
  let options = [Option<"derived", "derived", "bool", "false",
      "reshards are explicit: sums are unreduced, and variables accessed as stored">];
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
