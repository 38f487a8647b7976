//===- CommandLine.h - the flags of par-compile -----------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_COMMANDLINE_H
#define PAR_LIB_COMPILE_COMMANDLINE_H

#include "par/Compile/CheckPlan.h"
#include "par/Cost/Cluster.h"
#include "par/Cost/Headroom.h"
#include "par/Source/ModelSource.h"
#include "par/Support/Flags.h"

namespace mlir::par {

struct CompileOptions {
  std::string model, output;
  Plan plan; ///< as far as flags or `planFile` say; complete once the model is loaded
  std::string planFile;
  std::vector<std::string> overrides, plugins;
  std::string saveIr, from, to, report, timeline, memoryLimitText, kernelRates, linkRates, clusterFile;
  bool explain = false, dryRun = false, cudnnPlans = false, proof = true;
  std::set<std::string> given;      ///< names of the command line's flags
  int64_t ranks = 0;                ///< to find a plan for; 0: the plan is given
  std::optional<Headroom> headroom; ///< of that plan

  /// Filled by `checkOptions`.
  CompilePhase first = CompilePhase::Import;
  std::optional<CompilePhase> last; ///< `--to`
  int64_t memoryLimit = 0;          ///< bytes per rank, 0 = none
  /// What predictions take for the device and its link: two numbers each, none: the target's.
  std::optional<std::pair<double, double>> kernels, link;
  std::optional<Cluster> cluster; ///< takes the place of both

  bool has(llvm::StringRef flag) const { return given.count(flag.str()); }
  bool isGraph() const { return openModel(model)->isGraph(); }
  bool writesPackage() const { return !dryRun && to.empty(); }
  PlanWords getWords() const { return PlanWords(planFile); }
};

/// All flags, bound to `options`.
Flags describeFlags(CompileOptions &options);

/// Reads the plan's file; refuses what is not built yet and what makes no sense.
llvm::Error checkOptions(CompileOptions &options);

/// The plan of the options and of the graph that they begin with, once it is complete: checked, and without
/// what has no effect. What is said of that, a line each.
llvm::Expected<std::vector<std::string>> settlePlan(CompileOptions &options);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_COMMANDLINE_H
