//===- DistinctKernels.h - the kernels of many programs, each once --------------------------------------===//
#ifndef PAR_TEST_UNIT_TARGET_DISTINCTKERNELS_H
#define PAR_TEST_UNIT_TARGET_DISTINCTKERNELS_H

#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Target/Target.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::par {

/// Kernels of programs of one mesh with few rows (CutRows.h), each a function of its own.
class DistinctKernels {
public:
  /// `like` is one of those programs. `known` are the bodies that are there, here or on other meshes. `rows`
  /// are those of a tensor that the model's input has no dimension of: of weights, tables and gradients.
  DistinctKernels(ModuleOp like, llvm::StringSet<> &known, int64_t rows);

  /// Those of `program` that are not known. `where` says in a line what program it is.
  void add(ModuleOp program, const std::string &where);

  OwningOpRef<ModuleOp> module;
  std::vector<std::string> places; ///< of kernels in their order

private:
  void add(rank::WorkOpInterface work, const std::string &where);
  rank::WorkOpInterface copy(rank::WorkOpInterface work);
  std::string print(rank::WorkOpInterface work);

  llvm::StringSet<> &known;
  int64_t rows;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_DISTINCTKERNELS_H
