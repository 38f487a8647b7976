//===- CheckOptions.cpp - what the flags of par-compile mean together -----------------------------------===//
#include "CommandLine.h"
#include "par/Compile/PlanFlags.h"
#include "par/Cost/ClusterFile.h"
#include "par/Plan/PlanJson.h"
#include "par/Schedule/Schedule.h"
#include "par/Support/Bytes.h"
#include "par/Support/MakeError.h"
#include "par/Support/TextFile.h"
#include "par/Target/Target.h"
#include "par/config/FileUses.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <filesystem>

using namespace mlir::par;
using llvm::Error;

/// The whole plan, or none of it: a flag beside the file would make another plan of it without a word.
static Error readPlan(CompileOptions &options) {
  if (options.planFile.empty())
    return Error::success();
  // Of a package its manifest.
  if (std::error_code code; std::filesystem::is_directory(options.planFile, code))
    options.planFile =
        (std::filesystem::path(options.planFile) / "manifest.json").lexically_normal().string();
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text =
      readTextFile(options.planFile, ::par::limits::manifestBytes);
  if (!text)
    return makeError(options.planFile + ": cannot be read: " + llvm::toString(text.takeError()));
  llvm::Expected<Plan> plan = parsePlan(options.planFile, (*text)->getBuffer());
  if (!plan)
    return plan.takeError();
  std::string both;
  visitFields(
      [&](const PlanField &field, const auto &) {
        if (both.empty() && options.has(field.flag))
          both =
              "--" + field.flag.str() + ": the plan has it: " + options.getWords().value(*plan, field.name);
      },
      *plan);
  if (!both.empty())
    return makeError(both + " in " + options.planFile + "; change it there, or leave out the flag or --plan");
  options.plan = std::move(*plan);
  return Error::success();
}

static Error checkChip(CompileOptions &options) { return takeChip(options.given); }

/// Schedules there and back have two chunks per stage.
static Error completePlan(CompileOptions &options) {
  if (options.planFile.empty())
    completeChip(options.plan, options.given);
  if (options.planFile.empty() && !options.has("chunks"))
    options.plan.chunks = getUsualChunks(getName(options.plan.schedule));
  return Error::success();
}

/// Refuses flags that would change a phase which is not run: the graph is what that phase made of others. A
/// default that is given says of the graph what may be wrong, too.
static Error checkActing(CompileOptions &options) {
  std::string late;
  visitFields(
      [&](const PlanField &field, const auto &) {
        // What the graph shows is compared with it; the rest acts later.
        bool isShown = field.phase == CompilePhase::Import || field.name == "mesh";
        if (late.empty() && !isShown && field.phase < options.first && options.has(field.flag))
          late = printFlag(options.plan, field.name) + ": --from " + options.from +
                 " begins behind the phase " + getName(field.phase).str() +
                 ", which it changes; begin with --from " + getName(field.phase).str();
      },
      options.plan);
  return late.empty() ? Error::success() : makeError(late);
}

static Error checkPhases(CompileOptions &options) {
  if (!options.to.empty() && (!options.memoryLimitText.empty() || !options.report.empty()))
    return makeError(std::string(options.report.empty() ? "--memory-limit " + options.memoryLimitText
                                                        : "--report " + options.report) +
                     ": memory is known at the end of all phases, but --to " + options.to +
                     " stops before; leave one of them out");
  for (const std::string &phase : {options.from, options.to})
    if (!phase.empty() && !findPhase(phase))
      return makeError(
          "--from/--to: unknown phase \"" + phase +
          "\", expected import, annotate, propagate, cut, differentiate, partition, overlap or lower");
  if (!options.to.empty() && !options.timeline.empty())
    return makeError("--timeline " + options.timeline +
                     ": the order of a step is known at the end of all phases, but --to " + options.to +
                     " stops before; leave one of them out");
  options.first = findPhase(options.from).value_or(CompilePhase::Import);
  options.last = findPhase(options.to);
  if (options.last && options.first > *options.last)
    return makeError(
        "--to " + options.to + " comes before --from " + options.from +
        "; the phases are import, annotate, propagate, cut, differentiate, partition, overlap, lower");
  if (!options.from.empty() && !options.isGraph())
    return makeError("--from: " + options.model + " is a model; give a graph that --save-ir wrote");
  return Error::success();
}

