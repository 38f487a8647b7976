//===- ParAttributes.h - meshes, shardings, rules and descriptions of state -------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_PARATTRIBUTES_H
#define PAR_DIALECT_PAR_IR_PARATTRIBUTES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "par/Plan/Axes.h"

#include "par/Dialect/Par/IR/ParEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "par/Dialect/Par/IR/ParAttributes.h.inc"

namespace mlir::par {

/// Elements per shard: ⌈size / shards⌉.
inline int64_t ceilDiv(int64_t size, int64_t shards) { return (size + shards - 1) / shards; }

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_PARATTRIBUTES_H
