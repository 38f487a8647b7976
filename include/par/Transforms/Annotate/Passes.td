//===- Passes.td - annotate: strategies as shardings --------------------------------------------------------===//
#ifndef PAR_TRANSFORMS_ANNOTATE_PASSES
#define PAR_TRANSFORMS_ANNOTATE_PASSES

include "mlir/Pass/PassBase.td"

def SetMesh : Pass<"par-set-mesh", "::mlir::ModuleOp"> {
  let summary = "gives the module its mesh";
  let description = [{
    **Before:** a graph without `par.mesh`. **After:** `par.mesh @mesh` with the axes of `mesh`, in the order pp, dp,
    cp, tp whatever order they were named in; axes of size 1 are kept so that shardings may name them. An unknown axis
    is an error. dp may be given as its parts, `dp_replicate` outside `dp_shard` (hybrid sharding: state is stored in
    parts over the latter only), with or without dp itself, their product.

    `mesh=tp=2,dp=2` → `par.mesh @mesh <["dp"=2, "tp"=2]>`
  }];
  let options = [Option<"mesh", "mesh", "std::string", "\"\"", "axes, for example dp=2,tp=4">];
}

def RefineMesh : Pass<"par-refine-mesh", "::mlir::ModuleOp"> {
  let summary = "numbers the ranks of some axes of the mesh in a second way";
  let description = [{
    **Before:** a module with a mesh. **After:** the ranks of the adjacent axes `over` have the names `into` beside
    their own. Axes are split where both ways of numbering need it, and shardings name the parts. What is a whole axis
    of the mesh is one again; everything else that has a name is a view.

    `over=dp,tp into=edp=2,ep=4`: `par.mesh @mesh <["dp"=4, "tp"=2]>` →
    `par.mesh @mesh <["dp.0"=2, "dp.1"=2, "tp"=2], {edp = ["dp.0"], ep = ["dp.1", "tp"]}>`

    Experts may then be split over ep where dense parameters are split over tp: ZeRO stores each in parts over the axes
    of state that it is not split over.
  }];
  let options = [ListOption<"over", "over", "std::string", "adjacent axes of the mesh, outermost first">,
                 ListOption<"into", "into", "std::string", "axes as name=size, outermost first">];
}

def FreezeParameters : Pass<"par-freeze-parameters", "::mlir::ModuleOp"> {
  let summary = "parameters that are not trained, by patterns of their names";
  let description = [{
    **Before:** a forward graph. **After:** parameters whose name in the model's files one of `patterns` matches have
    `par.frozen`, and calls of one layer agree on which of its arguments depend on a parameter that is trained: where
    they do not, the layer is cloned. Differentiation, which goes by functions, then computes nothing for frozen
    parameters, and nothing at all for layers that only frozen ones feed.

    A pattern that matches no parameter is an error, and so is a graph in which nothing is left to train.

    `patterns=model.embed_tokens.*` → `par.variable @embed : … {par.frozen, …}`
  }];
  let options = [ListOption<"patterns", "patterns", "std::string",
                            "names of parameters; `*` is any text, `?` any character">];
}

def ShardData : Pass<"par-shard-data", "::mlir::ModuleOp"> {
  let summary = "data parallelism: splits the batch of every input over dp (or its parts)";
  let description = [{
    **Before:** inputs with names of their dimensions (`par.dims`). **After:** their dimension "batch" is split over
    dp, and nothing else is: parameters stay whole, so gradients become sums over dp by themselves. A batch that dp
    does not divide is an error.

    `%tokens: tensor<8x64xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]}` → `… par.sharding
    = #par.sharding<@mesh, [{"dp"}, {} ]>`
  }];
}

def ShardTensor : Pass<"par-shard-tensor", "::mlir::ModuleOp"> {
  let summary = "tensor parallelism: splits parameters by the names of their dimensions over tp";
  let description = [{
    **Before:** parameters with named dimensions. **After:** the first dimension of a parameter named `vocab`,
    `heads`, `kv_heads`, `group` or `mlp` is split over tp: column-parallel where it is an output of the layer,
    row-parallel where it is an input, vocabulary-parallel embedding and head (Megatron-LM, 1909.08053). For grouped
    queries tp may be refined into `tp.kv` and `tp.group`, so that `kv_heads` smaller than tp are replicated rather
    than padded: the refinement with the fewest query heads, then kv heads, per rank wins.

    `par.variable @up : tensor<256x64xf32> dims ["mlp", "embed"]` →
    `… {compute = #par.sharding<@mesh, [{"tp"}, {} ]>}`
  }];
}

