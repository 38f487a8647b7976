//===- CommandLine.cpp - the flags of par-compile -------------------------------------------------------===//
#include "CommandLine.h"
#include "par/Support/Bytes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <filesystem>

using namespace mlir::par;

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::make_error<llvm::StringError>(text.str(), llvm::inconvertibleErrorCode());
}

namespace {
/// A flag of a later feature: accepted with the value that means "without it", refused otherwise.
struct LaterFlag {
  const char *name, *value, *neutral, *help;
};
} // namespace

static const LaterFlag kLater[] = {
    {"ranks", "N", "", "search the best plan for N ranks"},
    {"cluster", "FILE", "", "cluster to plan for"},
    {"plan", "FILE", "", "take the plan from a file"},
    {"schedule", "NAME", "1f1b", "pipeline schedule"},
    {"chunks", "N", "1", "chunks per pipeline rank"},
    {"cuts", "A,B,..", "", "layers at which pipeline stages begin"},
    {"target", "NAME", "cpu", "what the package runs on"},
    {"chip", "NAME", "", "GPU architecture"},
    {"timeline", "FILE.json", "", "write the predicted timeline"},
    {"config", "FILE.toml", "", "read flags from a file"},
};

static std::string describeLater(const LaterFlag &flag) {
  return *flag.neutral ? std::string(flag.help) + ": " + flag.neutral + "; others are not built yet"
                       : std::string("not built yet: ") + flag.help;
}

int64_t CompileOptions::getAxis(llvm::StringRef name) const {
  for (auto &[axis, size] : axes)
    if (axis == name)
      return size;
  return 1;
}

Flags mlir::par::describeFlags(CompileOptions &options) {
  Flags flags("par-compile MODEL|graph.mlir -o DIR.par [flags]",
              "Compiles a training step of MODEL (a Hugging Face folder, its config.json, or a graph in the "
              "par dialect) to a "
              "package of native programs, one per distinct rank, for par-run.");
  flags.positional(options.model);
  flags.text("o", "DIR.par", "package to write", options.output);
  flags.integer("seq", "N", "tokens per sequence (default: min(1024, the config's maximum))",
                [&options](int64_t value) { options.seq = value; });
  flags.integer("batch", "N",
                "sequences per optimizer step over all ranks (default: 8 per data-parallel rank)",
                [&options](int64_t value) { options.batch = value; });
  flags.integer("micro-batches", "N", "micro-batches per step (default: 1)",
                [&options](int64_t value) { options.microBatches = value; });
  flags.text("dtype", "TYPE", "type of a MODEL's parameters and activations: f32 or bf16 (default: f32)",
             options.dtype);
  flags.choice("grad-dtype", {"f32", "bf16"}, "type of accumulated gradients (default: f32)",
               options.gradType);
  flags.choice("moment-dtype", {"f32", "bf16"}, "type of the optimizer's moments (default: f32)",
               options.momentType);
  flags.list("set", "key=value", "replaces a key of the config; the value is JSON, else a string",
             options.overrides);
  flags.text("mesh", "AXES",
             "devices by named axes, for example dp=2,tp=4 (axes: dp, tp; dp_replicate and dp_shard instead "
             "of dp: ZeRO "
             "stores parts over dp_shard only)",
             options.mesh);
  flags.choice("optimizer", {"adamw", "sgd"}, "optimizer", options.optimizer);
  flags.text("cpu", "NAME", "processor: native, x86-64-v2, x86-64-v3 or x86-64-v4 (default: native)",
             options.cpu);
  flags.toggle("explain",
               "prints for every collective its bytes, axes and cause, and what is live at the peak",
               options.explain);
  flags.text("memory-limit", "SIZE",
             "refuses a plan that needs more memory per rank (80GiB, 500MB, or bytes), says what is live at "
             "its peak "
             "and which flags would make it fit",
             options.memoryLimitText);
  flags.text("report", "FILE.html", "writes a page with memory over the step and the collectives",
             options.report);
  flags.text("save-ir", "DIR", "writes the module after every phase", options.saveIr);
  flags.text("from", "PHASE", "the graph.mlir given is what --save-ir wrote before PHASE: begin there",
             options.from);
  flags.text("to", "PHASE",
             "stop after PHASE and print the module (import annotate propagate differentiate partition "
             "overlap lower)",
             options.to);
  flags.toggle("dry-run", "stops before machine code and prints the summary", options.dryRun);
  flags.choice(
      "zero", {"0", "1", "2", "3"},
      "ZeRO stage: data-parallel ranks store parts of optimizer state (1), gradients (2), parameters (3)",
      options.zero);
  flags.choice(
      "zero3-gather", {"per-micro-batch", "per-step"},
      "with --zero 3: parameters are gathered where a micro-batch reads them (default) or once, held for the "
      "step",
      options.zero3Gather);
  flags.toggle("sequence-parallel", "splits norms, dropout and residuals along the sequence over tp",
               options.sequenceParallel);
  flags.choice("overlap", {"off", "on"},
               "on: collectives run on a thread of their own beside what is computed (default: off; "
               "docs/Overlap.md says when it pays)",
               options.overlap);
  flags.bytes("prefetch-limit",
              "with --overlap on: bytes of parameters gathered ahead, and of gradients kept while they are "
              "reduced (default: the largest layer's; 0: none)",
              [&options](int64_t value) { options.prefetchLimit = value; });
  flags.bytes("bucket-bytes",
              "with --overlap on: gradients smaller than that are reduced together (default: 4194304)",
              [&options](int64_t value) { options.bucketBytes = value; });
  flags.choice("offload", {"none", "optimizer", "optimizer:device-update", "optimizer:host-update"},
               "optimizer: moments and masters stay in host memory; the update copies each layer's to the "
               "device and back (device-update, default) or runs on the host, to which gradients are copied "
               "(host-update)",
               options.offload);
  flags.choice("recompute", {"none", "selective", "full", "auto"},
               "what backward passes run again: cheap maths only (none, default), also norms and attention "
               "(selective), whole layers (full), what fits a limit in the least time (auto)",
               options.recompute);
  flags.text("recompute-limit", "SIZE",
             "with --recompute auto: most memory per rank that a micro-batch saves for its backward pass "
             "(default: what --memory-limit leaves)",
             options.recomputeLimitText);
  for (const LaterFlag &flag : kLater) {
    options.later[flag.name] = flag.neutral;
    flags.text(flag.name, flag.value, describeLater(flag), options.later[flag.name]);
  }
  flags.elsewhere({"steps",    "data",        "data-dtype",   "weights",      "seed",
                   "lr",       "lr-schedule", "warmup-steps", "decay-steps",  "min-lr",
                   "beta1",    "beta2",       "eps",          "weight-decay", "clip-grad-norm",
                   "metrics",  "eval-data",   "eval-every",   "checkpoint",   "checkpoint-every",
                   "keep",     "resume",      "save-params",  "save-grads",   "shuffle",
                   "transport"},
                  "par-run takes it; it may differ from run to run of a package");
  return flags;
}

