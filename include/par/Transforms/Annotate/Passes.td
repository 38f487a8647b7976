//===- Passes.td - annotate: strategies as shardings --------------------------------------------------------===//
#ifndef PAR_TRANSFORMS_ANNOTATE_PASSES
#define PAR_TRANSFORMS_ANNOTATE_PASSES

include "mlir/Pass/PassBase.td"

def SetMesh : Pass<"par-set-mesh", "::mlir::ModuleOp"> {
  let summary = "gives the module its mesh";
  let description = [{
    **Before:** a graph without `par.mesh`. **After:** `par.mesh @mesh` with the axes of `mesh`, in the order pp, dp, cp, tp whatever order they were
    named in; axes of size 1 are kept so that shardings may name them. An unknown axis is an error.

    `mesh=tp=2,dp=2` → `par.mesh @mesh <["dp"=2, "tp"=2]>`
  }];
  let options = [Option<"mesh", "mesh", "std::string", "\"\"", "axes, for example dp=2,tp=4">];
}

def ShardData : Pass<"par-shard-data", "::mlir::ModuleOp"> {
  let summary = "data parallelism: splits the batch of every input over dp";
  let description = [{
    **Before:** inputs with names of their dimensions (`par.dims`). **After:** their dimension "batch" is split over dp, and nothing else is: parameters
    stay whole, so gradients become sums over dp by themselves. A batch that dp does not divide is an error.

    `%tokens: tensor<8x64xi32> {par.input = "tokens", par.dims = ["batch", "seq"]}` → `… par.sharding = #par.sharding<@mesh, [{"dp"}, {} ]>`
  }];
}

def ShardTensor : Pass<"par-shard-tensor", "::mlir::ModuleOp"> {
  let summary = "tensor parallelism: splits parameters by the names of their dimensions over tp";
  let description = [{
    **Before:** parameters with named dimensions. **After:** the first dimension of a parameter named `vocab`, `heads`, `kv_heads`, `group` or `mlp` is
    split over tp: column-parallel where it is an output of the layer, row-parallel where it is an input, vocabulary-parallel embedding and head
    (Megatron-LM, 1909.08053). For grouped queries tp may be refined into `tp.kv` and `tp.group`, so that `kv_heads` smaller than tp are replicated
    rather than padded: the refinement with the fewest query heads, then kv heads, per rank wins.

    `par.variable @up : tensor<256x64xf32> dims ["mlp", "embed"]` → `… {compute = #par.sharding<@mesh, [{"tp"}, {} ]>}`
  }];
}

#endif // PAR_TRANSFORMS_ANNOTATE_PASSES
