//===- ParOps.td - every op of the par dialect, for its reference (ninja mlir-doc) ---------------------------===//
#ifndef PAR_OPS
#define PAR_OPS

include "par/Dialect/Par/IR/StructureOps.td"
include "par/Dialect/Par/IR/ShardingOps.td"
include "par/Dialect/Par/IR/CollectiveOps.td"
include "par/Dialect/Par/IR/EinsumOps.td"
include "par/Dialect/Par/IR/ShapeOps.td"
include "par/Dialect/Par/IR/RowOps.td"
include "par/Dialect/Par/IR/NormOps.td"
include "par/Dialect/Par/IR/RmsNormOps.td"
include "par/Dialect/Par/IR/ElementwiseOps.td"
include "par/Dialect/Par/IR/SoftmaxOps.td"
include "par/Dialect/Par/IR/RotaryOps.td"
include "par/Dialect/Par/IR/AttentionOps.td"
include "par/Dialect/Par/IR/CrossEntropyOps.td"
include "par/Dialect/Par/IR/DropoutOps.td"
include "par/Dialect/Par/IR/OptimizerOps.td"

#endif // PAR_OPS
