//===- CommandLine.h - the flags of par-compile -----------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_COMMANDLINE_H
#define PAR_LIB_COMPILE_COMMANDLINE_H

#include "par/Sharding/MeshAxes.h"
#include "par/Support/Flags.h"
#include <map>
#include <optional>

namespace mlir::par {

struct CompileOptions {
  std::string model, output;
  std::optional<int64_t> seq, batch;
  int64_t microBatches = 1;
  std::string dtype; ///< of a model, empty = f32; a graph has its own
  std::string gradType = "f32", momentType = "f32";
  std::string optimizer = "adamw", cpu = "native", mesh = "dp=1";
  std::vector<std::string> overrides;
  std::string saveIr, from, to, report;
  bool explain = false, dryRun = false;
  std::set<std::string> given; ///< names of the command line's flags
  std::string idle; ///< what is said of flags that act on nothing of the mesh; filled by `checkOptions`
  /// Values of flags whose features are not built yet, by name.
  std::map<std::string, std::string> later;
  bool sequenceParallel = false;
  std::string offload = "none";
  std::string zero = "0", zero3Gather = "per-micro-batch";
  std::string overlap = "off";
  std::optional<int64_t> prefetchLimit, bucketBytes;
  std::string recompute = "none";
  std::string recomputeLimitText;
  std::optional<int64_t> recomputeLimit; ///< bytes, with `auto` alone; filled by `checkOptions`

  std::string memoryLimitText;
  int64_t memoryLimit = 0; ///< bytes per rank, 0 = none; filled by `checkOptions`

  /// The user's axes in mesh order, sizes checked; filled by `checkOptions`.
  NamedAxes axes;
  int64_t getAxis(llvm::StringRef name) const;
  int64_t getZero() const { return zero[0] - '0'; }
  bool isOverlapped() const { return overlap == "on"; }
  /// Flags of the phase annotate cannot be given: the graph went through it.
  bool isAnnotated() const { return from == "propagate" || from == "differentiate"; }
  bool writesPackage() const { return !dryRun && to.empty(); }
};

/// All flags, bound to `options`.
Flags describeFlags(CompileOptions &options);

/// Refuses what is not built yet and what makes no sense; sets `axes`. Flags for which the mesh leaves
/// nothing to do are as if they were not given.
llvm::Error checkOptions(CompileOptions &options);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_COMMANDLINE_H
