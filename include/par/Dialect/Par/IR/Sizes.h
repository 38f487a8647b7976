//===- Sizes.h - bytes and blocks of tensors, members of groups -------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_SIZES_H
#define PAR_DIALECT_PAR_IR_SIZES_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Bytes of a ranked tensor of static shape in memory and on the wire; i1 takes a byte per element. Stays at
/// the largest number where there are more than it counts.
int64_t getTensorBytes(Type type);
/// Of several, added up.
int64_t getTensorBytes(TypeRange types);

/// What a rank holds of a value of a graph that is not partitioned yet; all of it without mesh or sharding.
int64_t getLocalBytes(Value value, MeshAttr mesh);
/// On the mesh of its module.
int64_t getLocalBytes(Value value);

/// Blocks along `dim` of a ranked tensor are contiguous: all dimensions before it have size 1.
bool isOutermost(Type type, int64_t dim);

/// Ranks that take part in a collective, 1 without a mesh.
int64_t countMembers(CollectiveOpInterface collective, MeshAttr mesh);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_SIZES_H
