//===- HostCode.h - code for processors -------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_HOST_HOSTCODE_H
#define PAR_LIB_TARGET_HOST_HOSTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::par {

/// What code is generated for.
struct Processor {
  std::string cpu;      ///< LLVM's name of the processor
  std::string features; ///< LLVM's feature string
  bool hasWideVectors;  ///< of 512 bits
};

/// What all processors have on which packages for other devices run.
const Processor &getAnyProcessor();

/// Standard fusion: a product and a sum are rounded each, unless the code says otherwise.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createHostMachine(const Processor &processor, llvm::FPOpFusion::FPOpFusionMode fusion);

/// Error with the file's name.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes);

/// The shared library `path` of a module as it is, with what it needs of `archives`. Needs ld.lld-19.
llvm::Error writeHostLibrary(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef path,
                             llvm::ArrayRef<llvm::StringRef> archives);

/// Compiles a module in the LLVM dialect at -O3 to the program `path` (Target::writeProgram).
llvm::Error writeHostProgram(ModuleOp module, const Processor &processor, StringRef manifestHash,
                             StringRef path);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_HOST_HOSTCODE_H
