//===- Compiler.cpp - from a model to a package ---------------------------------------------------------===//
#include "Compiler.h"
#include "GraphSize.h"
#include "MemoryLimit.h"
#include "RecomputeLimit.h"
#include "par/Conversion/Passes.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Emit/Manifest.h"
#include "par/Emit/ObjectCode.h"
#include "par/Emit/Package.h"
#include "par/Emit/Report.h"
#include "par/Import/Import.h"
#include "par/Import/ModelNumbers.h"
#include "par/Pipelines/Pipelines.h"
#include "par/Register/Register.h"
#include "par/Support/Bytes.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/GraphFile.h"
#include "par/Support/OutputFile.h"
#include "par/Transforms/Differentiate/Passes.h"
#include "par/io/ModelFiles.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include <chrono>

using namespace mlir;
using namespace mlir::par;

namespace {
/// One compilation.
class Compiler {
public:
  /// Without a launcher it says nothing and writes nothing.
  Compiler(const CompileOptions &options, llvm::StringRef launcher)
      : options(options), launcher(launcher), context(makeRegistry(), MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &diagnostic) {
          return isQuiet() ? success() : printDiagnostic(diagnostic);
        }) {
    context.loadAllAvailableDialects();
    // Remarks and errors are one line; the IR that they are about is behind --save-ir.
    context.printOpOnDiagnostic(false);
  }

  int run() {
    if (failed(load()) || failed(runPhases()))
      return 1;
    if (!options.to.empty())
      return printModule();
    llvm::json::Object manifest = describe();
    if (failed(checkMemory(manifest)))
      return 1;
    // The summary comes last: it says that the package is there.
    if (options.writesPackage() && failed(emit(manifest)))
      return 1;
    llvm::sys::DontRemoveFileOnSignal(options.report);
    printSummary(manifest);
    return finishOutput(0);
  }

  /// What a rank needs; nothing if the model does not compile.
  std::optional<PlanSize> plan() {
    if (failed(load()) || failed(runPhases()))
      return std::nullopt;
    rank::ScheduleOp train = *module->getOps<rank::ScheduleOp>().begin();
    PlanSize size{static_cast<int64_t>(train.getPeakBytes().value_or(0))};
    if (DictionaryAttr arena = train.getArenaBytesAttr())
      if (auto saved = arena.getAs<IntegerAttr>(rank::stringifyCategory(rank::Category::Activations)))
        size.saved = saved.getInt();
    return size;
  }

  /// The same under other flags, in silence.
  static std::optional<PlanSize> planOther(const CompileOptions &options) {
    CompileOptions quiet = options;
    quiet.explain = false;
    quiet.saveIr.clear();
    auto start = std::chrono::steady_clock::now();
    std::optional<PlanSize> size = Compiler(quiet, "").plan();
    if (llvm::sys::Process::StandardErrIsDisplayed()) {
      std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      llvm::errs() << llvm::format("another plan   %6.2f s  ", seconds.count())
                   << (size ? formatBytes(size->peak) : "none") << "\n";
    }
    return size;
  }

private:
  bool isQuiet() const { return launcher.empty(); }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  LogicalResult fail(const llvm::Twine &message) {
    if (!isQuiet())
      llvm::errs() << "error: " << message << "\n";
    return failure();
  }

  //===--------------------------------------------------------------------===//
  // Model
  //===--------------------------------------------------------------------===//

  LogicalResult load() {
    bool isGraph = llvm::StringRef(options.model).ends_with(".mlir") ||
                   llvm::StringRef(options.model).ends_with(".mlirbc");
    if (!options.from.empty() && !isGraph)
      return fail("--from: " + options.model + " is a model; give a graph that --save-ir wrote");
    if (failed(isGraph ? loadGraph() : loadModel()) || failed(checkSizes()))
      return failure();
    dropIdleOffload();
    return success();
  }

