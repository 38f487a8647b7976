//===- InstructionCounts.h - what emulated kernels execute --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_INSTRUCTIONCOUNTS_H
#define PAR_LIB_TARGET_CUDA_INSTRUCTIONCOUNTS_H

#include "par/Target/Emulation.h"
#include "llvm/IR/Module.h"
#include <vector>

namespace mlir::par {

/// Counts are those of each basic block, as the device's back end gets it, and are written into it when it
/// has become code of a processor.
class InstructionCounts {
public:
  void collect(llvm::Module &module);
  void write(llvm::Module &module) const;

private:
  std::vector<std::pair<llvm::BasicBlock *, EmulatedCounts>> blocks;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_INSTRUCTIONCOUNTS_H
