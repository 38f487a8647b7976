//===- ParAttributes.td - meshes, shardings, rules and descriptions of state --------------------------------===//
#ifndef PAR_ATTRIBUTES
#define PAR_ATTRIBUTES

include "par/Dialect/Par/IR/FileAttributes.td"

def Par_Role : Par_Enum<"Role", "what a variable is for", [
  Case<"Parameter", 0, "parameter">, Case<"Accumulator", 1, "accumulator">, Case<"Gradient", 2, "gradient">,
  Case<"Moment", 3, "moment">, Case<"Master", 4, "master">, Case<"Step", 5, "step">,
  Case<"Gathered", 6, "gathered">]>;
def Par_RoleAttr : Par_EnumAttr<Par_Role, "role">;

def Par_InitKind : Par_Enum<"InitKind", "how a variable begins", [
  Case<"Normal", 0, "normal">, Case<"Zeros", 1, "zeros">, Case<"Ones", 2, "ones">]>;

def Par_ReduceKind : Par_Enum<"ReduceKind", "what a reduction does with two elements", [
  Case<"Sum", 0, "sum">, Case<"Max", 1, "max">, Case<"Min", 2, "min">]>;
def Par_ReduceKindAttr : EnumAttr<Par_Dialect, Par_ReduceKind, "reduce_kind"> { let assemblyFormat = "$value"; }

def Par_MemorySpace : Par_Enum<"MemorySpace", "where a buffer lives", [
  Case<"Device", 0, "device">, Case<"Host", 1, "host">]>;
def Par_MemorySpaceAttr : Par_EnumAttr<Par_MemorySpace, "space">;

def Par_FactorKind : Par_Enum<"FactorKind", "what a sharded factor asks for", [
  Case<"PassThrough", 0, "pass_through">, Case<"Reduction", 1, "reduction">,
  Case<"NeedReplication", 2, "need_replication">, Case<"Permutation", 3, "permutation">]>;

def Par_MeshViewAttr : Par_Attr<"MeshView", "view"> {
  let summary = "Another name of the ranks that some axes of a mesh number, major first";
  let parameters = (ins "::mlir::StringAttr":$name, ArrayRefParameter<"::mlir::StringAttr">:$axes);
  let assemblyFormat = "`<` $name `=` `[` $axes `]` `>`";
}

def Par_MeshAttr : Par_Attr<"Mesh", "mesh"> {
  let summary = "Named axes of devices, outermost first, and views: other names over the same ranks";
  let description = [{
    `<["dp"=2, "tp"=4]>`. Rank = row-major position. An axis `a.b` is a refinement of the user's axis `a`; the
    refinements of an axis are adjacent and their sizes multiply to its size.

    `<["dp.0"=2, "dp.1"=2, "tp"=4], {ep = ["dp.1", "tp"]}>`: `ep` is a view, the name of eight ranks that dense layers
    number by a part of dp and by tp. An axis that has parts is a view of them without being listed: `dp` here, `tp`
    of `tp.kv` and `tp.group`, and `dp` of `dp_replicate` and `dp_shard` (the table of Axes.h). Shardings may name
    views until `par-refine-mesh` or propagation writes the axes that they stand for.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names, ArrayRefParameter<"int64_t">:$sizes,
                        OptionalArrayRefParameter<"::mlir::par::MeshViewAttr">:$views);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$names,
                                   "::llvm::ArrayRef<int64_t>":$sizes), [{
    return $_get($_ctxt, names, sizes, ::llvm::ArrayRef<::mlir::par::MeshViewAttr>());
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumRanks() const;
    bool hasAxis(::llvm::StringRef name) const { return getPosition(name) >= 0; }
    /// Whether it is an axis, one that has parts, or a view.
    bool hasName(::llvm::StringRef name) const;
    /// Position of an axis, -1 if there is none.
    int64_t getPosition(::llvm::StringRef name) const;
    /// The axes that a name stands for: itself, those of a view, or the parts of an axis. Empty if it is unknown.
    ::llvm::SmallVector<::mlir::StringAttr> getAxes(::llvm::StringRef name) const;
    /// Axes larger than 1 that have a role.
    ::llvm::SmallVector<::mlir::StringAttr> getAxes(AxisRole role) const;
    /// Number of ranks of an axis or of a view; 1 if the mesh has none of that name.
    int64_t getSize(::llvm::StringRef name) const;
    /// Product of the sizes of `axes`.
    int64_t getSize(::llvm::ArrayRef<::mlir::StringAttr> axes) const;
    /// How manifest, metrics and reports name a group of ranks: the view that consists of just these axes, or the
    /// user's axes larger than 1 to which `axes` belong, in the mesh's order.
    ::llvm::SmallVector<::llvm::StringRef> getUserAxes(::llvm::ArrayRef<::llvm::StringRef> axes) const;
  }];
}