  /// Masters are kept for bf16 parameters, moments for AdamW; a graph that is differentiated has its own.
  /// Whoever compares optimizers gives both the same flags, so a note has to do.
  void dropIdleOffload() {
    bool hasState = options.optimizer != "sgd" || getType() == "bf16" || isDifferentiated();
    if (options.offload == "none" || hasState)
      return;
    if (!isQuiet())
      llvm::errs() << "note: --offload " << options.offload
                   << ": no effect, as --optimizer sgd with f32 parameters has neither moments nor masters\n";
    options.offload = "none";
    if (isOneRank())
      options.overlap = "off";
  }

  bool isOneRank() const {
    return llvm::all_of(options.axes, [](const auto &axis) { return axis.second == 1; });
  }

  /// Bytes of a step are counted in 64 bits: what a forward pass makes stays so far below that its gradients
  /// and all other state do, too.
  LogicalResult checkSizes() {
    constexpr double most = 0x1p56;
    double bytes = countForwardBytes(*module);
    auto print = [](double size) {
      return std::to_string(static_cast<int64_t>(std::min(size / 0x1p50, 1e18))) + " PiB";
    };
    return bytes <= most
               ? success()
               : fail(options.model + ": a forward pass over " + llvm::Twine(batch / options.microBatches) +
                      " sequences of " + llvm::Twine(seq) + " tokens takes " + print(bytes) +
                      ", more than the " + print(most) +
                      " that can be planned; take a smaller --batch or --seq, or more --micro-batches");
  }

  /// Sequences of a step, checked against mesh and micro-batches.
  LogicalResult setBatch(int64_t total) {
    int64_t dp = countDataRanks(options.axes), parts = dp * options.microBatches;
    batch = total;
    if (total < 1)
      return fail("--batch " + llvm::Twine(total) +
                  ": a step has a sequence per micro-batch and data-parallel rank or more; give "
                  "micro-batches x dp = " +
                  llvm::Twine(options.microBatches) + " x " + llvm::Twine(dp) + ", or a multiple of it");
    if (total % parts)
      return fail("--batch " + llvm::Twine(total) +
                  " is not divisible by micro-batches x dp = " + llvm::Twine(options.microBatches) + " x " +
                  llvm::Twine(dp) + "; choose a multiple of " + llvm::Twine(parts));
    return success();
  }

  LogicalResult loadModel() {
    if (failed(setBatch(options.batch.value_or(8 * countDataRanks(options.axes)))))
      return failure();
    ImportOptions import;
    import.model = options.model;
    import.overrides = options.overrides;
    import.seq = options.seq;
    if (!options.dtype.empty())
      import.dtype = options.dtype;
    import.batch = batch / options.microBatches;
    FailureOr<ImportPlan> plan = planImport(context, import);
    if (failed(plan))
      return failure();
    seq = plan->seq;
    config = plan->config.json;
    module = importModel(context, import);
    return success(static_cast<bool>(module));
  }

  LogicalResult loadGraph() {
    module = parseGraphFile(context, options.model);
    if (!module)
      return failure();
    if (!options.overrides.empty())
      return fail("--set changes a config; " + options.model + " is a graph");
    if (failed(checkMesh()) || failed(checkState()) || failed(checkType()))
      return failure();
    auto described = (*module)->getAttrOfType<DictionaryAttr>(ParDialect::kModelAttr);
    if (!described || !described.getAs<IntegerAttr>("vocab"))
      return fail(
          options.model +
          ": the module does not say how many tokens exist; add the attribute par.model = {vocab = N : i64}");
    describeGraph(*module);
    for (auto function : module->getOps<func::FuncOp>())
      for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
        // The global type where the module is local already.
        if (getInput(function, argument) == InputKind::Tokens)
          return takeSizes(getGlobalType(function, argument));
    return fail(options.model + ": no function has an argument that is #par.place<input tokens>; the runtime "
                                "feeds tokens and targets");
  }

