//===- ParDialect.td - the par dialect ----------------------------------------------------------------------===//
#ifndef PAR_DIALECT
#define PAR_DIALECT

include "mlir/IR/OpBase.td"

def Par_Dialect : Dialect {
  let name = "par";
  let cppNamespace = "::mlir::par";
  let summary = "Transformer training graphs on tensors, their shardings and their collectives";
  let description = [{
    A graph of one micro-batch over all data-parallel ranks, on tensors of static shape with named state
    (`par.variable`), functions per kind of layer (`par.call`), shardings (`#par.sharding`) and, after partitioning,
    explicit collectives. Elementwise maths is `arith` and `math` on tensors, through external models of par's
    interfaces. docs/IR.md says which form a module has after each phase.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerOps();
    /// Discardable attributes (docs/IR.md).
    static constexpr ::llvm::StringLiteral kShardingAttr = "par.sharding";
    static constexpr ::llvm::StringLiteral kBindAttr = "par.bind";
    static constexpr ::llvm::StringLiteral kInputAttr = "par.input";
    static constexpr ::llvm::StringLiteral kOutputAttr = "par.output";
    static constexpr ::llvm::StringLiteral kDimsAttr = "par.dims";
    static constexpr ::llvm::StringLiteral kResidualAttr = "par.residual";
    static constexpr ::llvm::StringLiteral kAliasAttr = "par.alias";
    static constexpr ::llvm::StringLiteral kLocalAttr = "par.local";
    static constexpr ::llvm::StringLiteral kGlobalTypeAttr = "par.global_type";
    static constexpr ::llvm::StringLiteral kPhaseAttr = "par.phase";
    static constexpr ::llvm::StringLiteral kChunkAttr = "par.chunk";
    static constexpr ::llvm::StringLiteral kCauseAttr = "par.cause";
    static constexpr ::llvm::StringLiteral kStartedAttr = "par.started";
    static constexpr ::llvm::StringLiteral kStateStorageAttr = "par.state_storage";
  }];
}

#endif // PAR_DIALECT
