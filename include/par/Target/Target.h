//===- Target.h - what packages run on ------------------------------------------------------*- C++ -*-===//
// All that the compiler knows of a kind of device. A module's plan says which one it is compiled for.
//
//===----------------------------------------------------------------------------------------------------===//

#ifndef PAR_TARGET_TARGET_H
#define PAR_TARGET_TARGET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Cost/OpCost.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Plan/Plan.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// Symbol of the nested module of kernels, where they are a program of their own.
inline constexpr llvm::StringLiteral kDeviceModule = "device";
/// Of a kernel's function there, how it is launched: a dictionary of the members below.
inline constexpr llvm::StringLiteral kLaunchAttr = "launch";
namespace launch {
/// What stands in the manifest's list under the same names.
inline constexpr llvm::StringLiteral kPlan = "plan", kReason = "reason", kGrid = "grid", kBlock = "block",
                                     kSharedBytes = "shared_bytes", kCoords = "coords";
/// The numbers of the rank.kernel's buffers (ins, outs, scratch) that it is given, and the access to each.
inline constexpr llvm::StringLiteral kOperands = "operands", kAccess = "access";
/// The function that is launched behind it, if there is one.
inline constexpr llvm::StringLiteral kNext = "next";
/// Of the first function of a library's op: what a library is told that may compute it instead, an entry of
/// the manifest's list of its LibraryCall. Its buffers are those of the op of the rank program.
inline constexpr llvm::StringLiteral kLibrary = "library";
} // namespace launch

struct TargetLimits {
  std::vector<rank::Space> spaces; ///< memories that buffers may lie in
  int64_t alignment;               ///< bytes, of every buffer within frame and arena
  /// Bytes; larger values (logits) are computed in parts, and where they are used instead of being saved.
  int64_t largestValue;
  int64_t leastRows; ///< of such a part
  /// Most buffers of a kernel over a list of tensors: of the updates of many variables, of a norm of many
  /// gradients. 0: each tensor has a kernel of its own.
  int64_t mostListed = 0;
  /// Rows of logits, and of other matrices of products where that costs nothing else, are a multiple of so
  /// many elements on every rank, with padding if need be.
  int64_t rowElements = 1;
  /// Products take biases, GELU and its gradient, and sums of their operands into their own call.
  bool hasEpilogues = false;
  /// What no step changes is computed once and kept, though that takes memory: each kernel costs a launch.
  bool keepsConstants = false;
};

class Target {
public:
  Target(TargetKind kind, TargetLimits limits, DeviceRates rates, bool hasDeviceProgram = false)
      : kind(kind), limits(std::move(limits)), rates(rates), hasDeviceProgram(hasDeviceProgram) {}
  virtual ~Target() = default;

  int64_t align(int64_t bytes) const { return llvm::alignTo(bytes, limits.alignment); }

  /// What `--chip` may be; the first is what it is if nothing is said.
  virtual ArrayRef<ChipKind> getChips() const = 0;

  /// True if products of matrices with such elements may be one `rank.gemm`.
  virtual bool joinsProducts(Type element) const = 0;
  /// Bytes of every buffer that the runtime needs beside operands and results to compute a rank.gemm or work
  /// of a library, of which its structure says all, or the kernels of a rank.kernel. Of a rank.gemm the
  /// first is the product's, the others are of the kernel of its epilogue (separateEpilogue).
  virtual SmallVector<int64_t> getWorkspaceBytes(rank::WorkOpInterface work) const = 0;
  /// How many programs of a device a rank.kernel, a rank.gemm or work of a library starts.
  virtual int64_t countLaunches(rank::WorkOpInterface work) const { return 1; }

  /// Writes the function `name` that computes what the region of a kernel (KernelNames.h) means, at the
  /// builder's place in a module of kernels. `axes` are the mesh axes in the order of par_context.coords.
  /// Error at the op that cannot be generated.
  virtual FailureOr<func::FuncOp> writeKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                              ArrayRef<StringAttr> axes) const = 0;
  /// Lowers a module of kernels to the LLVM dialect.
  virtual LogicalResult lowerKernels(ModuleOp kernels) const = 0;

  /// Adds to the manifest what a machine must have to run the program.
  virtual void describeMachine(const Plan &plan, llvm::json::Object &manifest) const = 0;
  /// Compiles a module in the LLVM dialect to the shared library `path`. `manifestHash` is what its
  /// `par_manifest` says (Package.h).
  virtual llvm::Error writeProgram(ModuleOp module, const Plan &plan, StringRef manifestHash,
                                   StringRef path) const = 0;
  /// Extension of the file beside the program that is the device's code as text; empty: there is none.
  virtual StringRef getDeviceText() const { return {}; }

protected:
  /// getWorkspaceBytes of work of a library; none where the target does not compute it.
  SmallVector<int64_t> getLibraryBytes(rank::LibraryWorkInterface work) const;

public:
  const TargetKind kind;
  const TargetLimits limits;
  const DeviceRates rates; ///< by which plans are weighed
  /// Kernels are a program of their own, for a device beside the host. The host's program then calls kernels
  /// and products by their numbers in the manifest's lists, and writeKernel writes what libraries compute as
  /// well.
  const bool hasDeviceProgram;
};

const Target *findTarget(TargetKind kind);
/// The target of the module's plan, of a module without one that of a plan of defaults.
const Target *getTarget(Operation *op);
/// `target` takes the place of what was there for its kind, until the process ends.
void setTarget(const Target &target);

} // namespace mlir::par

#endif // PAR_TARGET_TARGET_H