  /// A graph that has a mesh already must have the one that is asked for: the manifest is written from the
  /// flag.
  LogicalResult checkMesh() {
    MeshAttr mesh = getMesh(*module);
    if (!mesh)
      return success();
    std::map<std::string, int64_t> sizes;
    std::string text;
    for (StringAttr name : mesh.getNames()) {
      std::string axis = MeshAttr::getParentAxis(name.getValue()).str();
      sizes[axis] = (sizes.count(axis) ? sizes[axis] : 1) * mesh.getSize(name.getValue());
    }
    bool same = true;
    for (auto &[axis, size] : sizes) {
      same &= options.getAxis(axis) == size;
      text += (text.empty() ? "" : ",") + axis + "=" + std::to_string(size);
    }
    for (auto &[axis, size] : options.axes)
      same &= size == 1 || sizes.count(axis);
    return same ? success()
                : fail(options.model + ": the graph is on the mesh " + text + "; give --mesh " + text);
  }

  /// Of parameters: bf16 if any is.
  StringRef getType() {
    return llvm::any_of(module->getOps<VariableOp>(),
                        [](VariableOp variable) {
                          return variable.getRole() == Role::Parameter &&
                                 variable.getTensorType().getElementType().isBF16();
                        })
               ? "bf16"
               : "f32";
  }

  LogicalResult checkType() {
    if (options.dtype.empty() || options.dtype == getType())
      return success();
    return fail("--dtype " + options.dtype + ": the parameters of " + options.model + " are " + getType() +
                ", and a graph keeps its types; leave --dtype out or import with --dtype " + options.dtype);
  }

  bool isPartitioned() {
    return llvm::any_of(module->getOps<func::FuncOp>(),
                        [](func::FuncOp function) { return function->hasAttr(ParDialect::kLocalAttr); });
  }