/// Whether it is `folder` or in it.
static bool isWithin(const std::string &path, const std::string &folder) {
  std::filesystem::path inner = ::par::config::resolvePath(path), outer = ::par::config::resolvePath(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

/// Whether a file is what an earlier compilation said of a step.
static bool isPicture(const std::string &path) {
  std::error_code code;
  if (llvm::StringRef(path).ends_with(".html") || !std::filesystem::is_regular_file(path, code))
    return true;
  auto text = llvm::MemoryBuffer::getFileSlice(path, 16, 0);
  return (text && (*text)->getBuffer().starts_with("{\"traceEvents\":"));
}

/// A file that there is, where the model is; reports and timelines of earlier runs may lie in its folder.
static bool isModelFile(const std::string &path, const std::string &model) {
  std::error_code code;
  return isWithin(path, model) && std::filesystem::exists(path, code) && !isPicture(path);
}

/// Nothing that is written replaces a file of the model or lies where the package does.
static Error checkPaths(CompileOptions &options) {
  auto getFile = [](const std::string &path) { return path == "-" ? "" : path; };
  std::pair<std::string, std::string> report("--report ", getFile(options.report)),
      timeline("--timeline ", getFile(options.timeline)), folder("--save-ir ", options.saveIr);
  for (auto &[flag, path] : {report, timeline})
    if (!path.empty() && isModelFile(path, options.model))
      return makeError(flag + path + " would overwrite a file of the model " + options.model +
                       "; give another one");
  for (auto &[flag, path] : {report, timeline, folder})
    if (!path.empty() && !options.output.empty() && isWithin(path, options.output))
      return makeError(flag + path + " lies where the package is written, -o " + options.output +
                       "; give a place outside of it");
  return Error::success();
}

static Error checkMemoryLimit(CompileOptions &options) {
  if (options.memoryLimitText.empty())
    return Error::success();
  llvm::Expected<int64_t> bytes = parseBytes(options.memoryLimitText);
  if (!bytes)
    return makeError("--memory-limit: " + llvm::toString(bytes.takeError()));
  options.memoryLimit = *bytes;
  return Error::success();
}

/// "A,B": both positive, the second 0 at least.
static llvm::Expected<std::optional<std::pair<double, double>>>
parseRates(const std::string &flag, const std::string &form, llvm::StringRef text, bool secondMayBeZero) {
  if (text.empty())
    return std::nullopt;
  auto [first, second] = text.split(',');
  double a = 0, b = 0;
  if (first.getAsDouble(a) || second.getAsDouble(b) || !std::isfinite(a) || !std::isfinite(b) || a <= 0 ||
      b < 0 || (b == 0 && !secondMayBeZero))
    return makeError(flag + " is '" + text.str() + "', expected " + form);
  return std::pair(a, b);
}

/// What is added to a package needs one.
static Error checkPackageFlags(CompileOptions &options) {
  if (!options.cudnnPlans || options.writesPackage())
    return Error::success();
  return makeError(std::string("--cudnn-plans is for a package, but ") +
                   (options.dryRun ? "--dry-run" : "--to " + options.to) +
                   " writes none; leave one of them out");
}

static Error readClusterOf(CompileOptions &options) {
  if (options.clusterFile.empty())
    return Error::success();
  if (options.kernels || options.link)
    return makeError("--cluster " + options.clusterFile + " and " +
                     (options.kernels ? "--emulate-kernels" : "--emulate-link") +
                     " both say what to predict for; give one");
  llvm::Expected<Cluster> cluster = readCluster(options.clusterFile);
  if (!cluster)
    return cluster.takeError();
  options.cluster = std::move(*cluster);
  return Error::success();
}

static Error checkRates(CompileOptions &options) {
  bool predicts = !options.timeline.empty() || !options.report.empty() || options.explain;
  for (auto &[flag, text] : {std::pair("--emulate-kernels ", options.kernelRates),
                             std::pair("--emulate-link ", options.linkRates)})
    if (!text.empty() && !predicts)
      return makeError(flag + text +
                       " is what --timeline, --explain and --report predict for, but none of them "
                       "is given; give one, or leave it out");
  if (!options.clusterFile.empty() && !options.to.empty() && !options.ranks)
    return makeError("--cluster " + options.clusterFile +
                     ": a step is predicted at the end of all phases, but --to " + options.to +
                     " stops before; leave one of them out");
  auto kernels =
      parseRates("--emulate-kernels", "GFLOPS,GBPS, two positive numbers", options.kernelRates, false);
  if (!kernels)
    return kernels.takeError();
  auto link = parseRates("--emulate-link", "GBps,us, a positive number and one of at least 0",
                         options.linkRates, true);
  if (!link)
    return link.takeError();
  options.kernels = *kernels;
  options.link = *link;
  return readClusterOf(options);
}

/// A search has a model, a cluster, and no plan from elsewhere.
static Error checkRanks(CompileOptions &options) {
  if (!options.ranks)
    return options.headroom ? makeError("--headroom is what plans of --ranks leave free; give --ranks, or "
                                        "--memory-limit for a given plan")
                            : Error::success();
  std::string flag = "--ranks " + std::to_string(options.ranks);
  if (!options.from.empty())
    return makeError(flag + " finds a plan for a whole graph, but --from " + options.from +
                     " goes on with a part of one; leave out one of them");
  if (options.plan.shardingSearch)
    return makeError(flag +
                     " divides models by the names of their dimensions, but --sharding-search is given; "
                     "give --mesh in place of --ranks, or leave --sharding-search out");
  if (!options.planFile.empty())
    return makeError(flag + " finds a plan, but --plan " + options.planFile +
                     " gives one; leave out one of them");
  return Error::success();
}

/// A graph that went through phases has its own part of the plan: only both together can be judged. What is
/// to be found is judged by the search, which knows what is still open.
static Error checkGivenPlan(CompileOptions &options) {
  return options.first == CompilePhase::Import && !options.ranks
             ? checkPlan(options.plan, options.getWords(), options.memoryLimit != 0)
             : Error::success();
}

Error mlir::par::checkOptions(CompileOptions &options) {
  if (options.model.empty())
    return makeError("a model is missing: a Hugging Face folder, config.json or graph.mlir; see --help");
  if (options.output.empty() && options.writesPackage())
    return makeError("-o DIR.par is missing: where to write the package");
  using Check = Error (*)(CompileOptions &);
  for (Check check : {checkChip, readPlan, completePlan, checkPaths, checkPhases, checkActing,
                      checkMemoryLimit, checkPackageFlags, checkRates, checkRanks, checkGivenPlan})
    if (Error error = check(options))
      return error;
  return Error::success();
}

llvm::Expected<std::vector<std::string>> mlir::par::settlePlan(CompileOptions &options) {
  bool isAnnotated = options.first > CompilePhase::Annotate;
  if (Error error = checkPlan(options.plan, options.getWords(), options.memoryLimit != 0, isAnnotated))
    return std::move(error);
  if (options.cluster)
    if (Error error = checkDevices(*options.cluster, options.clusterFile, options.plan.countRanks()))
      return std::move(error);
  if (options.cudnnPlans && !findTarget(options.plan.target)->hasDeviceProgram)
    return makeError("--cudnn-plans: cuDNN computes on GPUs, but the target is " +
                     getName(options.plan.target).str() + "; compile with --target cuda, or leave it out");
  std::vector<std::string> notes = dropIdle(options.plan);
  if (options.plan.countStages() == 1 &&
      (options.first == CompilePhase::Cut || options.last == CompilePhase::Cut))
    return makeError("--from/--to cut: there is no such phase without a pipeline; give --mesh pp=N, or name "
                     "another");
  if (!options.plan.overlap &&
      (options.first == CompilePhase::Overlap || options.last == CompilePhase::Overlap))
    return makeError(
        "--from/--to overlap: there is no such phase without --overlap on and more than one rank, or "
        "--offload; give them, or name another");
  return notes;
}
