//===- Compiler.cpp - from a model to a package ---------------------------------------------------------===//
#include "Compiler.h"
#include "GraphInput.h"
#include "GraphSize.h"
#include "MemoryLimit.h"
#include "Summary.h"
#include "par/Compile/CheckNames.h"
#include "par/Compile/Driver.h"
#include "par/Compile/GraphState.h"
#include "par/Compile/LoadModel.h"
#include "par/Compile/PlanFlags.h"
#include "par/Compile/Proof.h"
#include "par/Cost/OwnSteps.h"
#include "par/Emit/AttentionPlans.h"
#include "par/Emit/Manifest.h"
#include "par/Emit/Package.h"
#include "par/Emit/Report.h"
#include "par/Register/Register.h"
#include "par/Schedule/PrintSchedule.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/OneThread.h"
#include "par/Support/OutputFile.h"
#include "par/Target/Target.h"
#include "par/io/ModelFiles.h"
#include "par/io/TemporaryNames.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <chrono>

using namespace mlir;
using namespace mlir::par;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

namespace {
/// One compilation.
class Compiler {
public:
  Compiler(const CompileOptions &options, llvm::StringRef launcher)
      : options(options), launcher(launcher), context(makeRegistry()), handler(&context, printDiagnostic),
        proof(options.proof) {
    context.loadAllAvailableDialects();
    // Remarks and errors are one line; the IR that they are about is behind --save-ir.
    context.printOpOnDiagnostic(false);
  }

  int run() {
    if (failed(load()) || failed(settle()) || failed(runPhases()))
      return 1;
    if (options.last)
      return printModule();
    llvm::json::Object manifest = buildManifest(*module, options.writesPackage());
    manifest["proof"] = proof.describe();
    if (failed(predict(manifest)) || failed(checkMemory(manifest)))
      return 1;
    // The summary comes last: it says that the package is there.
    if (options.writesPackage() && failed(emit(manifest)))
      return 1;
    for (int slot : written)
      ::par::io::releaseTemporary(slot);
    printVisible(llvm::outs(),
                 [&](llvm::raw_ostream &os) { printSummary(manifest, forecast, options.explain, os); });
    if (options.explain)
      explain();
    return finishOutput(0);
  }

private:
  static LogicalResult fail(const llvm::Twine &message) {
    printError(message);
    return failure();
  }
  static LogicalResult check(llvm::Error error) {
    return error ? fail(llvm::toString(std::move(error))) : success();
  }

  //===--------------------------------------------------------------------===//
  // Model and plan
  //===--------------------------------------------------------------------===//

  LogicalResult load() {
    if (failed(readModel()) || failed(checkSizes()) || failed(check(takeModel(*module, options))))
      return failure();
    // A graph that is annotated has what was frozen in it.
    bool isWhole = options.first <= CompilePhase::Annotate;
    return isWhole ? check(checkNames(*module, options.plan, options.getWords(), options.model)) : success();
  }

  LogicalResult readModel() {
    bool hasPlan = !options.planFile.empty();
    ModelRequest request{options.model, options.overrides};
    request.hasBatch = hasPlan || options.has("batch");
    request.hasSeq = hasPlan || options.has("seq");
    module = loadModel(context, *source, request, options.getWords(), options.plan);
    if (!module)
      return failure();
    return source->isGraph() ? check(takeGraph(*module, options)) : success();
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
               : fail(options.model + ": a forward pass over " + llvm::Twine(options.plan.getGraphBatch()) +
                      " sequences of " + llvm::Twine(options.plan.seq) + " tokens takes " + print(bytes) +
                      ", more than the " + print(most) +
                      " that can be planned; take a smaller --batch or --seq, or more --micro-batches");
  }

  /// The plan is final: checked, without what has no effect, and with all that it leaves open decided.
  LogicalResult settle() {
    llvm::Expected<std::vector<std::string>> notes = settlePlan(options);
    if (!notes)
      return check(notes.takeError());
    for (const std::string &note : *notes)
      printNote(note);
    if (options.memoryLimit) {
      begun = module->clone();
      decideForLimit(options, trials);
    }
    return success();
  }

  /// The graph with which trials of other plans begin.
  OwningOpRef<ModuleOp> importFor(const Plan &plan) {
    if (source->isGraph() || plan.getGraphBatch() == options.plan.getGraphBatch())
      return begun->clone();
    return source->build(context, plan.getGraphBatch());
  }

  //===--------------------------------------------------------------------===//
  // Phases
  //===--------------------------------------------------------------------===//

