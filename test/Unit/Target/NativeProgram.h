//===- NativeProgram.h - functions of tensors, compiled for a processor and run ---------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_TARGET_NATIVEPROGRAM_H
#define PAR_TEST_UNIT_TARGET_NATIVEPROGRAM_H

#include "TensorMemory.h"
#include "mlir/IR/BuiltinOps.h"
#include "par/Interpreter/Interpreter.h"
#include "par/Plan/Plan.h"

namespace mlir::par {

/// Functions on buffers as LLVM's dialect, for any processor.
class NativeCode {
public:
  /// Takes a module of the rank dialect, lowered for processors.
  explicit NativeCode(OwningOpRef<ModuleOp> module);

  OwningOpRef<ModuleOp> module;    ///< null after an error
  llvm::StringMap<int64_t> frames; ///< of functions, in bytes
};

/// The program of a processor, loaded. Its functions run on this thread.
class NativeProgram {
public:
  NativeProgram(const NativeCode &code, ChipKind chip);
  ~NativeProgram();

  /// Runs a function whose frame and results hold poison. Kernels run in `parts`, one after the other.
  /// Fails the test where an argument, or memory beside a buffer, changes.
  std::vector<Memory> run(StringRef name, const Tensors &arguments, ArrayRef<RankedTensorType> results,
                          int64_t parts);

  std::string error; ///< empty: there is a program

private:
  const NativeCode &code;
  TemporaryFolder folder;
  void *library = nullptr;
};

/// Whether this machine runs programs of a processor level.
bool runsHere(ChipKind chip);

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_NATIVEPROGRAM_H
