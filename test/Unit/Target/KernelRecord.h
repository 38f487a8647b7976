//===- KernelRecord.h - kernels with what they compute, for a machine with a GPU ------------------------===//
#ifndef PAR_TEST_UNIT_TARGET_KERNELRECORD_H
#define PAR_TEST_UNIT_TARGET_KERNELRECORD_H

#include "KernelCase.h"
#include "llvm/Support/JSON.h"
#include <fstream>

namespace mlir::par {

/// Writes kernels as test/Gpu/launch.py reads them, into one folder:
///
///   kernels.json          {"modules": [file of PTX], "cases": [{"plan", "where", "module", "coords",
///   "slack",
///                         "operands": [{"kind", "type", "shape", "bytes", "at"}], "launches": [{"kernel",
///                         "grid", "block", "shared", "operands", "coords"}]}]}
///   kernels.bin           bytes of inputs, and of outputs as they were emulated, each operand `at` its place
///   kernelsN.ptx          a module
///   kernelsN.emulated.so  the same for the stand-in of the driver
class KernelRecord {
public:
  /// `isEmulated`: there are outputs to compare with.
  KernelRecord(std::string folder, bool isEmulated);

  /// Kernels that are added from now on are of `program`.
  void begin(const KernelProgram &program);
  /// `one` has been emulated, or listed.
  void add(const KernelCase &one, StringRef where);
  /// False if something could not be written.
  bool finish();

private:
  std::string copy(const std::string &file, StringRef suffix);
  llvm::json::Object add(const KernelCase &one, size_t operand);

  std::string folder;
  bool isEmulated;
  std::ofstream bytes;
  int64_t written = 0;
  llvm::json::Array modules, cases;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_KERNELRECORD_H