  bool isOverlapped() {
    return module->walk([](WaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  bool isDifferentiated() { return ChunkFunctions(*module).isDifferentiated(); }

  /// A graph that someone annotated by hand has shardings here and there.
  bool isPropagated() {
    auto lacksSharding = [](Operation *op) {
      bool lacks = op->getNumResults() && !op->hasAttr(ParDialect::kShardingAttr);
      return lacks ? WalkResult::interrupt() : WalkResult::advance();
    };
    return llvm::all_of(module->getOps<func::FuncOp>(), [&](func::FuncOp function) {
      return !function.walk(lacksSharding).wasInterrupted();
    });
  }

  /// What is done must not be done again: which phase goes on with the graph.
  LogicalResult checkNotDone() {
    if (!module->getOps<rank::ScheduleOp>().empty())
      return fail(options.model + ": the graph is lowered already, and no --from goes on with that; give "
                                  "what --save-ir wrote before lower");
    auto begin = [&](llvm::ArrayRef<StringRef> phases, StringRef state, StringRef flags) -> LogicalResult {
      return llvm::is_contained(phases, options.from)
                 ? success()
                 : fail(options.model + ": the graph " + state + " already; go on with " + flags);
    };
    if (isOverlapped())
      return begin({"lower"}, "is overlapped", "--from lower");
    if (isPartitioned())
      return begin({"overlap", "lower"}, "is partitioned",
                   options.isOverlapped() ? "--from overlap" : "--from lower");
    if (isDifferentiated())
      return begin({"partition", "overlap", "lower"}, "is differentiated", "--from partition");
    if (getMesh(*module))
      return begin({"propagate", "differentiate", "partition", "overlap", "lower"}, "has a mesh",
                   isPropagated() ? "--from differentiate" : "--from propagate");
    return success();
  }

  /// What is to be gathered once must be stored in parts.
  LogicalResult checkGathers() {
    bool inParts = llvm::any_of(module->getOps<VariableOp>(), [](VariableOp variable) {
      return variable.getRole() == Role::Parameter && variable.getStorageAttr();
    });
    MeshAttr mesh = getMesh(*module);
    if (options.zero3Gather != "per-step" || !options.isAnnotated() || inParts ||
        (mesh && mesh.getNumRanks() == 1))
      return success();
    return fail(options.model +
                ": --zero3-gather per-step says when ZeRO-3 gathers parameters, but the graph stores "
                "each of them whole; annotate it with --zero 3 or leave it out");
  }

  /// What `--from` begins with must have been done up to there, and no further.
  LogicalResult checkState() {
    if (failed(checkNotDone()) || failed(checkGathers()))
      return failure();
    if (options.from != "overlap" && options.from != "lower")
      return success();
    for (auto function : module->getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(ParDialect::kLocalAttr))
        return fail(options.model + ": --from " + options.from + ", but @" + function.getSymName() +
                    " is not partitioned; begin with --from partition");
    return success();
  }

  LogicalResult takeSizes(RankedTensorType tokens) {
    if (tokens.getRank() != 2)
      return fail(options.model + ": tokens must be tensor<batch x seq x i32>");
    seq = tokens.getDimSize(1);
    int64_t total = tokens.getDimSize(0) * options.microBatches;
    if (options.seq && *options.seq != seq)
      return fail("--seq " + llvm::Twine(*options.seq) + " differs from the graph's " + llvm::Twine(seq));
    if (options.batch && *options.batch != total)
      return fail("--batch " + llvm::Twine(*options.batch) +
                  " differs from the graph's batch x micro-batches = " + llvm::Twine(total));
    return setBatch(total);
  }

  //===--------------------------------------------------------------------===//
  // Phases
  //===--------------------------------------------------------------------===//

  LogicalResult runPhases() {
    bool begun = options.from.empty() || options.from == "import";
    auto phase = [&](StringRef name, function_ref<void(OpPassManager &)> build) -> LogicalResult {
      begun |= options.from == name;
      if (!begun || stopped)
        return success();
      return runPhase(name, build);
    };
    if (begun && failed(finishPhase("import", std::chrono::steady_clock::now())))
      return failure();
    if (failed(phase("annotate",
                     [&](OpPassManager &manager) {
                       AnnotatePipelineOptions annotate;
                       annotate.mesh = options.mesh;
                       annotate.sequenceParallel = options.sequenceParallel;
                       annotate.zero = options.getZero();
                       buildAnnotatePipeline(manager, annotate);
                     })) ||
        failed(phase("propagate", buildPropagatePipeline)) ||
        failed(phase("differentiate", [&](OpPassManager &manager) {
          DifferentiatePipelineOptions differentiate;
          differentiate.optimizer = options.optimizer;
          differentiate.gradType = options.gradType;
          differentiate.momentType = options.momentType;
          differentiate.holdGathered = options.zero3Gather == "per-step";
          differentiate.recompute = options.recompute;
          differentiate.recomputeLimit = options.recomputeLimit.value_or(-1);
          buildDifferentiatePipeline(manager, differentiate);
        })))
      return failure();
    if (failed(phase("partition", [&](OpPassManager &manager) {
          // What differentiation wrote has shardings only where it copied them.
          buildPropagatePipeline(manager);
          PartitionPipelineOptions partition;
          partition.explain = options.explain;
          buildPartitionPipeline(manager, partition);
        })))
      return failure();
    auto overlap = [&](OpPassManager &manager) {
      OverlapPipelineOptions overlap;
      overlap.microBatches = options.microBatches;
      overlap.prefetchLimit = options.prefetchLimit.value_or(-1);
      if (options.bucketBytes)
        overlap.bucketBytes = *options.bucketBytes;
      buildOverlapPipeline(manager, overlap);
    };
    if (options.isOverlapped() && failed(phase("overlap", overlap)))
      return failure();
    return phase("lower", [&](OpPassManager &manager) {
      LowerPipelineOptions lower;
      lower.microBatches = options.microBatches;
      lower.offload = options.offload != "none";
      lower.overlapOffload = options.isOverlapped();
      lower.updateOnHost = options.offload == "optimizer:host-update";
      buildLowerPipeline(manager, lower);
    });
  }

  LogicalResult runPhase(StringRef name, function_ref<void(OpPassManager &)> build) {
    auto start = std::chrono::steady_clock::now();
    PassManager manager(&context);
    // What is only measured is not checked: it takes a third of the time, and what is compiled in the end is.
    manager.enableVerifier(!isQuiet());
    build(manager);
    if (failed(manager.run(*module)))
      return failure();
    return finishPhase(name, start);
  }

  /// Progress, dump and `--to`.
  LogicalResult finishPhase(StringRef name, std::chrono::steady_clock::time_point start) {
    if (!isQuiet() && llvm::sys::Process::StandardErrIsDisplayed()) {
      std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      llvm::errs() << llvm::format("%-14s %6.2f s\n", name.str().c_str(), seconds.count());
    }
    stopped = options.to == name;
    ++phases;
    if (options.saveIr.empty())
      return success();
    namespace fs = llvm::sys::fs;
    if (std::error_code code = fs::create_directories(options.saveIr, /*IgnoreExisting=*/true, fs::all_all))
      return fail("--save-ir " + options.saveIr + ": " + code.message());
    std::string path = (options.saveIr + "/" + llvm::Twine(phases) + "-" + name + ".mlir").str();
    if (llvm::Error error = writeOutput(path, print()))
      return fail(llvm::toString(std::move(error)));
    return success();
  }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

  int printModule() {
    llvm::outs() << print();
    return finishOutput(0);
  }

  //===--------------------------------------------------------------------===//
  // Package
  //===--------------------------------------------------------------------===//

  llvm::json::Object describe() {
    ManifestOptions manifest;
    manifest.seq = seq;
    manifest.batch = batch;
    manifest.microBatches = options.microBatches;
    manifest.dtype = getType().str();
    manifest.mesh = options.axes;
    manifest.zero = options.getZero();
    manifest.zero3Gather = options.zero3Gather;
    manifest.sequenceParallel = options.sequenceParallel;
    manifest.offload = options.offload;
    return buildManifest(*module, manifest);
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// A compilation that is interrupted leaves neither package nor report.
  LogicalResult writeReportFile(const MemoryProfile &profile, const llvm::json::Object &manifest) {
    if (llvm::Error error = writeOutput(options.report, writeReport(profile, manifest, options.memoryLimit)))
      return fail(llvm::toString(std::move(error)));
    llvm::sys::RemoveFileOnSignal(options.report);
    return success();
  }

  /// The report and the limit. A plan that is too large has a report too: it shows why.
  LogicalResult checkMemory(const llvm::json::Object &manifest) {
    if (options.report.empty() && !options.memoryLimit && !options.explain)
      return success();
    MemoryProfile profile = profileMemory(*module);
    if (!options.report.empty() && failed(writeReportFile(profile, manifest)))
      return failure();
    if (options.memoryLimit && profile.peakBytes > options.memoryLimit) {
      printTooLarge(options, profile, batch, planOther, llvm::errs());
      return failure();
    }
    if (options.explain)
      printLiveAtPeak(profile, "memory: ", llvm::outs());
    return success();
  }

  /// Exact, and as people read it.
  static std::string describeBytes(int64_t bytes) {
    std::string exact = std::to_string(bytes) + " bytes";
    return bytes < 1024 ? exact : exact + " (" + formatBytes(bytes) + ")";
  }

  void printSummary(const llvm::json::Object &manifest) {
    const llvm::json::Object &memory = *(*manifest.getArray("memory"))[0].getAsObject();
    llvm::outs() << "ranks " << *manifest.getInteger("world_size") << ", batch " << batch << " in "
                 << options.microBatches << " micro-batches, seq " << seq << "\n"
                 << "peak memory per rank " << describeBytes(*memory.getInteger("peak_bytes")) << ":";
    for (auto &[category, bytes] : *memory.getObject("arena_bytes"))
      llvm::outs() << " " << StringRef(category) << " " << *bytes.getAsInteger() << " ("
                   << formatBytes(*bytes.getAsInteger()) << ")";
    llvm::outs() << "\n";
    if (int64_t bytes = *memory.getInteger("host_peak_bytes"))
      llvm::outs() << "host memory per rank " << describeBytes(bytes) << "\n";
    printTraffic(*manifest.getArray("collectives"));
  }

  /// Kind and axes with bytes and calls per rank and step; with --explain one line per cause.
  void printTraffic(const llvm::json::Array &collectives) {
    std::map<std::string, std::pair<int64_t, int64_t>> rows;
    for (const llvm::json::Value &value : collectives) {
      const llvm::json::Object &entry = *value.getAsObject();
      std::string key = entry.getString("kind")->str() + " over";
      for (const llvm::json::Value &axis : *entry.getArray("axes"))
        key += " " + axis.getAsString()->str();
      if (options.explain && !entry.getString("cause")->empty())
        key += ": " + entry.getString("cause")->str();
      rows[key].first += *entry.getInteger("bytes");
      rows[key].second += *entry.getInteger("count");
    }
    for (auto &[key, row] : rows)
      llvm::outs() << describeBytes(row.first) << " in " << row.second << " calls per rank and step: " << key
                   << "\n";
  }

  /// Sets what the manifest says of the machine.
  LogicalResult emit(llvm::json::Object &manifest) {
    llvm::Expected<CpuTarget> target = getCpuTarget(options.cpu);
    if (!target)
      return fail(llvm::toString(target.takeError()));
    llvm::Expected<PackageWriter> package = PackageWriter::create(options.output);
    if (!package)
      return fail(llvm::toString(package.takeError()));
    manifest["cpu_features"] = llvm::json::Array(target->requirements);
    int64_t ranks = *manifest.getInteger("world_size");
    auto start = std::chrono::steady_clock::now();
    PassManager manager(&context);
    manager.addPass(createRankToLLVM());
    if (failed(manager.run(*module)))
      return failure();
    if (llvm::Error error =
            writeSharedLibrary(*module, *target, hashManifest(manifest), package->getPath("program0.so")))
      return fail(options.output + ": " + llvm::toString(std::move(error)));
    if (failed(keepModelFiles(*package)))
      return failure();
    if (failed(finishPhase("emit", start)))
      return failure();
    if (llvm::Error error = package->commit(manifest, launcher, ranks))
      return fail(llvm::toString(std::move(error)));
    return success();
  }

  /// The config as it was compiled, and the tokenizer: par-export and par-generate need nothing but the
  /// package then.
  LogicalResult keepModelFiles(PackageWriter &package) {
    if (config.empty())
      return success();
    if (llvm::Error error = package.write("config.json", config))
      return fail(llvm::toString(std::move(error)));
    for (const char *name : ::par::io::companionFiles) {
      llvm::SmallString<128> path(options.model);
      llvm::sys::path::append(path, name);
      if (!llvm::sys::fs::is_regular_file(path))
        continue;
      auto bytes = llvm::MemoryBuffer::getFile(path);
      if (!bytes)
        return fail(path + ": cannot be read: " + bytes.getError().message());
      if (llvm::Error error = package.write(name, (*bytes)->getBuffer()))
        return fail(llvm::toString(std::move(error)));
    }
    return success();
  }

  CompileOptions options; ///< less what cannot act on the model
  std::string launcher;
  std::string config; ///< empty: the model is a graph
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  int64_t batch = 0, seq = 0;
  int phases = 0;
  bool stopped = false;
};
} // namespace

int mlir::par::compile(CompileOptions options, llvm::StringRef launcher) {
  // Before the work, and again when the package takes its place.
  if (options.writesPackage())
    if (llvm::Error error = checkPackagePlace(options.output)) {
      llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
      return 1;
    }
  if (!options.idle.empty())
    llvm::errs() << "note: " << options.idle << "\n";
  if (options.recompute == "auto" && !options.recomputeLimit)
    options.recomputeLimit = findRecomputeLimit(options, Compiler::planOther);
  return Compiler(options, launcher).run();
}