def Par_DimShardingAttr : Par_Attr<"DimSharding", "dim"> {
  let summary = "The axes over which one dimension is split, major first; open (`?`) if propagation may add more";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, "bool":$open);
  let hasCustomAssemblyFormat = 1;
}

def Par_ShardingAttr : Par_Attr<"Sharding", "sharding"> {
  let summary = "How a tensor lies on the mesh";
  let description = [{
    `#par.sharding<@mesh, [{"dp"}, {}, {"tp", ?} ], replicated={"pp"}, unreduced={"cp"}>`: per dimension the axes that
    split it; over `unreduced` axes the value is the sum of the ranks' tensors; over all other axes it is replicated
    (`replicated` names axes that propagation must keep so). A dimension of size n over axes with k coordinates in all
    has shards of ⌈n/k⌉ elements; what lies beyond n is padding.

    **Constraints:**
    - (sharding_c1) every axis is one of the mesh
    - (sharding_c2) no axis is used twice
    - (sharding_c3) as many dimensions as the tensor has
    - (sharding_c4) the mesh is the module's, if it has one
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, ArrayRefParameter<"::mlir::par::DimShardingAttr">:$dims,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$replicated,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$unreduced);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Closed, replicated everywhere.
    static ShardingAttr getReplicated(::mlir::MLIRContext *context, ::llvm::StringRef mesh, int64_t rank,
        bool open = false);
    /// Closed, from a list of axes per dimension.
    static ShardingAttr get(::mlir::MLIRContext *context, ::llvm::StringRef mesh,
                            ::llvm::ArrayRef<::llvm::SmallVector<::mlir::StringAttr>> dims,
                            ::llvm::ArrayRef<::mlir::StringAttr> unreduced = {});
    ::llvm::ArrayRef<::mlir::StringAttr> getAxes(int64_t dim) const { return getDims()[dim].getAxes(); }
    bool isFullyReplicated() const;
    /// Axes that split some dimension.
    ::llvm::SmallVector<::mlir::StringAttr> getShardedAxes() const;
    ShardingAttr withUnreduced(::llvm::ArrayRef<::mlir::StringAttr> axes) const;
    /// The same with every dimension closed.
    ShardingAttr close() const;
    /// No dimension is open and nothing is unreduced: a way in which state may lie in memory.
    bool isStorage() const;
    /// Shape of one shard: ⌈n/k⌉ per dimension.
    ::llvm::SmallVector<int64_t> getLocalShape(::llvm::ArrayRef<int64_t> shape, MeshAttr mesh) const;
    ::mlir::RankedTensorType getLocalType(::mlir::RankedTensorType type, MeshAttr mesh) const;
    /// Shape with every dimension rounded up to a multiple of its number of shards.
    ::llvm::SmallVector<int64_t> getPaddedShape(::llvm::ArrayRef<int64_t> shape, MeshAttr mesh) const;
    /// sharding_c1, sharding_c3 and sharding_c4 for a tensor of rank `rank` at `user`. Every violation is reported.
    ::mlir::LogicalResult verifyFor(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        ::mlir::Operation *user,
                                    int64_t rank) const;
  }];
}

