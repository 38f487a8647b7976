//===- KernelGraphs.h - functions that have all ops which become kernels ----------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_TARGET_KERNELGRAPHS_H
#define PAR_TEST_UNIT_TARGET_KERNELGRAPHS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Interpreter/Interpreter.h"
#include "par/Plan/Plan.h"
#include <random>

namespace mlir::par {

/// A function of tensors. In the texts $n stands for the leading size, $l for leading dimensions, $t for a
/// type of elements, and $x, $X, $s, $i for rows: tensor<$l x 69 x $t>, the same of f32, and a number of each
/// row, f32 or i32; $w and $W for tensor<69 x $t> and of f32.
struct KernelGraph {
  const char *name;
  const char *arguments; ///< `{test.positive}`: no number below zero
  const char *body;
  const char *returned; ///< `values : types`
};

ArrayRef<KernelGraph> getKernelGraphs();

/// Ops that no kernel computes, and that a processor's library does not: partitioning and lowering leave none
/// in a kernel, or they only move data.
ArrayRef<StringRef> getOpsWithoutKernels();

/// Types, each with the leading dimensions that graphs have with it: 1, 2 and 3, of rows and of rows of rows.
/// Nests depend on the type only where sums are rounded, so of bf16 there are fewer.
using GraphSizes = std::vector<std::pair<StringRef, std::vector<StringRef>>>;
inline const GraphSizes kAllSizes = {{"f32", {"1", "2", "3", "1x7", "3x7"}}, {"bf16", {"1x7"}}};
/// Where each takes long.
inline const GraphSizes kFewSizes = {{"f32", {"1", "3", "1x7"}}, {"bf16", {"1x7"}}};

/// One result set of one graph with one leading size and type.
struct ResultSubset {
  std::string name;        ///< of its function
  func::FuncOp whole;      ///< with all results, as the interpreter evaluates it
  SmallVector<int> wanted; ///< numbers of results
};

/// All graphs in some sizes, and every subset of results that a function may be asked for.
class KernelGraphs {
public:
  KernelGraphs(MLIRContext &context, const GraphSizes &sizes);

  /// A module with a function of each subset, which a step of a rank calls, lowered for the target as far as
  /// buffers; null after an error.
  OwningOpRef<ModuleOp> lower(TargetKind target);

  /// What the last rank computes of the arguments.
  Tensors interpret(func::FuncOp whole, const Tensors &arguments);
  Tensors drawArguments(func::FuncOp whole, std::mt19937 &random);

  std::vector<ResultSubset> subsets;
  std::set<std::string> ops; ///< names of those in the graphs

private:
  void add(const KernelGraph &graph, StringRef lead, StringRef type);

  MLIRContext &context;
  OwningOpRef<ModuleOp> wholes;
  std::optional<Interpreter> interpreter;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_KERNELGRAPHS_H
