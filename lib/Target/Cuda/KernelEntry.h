//===- KernelEntry.h - functions that a GPU starts ----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_KERNELENTRY_H
#define PAR_LIB_TARGET_CUDA_KERNELENTRY_H

#include "KernelRegion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::par {

/// What becomes of a buffer: it is read, written as a whole, or read and written in parts.
enum class BufferAccess { Read, Write, Update };

/// How a kernel's function is started (Target.h, kLaunchAttr).
struct Launch {
  explicit Launch(StringRef plan, std::string reason = "") : plan(plan), reason(std::move(reason)) {}

  std::string plan; ///< its name
  std::string reason;
  int64_t blocks = 1;
  int32_t threads = 1;          ///< of a block
  int64_t sharedBytes = 0;      ///< of a block, beside the arrays of the kernel
  int64_t registers = 0;        ///< of a thread, that ptxas is to work with; 0: as many as it likes
  bool usesCoords = false;      ///< the coordinates of the rank are a parameter behind the buffers
  bool isWide = false;          ///< all buffers begin at multiples of kAccessBytes
  SmallVector<int64_t> scratch; ///< shape of the operands behind the outputs, of f32
  SmallVector<std::pair<int64_t, BufferAccess>> operands;
  std::string next;

  /// Adds the ins that `values` are made of, as far as they are not made of results of `known`.
  void addReads(ValueRange values, ArrayRef<Operation *> known = {}) {
    for (int64_t in : findArguments(values, known))
      operands.push_back({in, BufferAccess::Read});
  }
};

/// What a kernel is written for.
struct KernelTask {
  OpBuilder &builder;
  rank::WorkOpInterface work;
  StringRef name;
  ArrayRef<StringAttr> axes; ///< of the mesh, in the order of par_context.coords
  bool isAligned;            ///< buffers begin at multiples of kAccessBytes

  Location getLoc() const { return work->getLoc(); }
  Block &getBlock() const { return work->getRegion(0).front(); }
  ValueRange getOutputs() const { return cast<rank::YieldOp>(getBlock().getTerminator()).getValues(); }
  int64_t countIns() const { return getBlock().getNumArguments(); }
  int64_t getOutNumber(int64_t out) const { return countIns() + out; }
  int64_t getScratchNumber(int64_t sum) const { return countIns() + getOutputs().size() + sum; }
  /// Elements of a row that are consecutive and read at once.
  int64_t getStep(const IterationSpace &space) const { return isAligned ? space.step : 1; }
  /// True if the region asks where its rank is.
  bool usesCoords() const;
};

/// The launch of a kernel that reads what its outputs are made of and writes them, as wide accesses; without
/// its size.
Launch describeElements(const KernelTask &task, StringRef plan);

/// Registers of the threads of a kernel with many addresses or sums: what 512 of them have on a
/// multiprocessor.
constexpr int64_t kManyRegisters = 128;

/// Of a function whose threads have no register left for what ptxas makes of longer chains: its products and
/// sums stay apart (HardwareMath.h).
inline constexpr llvm::StringLiteral kKeepsOperationsAttr = "keeps_operations";

/// The function `name` at the builder's place, on one memory per operand of the launch; `types` are theirs.
func::FuncOp createEntry(OpBuilder &builder, Location loc, StringRef name, ArrayRef<Type> types,
                         const Launch &launch);
/// The same, on memrefs.
func::FuncOp createEntry(const KernelTask &task, StringRef name, const Launch &launch);

/// A par_context at the beginning of an entry, of which nothing is left after inlining; null where there are
/// no coordinates.
Value createContext(OpBuilder &builder, func::FuncOp entry, bool usesCoords);

/// A special register as an index.
template <typename Register>
Value readRegister(OpBuilder &builder, Location loc) {
  Value narrow = builder.create<Register>(loc, builder.getI32Type());
  return builder.create<arith::IndexCastUIOp>(loc, builder.getIndexType(), narrow);
}

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_KERNELENTRY_H