def SearchSharding : Pass<"par-search-sharding", "::mlir::ModuleOp"> {
  let summary = "tensor parallelism without names: the splits of parameters over tp that take the least time";
  let description = [{
    **Before:** a forward graph, with or without names of dimensions, on a mesh with `tp`. **After:** every parameter
    that had no `compute` sharding has one, as par-shard-tensor writes it.

    An integer program chooses by which factor every op is split and how every tensor lies, so that a step takes the
    least time: products by their flops, other ops by their bytes, a collective wherever a layout changes, forward and
    of gradients, updates by what a rank holds. One row bounds the bytes of parameters on a rank. Equal functions are
    one, with the weight of all their calls. docs/Planner.md says more. Where all parameters have `par.split`, what
    was found before, nothing is searched.

    `par.variable @up : tensor<256x64xf32> dims ["", ""]` → `… {compute = #par.sharding<@mesh, [{"tp"}, {} ]>}`
  }];
  let options = [
    Option<"parameterLimit", "parameter-limit", "int64_t", "0",
           "most bytes of parameters on a rank; 0: a twentieth above the least there can be">,
    Option<"flops", "flops", "double", "400e12", "of products, per second">,
    Option<"memory", "memory", "double", "3.35e12", "bytes of memory per second">,
    Option<"link", "link", "double", "100e9", "bytes between ranks per second">,
    Option<"latency", "latency", "double", "10e-6", "seconds until a collective has begun">,
    Option<"explain", "explain", "bool", "false", "a remark with what was found">];
}

def ShardSequence : Pass<"par-shard-sequence", "::mlir::ModuleOp"> {
  let summary = "sequence parallelism: splits what lies between tensor-parallel products along seq over tp";
  let description = [{
    **Before:** parameters split over tp (par-shard-tensor) and inputs with a dimension named "seq". **After:**
    `constrain` ops around the ops that use such a parameter. The result of one that sums over tp (row-parallel
    products, the vocabulary-parallel embedding) is wanted split along seq; an operand of one that does not
    (column-parallel products) is wanted whole along seq. Propagation does the rest: norms, dropout and residuals work
    on seq/tp rows, and each all-reduce of a partial sum becomes a reduce-scatter, and an all-gather before the next
    product, of the same bytes in total (Korthikanti et al., 2205.05198). Which dimension is the sequence follows from
    the inputs through the factors of ops. A mesh with cp has sequences split over it: whole is then what a
    tensor-parallel group has of a sequence, and between products seq is over cp and tp. Without tp larger than one
    nothing changes.

    ```mlir
    // before
    %y = par.einsum "bsm,em->bse"(%h, %w) : ...       // m over tp
    // after
    %y = par.einsum "bsm,em->bse"(%h, %w) : ...
    %0 = par.constrain %y <@mesh, [{?}, {}, {?} ]> : ...         // keeps the product itself whole along seq
    %1 = par.constrain %0 <@mesh, [{?}, {"tp"}, {?} ]> : ...     // all users see this
    ```
  }];
  let dependentDialects = ["::mlir::par::ParDialect"];
}

def ShardZero : Pass<"par-shard-zero", "::mlir::ModuleOp"> {
  let summary = "ZeRO: how parameters and the state that belongs to them are stored";
  let description = [{
    **Before:** a forward graph whose parameters have their `compute` shardings. **After:** storage shardings, and
    nothing else: moments, masters and reduced gradients from stage 1, accumulators from stage 2, parameters from
    stage 3 (Rajbhandari et al., 1910.02054). State that does not exist yet is described by `par.state_storage` of its
    parameter. Collectives follow from the shardings: a reduce-scatter of gradients and an all-gather of updated
    parameters per step (stage 1), a reduce-scatter per micro-batch (2), and an all-gather wherever a parameter is
    read (3). In stages 0 and 1 accumulators stay whole and unreduced, so gradients are reduced once per step.

    A tensor is split over dp × cp (with `dp_shard`: over that instead of dp), minor to tp, in the first dimension
    whose shard after tp the group divides, else in the one that gains the least padding. Of a parameter that is split
    over some of these axes already, the group has the rest.

    ```mlir
    par.variable @up : tensor<256x64xf32> dims ["mlp", "embed"] {compute = #par.sharding<@mesh, [{"tp"}, {} ]>, …}
    → {compute = …, storage = #par.sharding<@mesh, [{"tp", "dp"}, {}
        ]>, par.state_storage = {accumulator = #par.sharding<@mesh, [{"tp", "dp"}, {} ]>, …}, …}   // stage 3
    ```
  }];
  let options = [Option<"stage", "stage", "int64_t", "0", "0 to 3">];
}

#endif // PAR_TRANSFORMS_ANNOTATE_PASSES
