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

    **Constraints:**
    - (attribute_c1) a discardable attribute `par.…` is one of the list in DiscardableAttributes.def
    - (attribute_c2) it stands where the list says and is of the type that it says
    - (dims_c1) `par.dims` has a name for each dimension of an argument
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerOps();
    /// kSharding, kPhase, …: names of the attributes that ops, functions, arguments and results may have.
#define PAR_DISCARDABLE(symbol, name, places, type, text)                                          \
    static constexpr ::llvm::StringLiteral k##symbol##Attr = name;
#include "par/Dialect/Par/IR/DiscardableAttributes.def"
  private:
    /// The list, by name.
    ::llvm::DenseMap<::mlir::StringAttr, unsigned> discardable;
    void registerDiscardable();
    ::mlir::LogicalResult verifyDiscardable(::mlir::Operation *op, ::mlir::NamedAttribute attribute, unsigned place,
                                            ::llvm::StringRef at);
  }];
}

#endif // PAR_DIALECT