static llvm::Error checkMesh(CompileOptions &options) {
  for (llvm::StringRef entry : llvm::split(options.mesh, ','))
    if (auto [name, size] = entry.split('='); name == "ep" && size != "1")
      return makeError("--mesh: " + entry + " is not built yet; dp and tp are");
  if (options.mesh.empty())
    return makeError("--mesh: \"\" is not axis=size with a size of at least 1");
  llvm::Expected<NamedAxes> axes = parseMeshAxes(options.mesh);
  if (!axes)
    return makeError("--mesh: " + llvm::toString(axes.takeError()));
  for (auto &[name, size] : *axes)
    if (size > 1 && (name == "pp" || name == "cp"))
      return makeError("--mesh: " + name + "=" + llvm::Twine(size) + " is not built yet; dp and tp are");
  options.axes = *axes;
  return llvm::Error::success();
}

static llvm::Error checkOverlap(CompileOptions &options) {
  for (auto &[flag, value] : {std::pair("--prefetch-limit", options.prefetchLimit),
                              std::pair("--bucket-bytes", options.bucketBytes)})
    if (value && !options.isOverlapped())
      return makeError(flag + llvm::Twine(" bounds what --overlap on does; give both or none"));
  return llvm::Error::success();
}

static llvm::Error checkMemoryLimit(CompileOptions &options) {
  if (options.memoryLimitText.empty())
    return llvm::Error::success();
  llvm::Expected<int64_t> bytes = parseBytes(options.memoryLimitText);
  if (!bytes)
    return makeError("--memory-limit: " + llvm::toString(bytes.takeError()));
  options.memoryLimit = *bytes;
  return llvm::Error::success();
}

