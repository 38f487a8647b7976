//===- ObjectCode.h - native code of a program ------------------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_OBJECTCODE_H
#define PAR_EMIT_OBJECTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::par {

/// What code is generated for.
struct CpuTarget {
  std::string cpu;                       ///< LLVM's name of the processor
  std::string features;                  ///< LLVM's feature string
  std::vector<std::string> requirements; ///< manifest `cpu_features`: what a processor must have to run it
};

/// `native` or one of x86-64-v2, x86-64-v3, x86-64-v4.
llvm::Expected<CpuTarget> getCpuTarget(llvm::StringRef name);

/// Compiles a module in the LLVM dialect at -O3 and links it to the shared library `path`. Needs ld.lld-19.
/// `manifestHash` is what its `par_manifest` says (Package.h).
llvm::Error writeSharedLibrary(ModuleOp module, const CpuTarget &target, llvm::StringRef manifestHash,
                               llvm::StringRef path);

} // namespace mlir::par

#endif // PAR_EMIT_OBJECTCODE_H