  LogicalResult runPhases() {
    auto start = std::chrono::steady_clock::now();
    // Whole compilations have a table of collectives at their end.
    Driver driver(options.plan, {options.explain, options.explain && options.last});
    if (options.isGraph() && failed(verifyGiven(driver)))
      return failure();
    proof.begin(options.first, *module);
    return driver.run(*module, options.first, options.last.value_or(CompilePhase::Lower),
                      [&](CompilePhase phase) {
                        LogicalResult result = finishPhase(phase, start);
                        start = std::chrono::steady_clock::now();
                        return result;
                      });
  }

  /// A given graph must have what the phases before would have made of it: nothing changes that any more.
  LogicalResult verifyGiven(const Driver &driver) {
    if (options.first != CompilePhase::Cut && options.first != CompilePhase::Differentiate)
      return success();
    if (getMesh(*module) && failed(driver.verifyGiven(*module, CompilePhase::Propagate)))
      return failure();
    return isCut(*module) ? driver.verifyGiven(*module, CompilePhase::Cut) : success();
  }

  /// Proof, progress and dump.
  LogicalResult finishPhase(CompilePhase phase, std::chrono::steady_clock::time_point start) {
    if (failed(proof.follow(phase, *module)))
      return failure();
    if (llvm::sys::Process::StandardErrIsDisplayed()) {
      std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      llvm::errs() << llvm::format("%-14s %6.2f s\n", getName(phase).str().c_str(), seconds.count());
    }
    ++phases;
    if (options.saveIr.empty())
      return success();
    namespace fs = llvm::sys::fs;
    if (std::error_code code = fs::create_directories(options.saveIr, /*IgnoreExisting=*/true, fs::all_all))
      return fail("--save-ir " + options.saveIr + ": " + code.message());
    return check(writeOutput(getSavedPath(phase, "mlir"), print()));
  }

  /// --save-ir keeps the device's code beside the last module.
  LogicalResult saveDeviceText(const PackageWriter &package, const Target &target) {
    if (options.saveIr.empty() || target.getDeviceText().empty())
      return success();
    std::string path = package.getPath(("program0." + target.getDeviceText()).str());
    auto text = llvm::MemoryBuffer::getFile(path);
    if (!text)
      return fail(path + ": cannot be read: " + text.getError().message());
    return check(writeOutput(getSavedPath(CompilePhase::Emit, target.getDeviceText()), (*text)->getBuffer()));
  }

  /// Where --save-ir writes what the phase made that was finished last.
  std::string getSavedPath(CompilePhase phase, llvm::StringRef extension) const {
    return (options.saveIr + "/" + llvm::Twine(phases) + "-" + getName(phase) + "." + extension).str();
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
  // Memory
  //===--------------------------------------------------------------------===//

  /// A compilation that is interrupted leaves neither package nor report.
  LogicalResult removeIfInterrupted(const std::string &path) {
    written.push_back(::par::io::registerTemporaryFile(path));
    return success();
  }

  LogicalResult writeReportFile(llvm::ArrayRef<MemoryProfile> stages, const llvm::json::Object &manifest) {
    ReportFacts facts{stages,
                      manifest,
                      options.plan,
                      printDifference(Plan(), options.plan),
                      *step,
                      options.cluster ? &*options.cluster : nullptr,
                      options.memoryLimit};
    if (failed(check(writeOutput(options.report, writeReport(facts)))))
      return failure();
    return removeIfInterrupted(options.report);
  }

  /// The report and the limit. A plan that is too large has a report too: it shows why.
  LogicalResult checkMemory(const llvm::json::Object &manifest) {
    if (options.report.empty() && !options.memoryLimit && !options.explain)
      return success();
    stages = profileStages(*module);
    if (!options.report.empty() && failed(writeReportFile(stages, manifest)))
      return failure();
    auto isTooLarge = [&](const MemoryProfile &stage) { return stage.peakBytes > options.memoryLimit; };
    if (options.memoryLimit && llvm::any_of(stages, isTooLarge)) {
      printVisible(llvm::errs(), [&](llvm::raw_ostream &os) { printTooLarge(options, stages, trials, os); });
      return failure();
    }
    return success();
  }

  /// What --explain says behind the summary.
  void explain() {
    printVisible(llvm::outs(), [&](llvm::raw_ostream &os) {
      for (auto [number, stage] : llvm::enumerate(stages))
        printLiveAtPeak(
            stage, stages.size() > 1 ? "memory of stage " + std::to_string(number) + ": " : "memory: ", os);
      printStep(*step, os);
    });
  }

  //===--------------------------------------------------------------------===//
  // Time
  //===--------------------------------------------------------------------===//

  /// What the step will do when: for those who want to see it, and where it is known for what machine.
  LogicalResult predict(const llvm::json::Object &manifest) {
    if (options.timeline.empty() && options.report.empty() && !options.explain && !options.cluster)
      return success();
    const Target *target = getTarget(*module);
    if (!target)
      return failure();
    FailureOr<PredictedStep> predicted = predictStep(*module, *makeMachine(*target));
    if (failed(predicted))
      return failure();
    step = std::move(*predicted);
    if (options.cluster)
      forecast = describeForecast(manifest, *step, options.plan, *options.cluster);
    return options.timeline.empty() ? success() : writeTimeline();
  }

  std::unique_ptr<Machine> makeMachine(const Target &target) {
    if (options.cluster) {
      options.cluster = shareOut(*options.cluster, options.plan.countRanks());
      takeOwnFactor(*options.cluster, options.plan.dtype);
      return std::make_unique<ClusterMachine>(*options.cluster, getMesh(*module));
    }
    return std::make_unique<RooflineMachine>(getRates(target));
  }

  /// Of the target, or of the device and link that a run emulates.
  DeviceRates getRates(const Target &target) const {
    DeviceRates rates = target.rates;
    if (options.kernels)
      rates.flops = options.kernels->first * 1e9, rates.memory = options.kernels->second * 1e9;
    if (options.link)
      rates.link = options.link->first * 1e9, rates.latency = options.link->second * 1e-6;
    return rates;
  }

  LogicalResult writeTimeline() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printTrace(step->lists, step->timeline, /*microseconds=*/1e6, stream);
    if (failed(check(writeOutput(options.timeline, text))))
      return failure();
    return removeIfInterrupted(options.timeline);
  }