/// `optimizer` is short for the update on the device.
static void completeOffload(CompileOptions &options) {
  if (options.offload == "optimizer")
    options.offload = "optimizer:device-update";
}

/// Flags that mean nothing without each other.
static llvm::Error checkStrategies(CompileOptions &options) {
  // A graph that is annotated already says itself how its parameters are stored.
  if (options.zero3Gather == "per-step" && options.zero != "3" && !options.isAnnotated())
    return makeError("--zero3-gather per-step says when ZeRO-3 gathers parameters, but --zero is " +
                     options.zero + "; give --zero 3 or leave it out");
  if (options.optimizer == "sgd" && options.momentType != "f32")
    return makeError("--moment-dtype " + options.momentType +
                     " is the type of AdamW's moments, but --optimizer is sgd, which has none; leave it out");
  return llvm::Error::success();
}

/// What the mesh leaves nothing to do for is accepted, so that one command line serves for all meshes.
static llvm::Error dropIdle(CompileOptions &options) {
  std::vector<std::string> idle;
  if (options.zero != "0" && countStateRanks(options.axes) == 1) {
    idle.push_back("--zero " + std::exchange(options.zero, "0"));
    options.zero3Gather = "per-micro-batch";
  }
  if (options.sequenceParallel && options.getAxis("tp") == 1) {
    idle.push_back("--sequence-parallel");
    options.sequenceParallel = false;
  }
  bool oneRank = llvm::all_of(options.axes, [](const auto &axis) { return axis.second == 1; });
  if (options.isOverlapped() && oneRank && options.offload == "none") {
    idle.push_back("--overlap " + std::exchange(options.overlap, "off"));
    options.prefetchLimit = options.bucketBytes = std::nullopt;
  }
  if (!idle.empty())
    options.idle = llvm::join(idle, ", ") + ": no effect on --mesh " + options.mesh;
  for (const std::string &phase : {options.from, options.to})
    if (phase == "overlap" && !options.isOverlapped())
      return makeError(
          "--from/--to overlap: there is no such phase without --overlap on and more than one rank, or "
          "--offload; give them, or name another");
  return llvm::Error::success();
}

static llvm::Error checkRecompute(CompileOptions &options) {
  if (options.recomputeLimitText.empty()) {
    if (options.recompute == "auto" && !options.memoryLimit)
      return makeError("--recompute auto seeks the least time within --memory-limit or --recompute-limit, of "
                       "which there is none; give one, or --recompute selective");
    return llvm::Error::success();
  }
  if (options.recompute != "auto")
    return makeError("--recompute-limit bounds what --recompute auto saves, but --recompute is " +
                     options.recompute + "; give --recompute auto or leave it out");
  llvm::Expected<int64_t> bytes = parseBytes(options.recomputeLimitText);
  if (!bytes)
    return makeError("--recompute-limit: " + llvm::toString(bytes.takeError()));
  options.recomputeLimit = *bytes;
  return llvm::Error::success();
}

static constexpr llvm::StringLiteral kPhases[] = {"import",    "annotate", "propagate", "differentiate",
                                                  "partition", "overlap",  "lower"};

namespace {
/// A flag that changes what `phase` does, and nothing behind it.
struct PhaseFlag {
  const char *name;
  llvm::StringLiteral phase;
  /// Empty: the flag takes none.
  std::string (*print)(const CompileOptions &);
};
} // namespace

static const PhaseFlag kPhaseFlags[] = {
    {"zero", "annotate", [](const CompileOptions &options) { return options.zero; }},
    {"sequence-parallel", "annotate",
     [](const CompileOptions &options) { return std::string(options.sequenceParallel ? "" : "off"); }},
    {"zero3-gather", "differentiate", [](const CompileOptions &options) { return options.zero3Gather; }},
    {"optimizer", "differentiate", [](const CompileOptions &options) { return options.optimizer; }},
    {"grad-dtype", "differentiate", [](const CompileOptions &options) { return options.gradType; }},
    {"moment-dtype", "differentiate", [](const CompileOptions &options) { return options.momentType; }},
    {"recompute", "differentiate", [](const CompileOptions &options) { return options.recompute; }},
    {"overlap", "overlap", [](const CompileOptions &options) { return options.overlap; }},
};

