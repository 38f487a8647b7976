//===- LibraryCall.h - how targets compute ops of libraries -----------------------------------*- C++ -*-===//
#ifndef PAR_TARGET_LIBRARYCALL_H
#define PAR_TARGET_LIBRARYCALL_H

#include "par/Target/Target.h"

namespace mlir::par {

class CallBuilder;

/// What a device's runtime may have computed by a library in place of kernels: a list of the manifest, and
/// the entry point that takes the number of an entry and an array of all buffers.
struct LibraryList {
  StringRef name, entryPoint;
};

/// How a target computes an op of a library (LibraryOpInterface).
class LibraryCall {
public:
  virtual ~LibraryCall() = default;

  /// Bytes of every buffer that it needs beside operands and results.
  virtual SmallVector<int64_t> getScratchBytes(rank::LibraryWorkInterface work) const { return {}; }

  /// Writes the call into the host's program. Where kernels are a device's program there is none.
  virtual LogicalResult emitCall(CallBuilder &calls, rank::LibraryWorkInterface work) const;

  /// Writes the function `name` into the device's program, as Target::writeKernel; functions behind it are
  /// its `next`. `isAligned`: buffers begin at multiples of the widest access.
  virtual FailureOr<func::FuncOp> writeKernel(OpBuilder &builder, rank::LibraryWorkInterface work,
                                              StringRef name, bool isAligned) const;
  /// How many functions of the device's program.
  virtual int64_t countLaunches(rank::LibraryWorkInterface work) const { return 1; }
  /// The list to which entries come that the function says of itself (launch::kLibrary).
  virtual std::optional<LibraryList> getList() const { return std::nullopt; }
};

/// The op `op` (par.attention) is computed so on a target. Before anything is compiled.
void registerLibraryCall(TargetKind target, StringRef op, std::unique_ptr<LibraryCall> call);

/// Null where the target does not compute the op.
const LibraryCall *findLibraryCall(TargetKind target, rank::LibraryWorkInterface work);
/// Null, and an error at the op, where the target does not compute it.
const LibraryCall *getLibraryCall(TargetKind target, rank::LibraryWorkInterface work);

/// The lists of all calls of a target, by name.
SmallVector<LibraryList> getLibraryLists(TargetKind target);

} // namespace mlir::par

#endif // PAR_TARGET_LIBRARYCALL_H
