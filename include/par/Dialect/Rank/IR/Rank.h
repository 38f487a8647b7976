//===- Rank.h - the rank dialect --------------------------------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_RANK_IR_RANK_H
#define PAR_DIALECT_RANK_IR_RANK_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Schedule/Messages.h"

namespace mlir::par::rank {

/// `Clobber`: what lies there means nothing afterwards (scratch memory, frames).
enum class AccessKind { Read, Write, Clobber };

/// What an op does to one of the buffers that it is given.
struct Access {
  OpOperand *operand;
  AccessKind kind;
  std::optional<int64_t> value; ///< number of the value that is read or written, where the op says it
};

/// The op of a region that a library computes; null for none.
LibraryOpInterface findLibraryOp(Block &body);

} // namespace mlir::par::rank

#include "par/Dialect/Rank/IR/RankDialect.h.inc"
#include "par/Dialect/Rank/IR/RankEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "par/Dialect/Rank/IR/RankAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "par/Dialect/Rank/IR/RankInterfaces.h.inc"
#include "par/Dialect/Rank/IR/RankTypes.h.inc"
#define GET_OP_CLASSES
#include "par/Dialect/Rank/IR/RankOps.h.inc"

namespace mlir::par::rank {

/// An op of that name, a LibraryWorkInterface, without description, region and scratch.
LibraryWorkInterface createLibraryWork(OpBuilder &builder, Location loc, StringRef name, ValueRange ins,
                                       ValueRange outs, DenseI64ArrayAttr reads, DenseI64ArrayAttr writes);
/// The kind under which the time of an op is reported; none for collectives and copies.
std::optional<WorkKind> getWorkKind(Operation *op);
/// Runs a collective, blocking or started.
bool isCollective(Operation *op);
/// Begins a copy between memories.
bool isStartedTransfer(Operation *op);

inline int64_t getBytes(Value buffer) { return cast<BufferType>(buffer.getType()).getBytes(); }
inline bool isOnDevice(Value buffer) {
  return cast<BufferType>(buffer.getType()).getSpace() == Space::Device;
}

/// Where `user` is done with its buffers: what was started, at its wait.
inline Operation *getLastOp(Operation *user) {
  auto start = dyn_cast<StartOp>(user);
  return start ? start.getWait().getOperation() : user;
}

/// The schedule for a purpose, of a pipeline's stage where there are several; null if there is none.
ScheduleOp findSchedule(ModuleOp module, Purpose purpose, std::optional<uint64_t> stage = std::nullopt);
/// Those of all stages, by stage; one where the module is no pipeline.
SmallVector<ScheduleOp> findSchedules(ModuleOp module, Purpose purpose);

/// Bytes of a tensor in memory; i1 takes a byte per element.
int64_t getBytes(Type tensor);

} // namespace mlir::par::rank

#endif // PAR_DIALECT_RANK_IR_RANK_H