def Par_TensorFactorsAttr : Par_Attr<"TensorFactors", "factors"> {
  let summary = "The factors of every dimension of one tensor, major first";
  let description = [{ A dimension with no factor has size 1 and is never split. }];
  let parameters = (ins ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$dims);
  let hasCustomAssemblyFormat = 1;
}

def Par_RuleAttr : Par_Attr<"Rule", "rule"> {
  let summary = "How an op may be partitioned";
  let description = [{
    `#par.rule<([a,b,c],[d,c])->([a,b,d]) {a=8,b=128,c=64,d=256} reduction={c} linear=[{0},{1}
    ]>`: the factors of every dimension of operands and results (`a*b`: a dimension made of two, major first), their
    sizes and kinds:

    - *pass-through* (default): splitting it splits the op;
    - `reduction`: as pass-through, but results that lack the factor are sums over it, so partial (unreduced) when
      split;
    - `need_replication`: never split;
    - `permutation`: may be split, `localize` exchanges data over its axes itself and its results are complete.

    `linear` lists sets of operands in each of which, jointly, all results are linear: a pending sum may pass through
    only if all operands of a set are pending over the axis. Only the first (major) factor of a dimension may be
    split.

    **Constraints:**
    - (rule_c1) a factor absent from some result is `reduction`, `permutation` or `need_replication`
    - (rule_c2) the sizes of a dimension's factors multiply to its size (checked where the rule meets its op: by
      par-partition and by par-print-sharding-rules)
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::par::TensorFactorsAttr">:$operands,
                        ArrayRefParameter<"::mlir::par::TensorFactorsAttr">:$results,
                        ArrayRefParameter<"int64_t">:$sizes,
                        ArrayRefParameter<"::mlir::par::FactorKind">:$kinds,
                        OptionalArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$linear);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumFactors() const { return getSizes().size(); }
    /// The major factor of a dimension, the only one that may be split; -1 if the dimension has none.
    int64_t getOperandFactor(int64_t operand, int64_t dim) const;
    int64_t getResultFactor(int64_t result, int64_t dim) const;
    bool operandHas(int64_t operand, int64_t factor) const;
    bool resultHas(int64_t result, int64_t factor) const;
    /// False for need-replication factors and for factors that are minor in some dimension.
    bool maySplit(int64_t factor) const;
    /// True if result `result` is a partial sum when `factor` is split.
    bool isPending(int64_t result, int64_t factor) const {
      return getKinds()[factor] == FactorKind::Reduction && !resultHas(result, factor);
    }
    /// "a".."z", "a1"..
    static std::string getFactorName(int64_t factor);
    /// rule_c2 for an op on static tensors. Every violation is reported.
    ::mlir::LogicalResult verifyFor(::mlir::Operation *op) const;
  }];
}

def Par_InitAttr : Par_Attr<"Init", "init"> {
  let summary = "`<normal, 0.02>`, `<zeros>` or `<ones>`: the first value of a variable (contract, item 7)";
  let description = [{
    `<normal, 0.02, zero_row = 7>`: but what has index 7 in the variable's first dimension begins as zeros.
  }];
  let parameters = (ins "::mlir::par::InitKind":$kind, OptionalParameter<"::mlir::FloatAttr">:$stdAttr,
                        OptionalParameter<"std::optional<int64_t>">:$zeroRow);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Standard deviation of `normal`; 0 for the other kinds.
    double getStd() const { return getStdAttr() ? getStdAttr().getValueAsDouble() : 0.0; }
    static InitAttr getZeros(::mlir::MLIRContext *context) {
      return get(context, ::mlir::par::InitKind::Zeros, {}, std::nullopt);
    }
  }];
}

#endif // PAR_ATTRIBUTES