/// Refuses flags that would change a phase which is not run: the graph is what that phase made of others.
static llvm::Error checkActing(CompileOptions &options) {
  const llvm::StringLiteral *begin = llvm::find(kPhases, options.from);
  for (const PhaseFlag &flag : kPhaseFlags) {
    std::string value = flag.print(options);
    // A default that is given says of the graph what may be wrong, too.
    bool set = options.given.count(flag.name) || value != flag.print(CompileOptions());
    if (!options.from.empty() && set && begin > llvm::find(kPhases, flag.phase))
      return makeError(std::string("--") + flag.name + (value.empty() ? "" : " " + value) + ": --from " +
                       options.from + " begins behind the phase " + flag.phase +
                       ", which it changes; begin with --from " + flag.phase);
  }
  return llvm::Error::success();
}

static llvm::Error checkPhases(CompileOptions &options) {
  if (!options.to.empty() && (!options.memoryLimitText.empty() || !options.report.empty()))
    return makeError(std::string(options.report.empty() ? "--memory-limit " + options.memoryLimitText
                                                        : "--report " + options.report) +
                     ": memory is known at the end of all phases, but --to " + options.to +
                     " stops before; leave one of them out");
  for (const std::string &phase : {options.from, options.to})
    if (!phase.empty() && !llvm::is_contained(kPhases, phase))
      return makeError(
          "--from/--to: unknown phase \"" + phase +
          "\", expected import, annotate, propagate, differentiate, partition, overlap or lower");
  if (!options.from.empty() && !options.to.empty() &&
      llvm::find(kPhases, options.from) > llvm::find(kPhases, options.to))
    return makeError(
        "--to " + options.to + " comes before --from " + options.from +
        "; the phases are import, annotate, propagate, differentiate, partition, overlap, lower");
  return llvm::Error::success();
}

/// Absolute and without links, as far as it exists.
static std::filesystem::path resolve(const std::string &text) {
  std::error_code code;
  std::filesystem::path path = std::filesystem::absolute(text, code);
  if (std::filesystem::path real = std::filesystem::weakly_canonical(path, code); !code)
    path = real;
  return path.has_filename() ? path : path.parent_path();
}

/// Whether it is `folder` or in it.
static bool isWithin(const std::string &path, const std::string &folder) {
  std::filesystem::path inner = resolve(path), outer = resolve(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

/// A file that there is, where the model is; reports of earlier runs may lie in its folder.
static bool isModelFile(const std::string &path, const std::string &model) {
  std::error_code code;
  return isWithin(path, model) && std::filesystem::exists(path, code) &&
         !llvm::StringRef(path).ends_with(".html");
}

/// Nothing that is written replaces a file of the model or lies where the package does.
static llvm::Error checkPaths(CompileOptions &options) {
  bool writesReport = !options.report.empty() && options.report != "-";
  if (writesReport && isModelFile(options.report, options.model))
    return makeError("--report " + options.report + " would overwrite a file of the model " + options.model +
                     "; give another one");
  for (auto &[flag, path] :
       {std::pair("--report ", writesReport ? options.report : ""), std::pair("--save-ir ", options.saveIr)})
    if (!path.empty() && !options.output.empty() && isWithin(path, options.output))
      return makeError(flag + path + " lies where the package is written, -o " + options.output +
                       "; give a place outside of it");
  return llvm::Error::success();
}

llvm::Error mlir::par::checkOptions(CompileOptions &options) {
  if (options.model.empty())
    return makeError("a model is missing: a Hugging Face folder, config.json or graph.mlir; see --help");
  if (options.output.empty() && options.writesPackage())
    return makeError("-o DIR.par is missing: where to write the package");
  for (const LaterFlag &flag : kLater)
    if (options.later[flag.name] != flag.neutral)
      return makeError(
          llvm::Twine("--") + flag.name + " " + options.later[flag.name] + " is not built yet" +
          (*flag.neutral ? std::string("; leave it out or give ") + flag.neutral : "; leave it out"));
  if (options.microBatches < 1)
    return makeError("--micro-batches: " + llvm::Twine(options.microBatches) + " must be at least 1");
  completeOffload(options);
  using Check = llvm::Error (*)(CompileOptions &);
  for (Check check : {checkPaths, checkPhases, checkActing, checkOverlap, checkMesh, checkMemoryLimit,
                      checkRecompute, checkStrategies, dropIdle})
    if (llvm::Error error = check(options))
      return error;
  return llvm::Error::success();
}
