//===- Par.h - the par dialect ----------------------------------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_PAR_H
#define PAR_DIALECT_PAR_IR_PAR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "par/Dialect/Par/IR/ParAttributes.h"
#include "par/Interfaces/Interfaces.h"

#include "par/Dialect/Par/IR/ParDialect.h.inc"

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/StructureOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/ShardingOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/CollectiveOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/EinsumOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/ShapeOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/RowOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/NormOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/RmsNormOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/ElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/SoftmaxOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/RotaryOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/AttentionOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/CrossEntropyOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/DropoutOps.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/OptimizerOps.h.inc"

namespace mlir::par {

/// The module's mesh, null if it has none.
MeshAttr getMesh(Operation *op);
/// Name of the module's mesh symbol, "mesh" if it has none.
StringRef getMeshName(Operation *op);

/// True if all results of an op with par.started are the operands of one par.wait of its block, in order, and
/// used by nothing else.
bool endsInOneWait(Operation *started);

/// True if `part` is the type of one of that many equal parts of a tensor that follow each other in memory.
bool isPartOf(Type part, Type whole, int64_t parts);

/// Sharding of a value: of the op's result (array attribute `par.sharding`, an entry per result) or of a
/// function argument (argument attribute); null if none was given. The one way to read shardings.
ShardingAttr getSharding(Value value);
void setSharding(Value value, ShardingAttr sharding);
/// Sharding of a function's result (result attribute `par.sharding`), null if none.
ShardingAttr getResultSharding(func::FuncOp function, unsigned result);

/// How state of `role` that is made for `parameter` shall be stored (`par.state_storage`); null: as it
/// computes.
ShardingAttr getStateStorage(VariableOp parameter, Role role);
/// How a variable lies in memory: its storage sharding, or its compute sharding where it has none.
ShardingAttr getStorage(VariableOp variable);

/// A variable that may share another's memory does so if both are cut alike: the same dimensions of storage
/// and the same type of a shard.
bool isStoredAlike(VariableOp variable, VariableOp other);

/// One attribute of all arguments or results: setting it one by one takes time in the square of their number,
/// which grows with the layers.
void setArgumentAttrs(func::FuncOp function, StringRef name, ArrayRef<Attribute> values);
void setResultAttrs(func::FuncOp function, StringRef name, ArrayRef<Attribute> values);

/// Attaches par's interfaces to arith and math ops (lib/Dialect/Par/IR/Elementwise*.cpp).
void registerElementwiseModels(DialectRegistry &registry);

/// tensor<…> constant with every element equal to `value`; type may be float or integer.
Value buildSplat(OpBuilder &builder, Location loc, RankedTensorType type, double value);

/// `value`, a tensor of floats, with elements of type `element`: extended, rounded or, of that type already,
/// itself.
Value convertFloat(OpBuilder &builder, Location loc, Value value, Type element);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_PAR_H