  //===--------------------------------------------------------------------===//
  // Package
  //===--------------------------------------------------------------------===//

  /// Sets what the manifest says of the machine.
  LogicalResult emit(llvm::json::Object &manifest) {
    const Target *target = getTarget(*module);
    if (!target)
      return failure();
    llvm::Expected<PackageWriter> package = PackageWriter::create(options.output);
    if (!package)
      return fail(llvm::toString(package.takeError()));
    target->describeMachine(options.plan, manifest);
    int64_t ranks = *manifest.getInteger("world_size");
    auto start = std::chrono::steady_clock::now();
    if (failed(Driver(options.plan).run(*module, CompilePhase::Emit)))
      return failure();
    addDeviceLists(*module, manifest);
    if (llvm::Error error = target->writeProgram(*module, options.plan, hashManifest(manifest),
                                                 package->getPath("program0.so")))
      return fail(options.output + ": " + llvm::toString(std::move(error)));
    if (failed(keepModelFiles(*package)) || failed(planAttention(manifest, *package)))
      return failure();
    if (failed(finishPhase(CompilePhase::Emit, start)) || failed(saveDeviceText(*package, *target)))
      return failure();
    if (llvm::Error error = package->commit(manifest, launcher, ranks))
      return fail(llvm::toString(std::move(error)));
    return success();
  }

  LogicalResult planAttention(const llvm::json::Object &manifest, PackageWriter &package) {
    return options.cudnnPlans ? check(addAttentionPlans(manifest, package)) : success();
  }

  /// The config as it was compiled, and the tokenizer: par-export and par-generate need nothing but the
  /// package then.
  LogicalResult keepModelFiles(PackageWriter &package) {
    std::string config = source->getConfig();
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

  CompileOptions options; ///< the plan becomes complete
  std::string launcher;
  std::unique_ptr<ModelSource> source = openModel(options.model);
  OneThreadContext context;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  Proof proof;
  std::optional<PredictedStep> step;
  std::string forecast;              ///< what the summary says of it; empty: nothing
  std::vector<MemoryProfile> stages; ///< for those who want to see or limit what they hold
  OwningOpRef<ModuleOp> begun;       ///< before the first phase; null without a limit of memory
  PlanTrials trials{context, options.first, [this](const Plan &plan) { return importFor(plan); }};
  int phases = 0;
  std::vector<int> written; ///< of files beside the package, while there is none (par/io/TemporaryNames.h)
};
} // namespace

int mlir::par::compile(const CompileOptions &options, llvm::StringRef launcher) {
  // Before the work, and again when the package takes its place.
  if (options.writesPackage())
    if (llvm::Error error = checkPackagePlace(options.output)) {
      printError(std::move(error));
      return 1;
    }
  return Compiler(options, launcher).run();
}
