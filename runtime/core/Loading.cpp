#include "core/Loading.h"

#include "core/Bf16Choice.h"
#include "core/Console.h"
#include "core/DataFiles.h"
#include "core/Delays.h"
#include "core/Devices.h"
#include "core/EmulatedKernels.h"
#include "core/Error.h"
#include "core/Evaluation.h"
#include "core/IdleFlags.h"
#include "core/Inputs.h"
#include "core/LearningRate.h"
#include "core/OutputPaths.h"
#include "core/ParameterFiles.h"
#include "par/io/Files.h"
#include "par/io/Memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace par::rt {

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A fault that can never happen would be a test that can never fail.
static void checkFault(const Fault &fault, const Manifest &manifest) {
  auto refuse = [&](const char *what, int64_t is, int64_t end) {
    throw Error("PAR_TEST_FAULT: " + manifest.path + " has no " + what + " " + std::to_string(is) +
                ", expected 0 to " + std::to_string(end - 1));
  };
  if (fault.kind == Fault::Kind::none)
    return;
  if (fault.rank < 0 || fault.rank >= manifest.worldSize)
    refuse("rank", fault.rank, manifest.worldSize);
  auto actions = int64_t(manifest.programOf(fault.rank).actions.size());
  if (fault.action < 0 || fault.action >= actions)
    refuse("action", fault.action, actions);
}

/// A tokenizer.json that belongs to the model, or nothing.
static std::string findTokenizer(const RunOptions &options) {
  for (const std::string &folder : {options.package, options.weights})
    if (!folder.empty() && io::isFile(folder + "/tokenizer.json"))
      return folder + "/tokenizer.json";
  return "";
}

/// Where the run begins: --resume latest takes --weights while there is no checkpoint.
static void openStart(RunOptions &options, Loaded &loaded, bool writes) {
  const Manifest &manifest = loaded.manifest;
  bool locks = writes && !options.checkpoint.empty();
  if (locks && !loaded.lock) // before anybody asks which checkpoint is the latest
    loaded.lock = std::make_unique<FolderLock>(options.checkpoint);
  loaded.resume = openResume(options, manifest, loaded.start);
  if (locks)
    checkUnused(options, loaded.resume.get(), loaded.start);
  if (loaded.resume || options.weights.empty())
    return;
  ParameterFiles files = parameterFiles(manifest, "--weights cannot load it", "leave --weights out");
  check(loaded.weights.open(options.weights));
  check(loaded.weights.match(io::shapesOf(files.tensors)));
}

/// "has step 8 of --steps 8 already", of a checkpoint.
static std::string describeEnd(const RunOptions &options, int64_t step) {
  std::string text = "has step " + std::to_string(step);
  if (!options.epochs)
    return text + " of --steps " + std::to_string(options.steps) + " already";
  char epochs[32];
  std::snprintf(epochs, sizeof(epochs), "%g", options.epochs);
  return text + ", with which --epochs " + epochs + " are over";
}

/// The steps after which so many epochs are over: those that a resumed run still needs, with its own batch.
static void settleSteps(RunOptions &options, const Loaded &loaded) {
  const Start &start = loaded.start;
  if (options.epochs) {
    double all = options.epochs * double(passLength(loaded.data, loaded.rows)) *
                 (1 - 1e-12); // 0.1 has no binary digits
    double windows = std::ceil(all) - double(start.windows);
    double steps = std::ceil(windows / double(loaded.manifest.batch));
    if (steps > 1e15)
      throw Error("--epochs " + std::to_string(options.epochs) + " are more than 1e15 steps; give fewer");
    options.steps = start.step + std::max<int64_t>(0, int64_t(steps));
    std::string last = "step " + std::to_string(options.steps) + ", the last of --epochs";
    if (std::string problem = scheduleProblem(options.hyper, options.steps, last); !problem.empty())
      throw Error(problem);
  }
  if (loaded.resume && start.step >= options.steps && !options.saveGrads.empty())
    throw Error(loaded.resume->path() + ": " + describeEnd(options, start.step) +
                ", so --save-grads has no step to save; give more " +
                (options.epochs ? "--epochs" : "--steps"));
}

/// The windows that the run uses have tokens of the model, and a target at least.
static void checkWindows(const RunOptions &options, const Loaded &loaded) {
  int64_t batch = loaded.manifest.batch, first = loaded.start.windows;
  bool endless = options.steps > INT64_MAX / 2 / batch;
  int64_t end = endless ? INT64_MAX : loaded.start.firstWindow(options.steps + 1, batch);
  check(loaded.data.checkVocabulary(end));
  if (loaded.manifest.sequence)
    check(loaded.data.checkTargets(first, std::max<int64_t>(0, end - first)));
}

void load(RunOptions &options, Loaded &loaded, bool writes) {
  loaded.fault = parseFault(environment("PAR_TEST_FAULT"));
  Delays(environment("PAR_TEST_DELAY"), 0); // reports what is malformed before ranks start
  loaded.manifest = openPackage(options.package);
  checkFault(loaded.fault, loaded.manifest);
  const Manifest &manifest = loaded.manifest;
  checkInputs(manifest);
  refuseIdleFlags(options, manifest);
  chooseBf16Units(options, manifest);
  checkOptions(options, manifest);
  checkEmulation(options, manifest);
  checkOutputs(options, manifest);
  if (writes && !options.trace.empty())
    check(io::checkWritable(options.trace));
  openStart(options, loaded, writes);
  options.data.tokenizer = options.evalData.tokenizer = findTokenizer(options);
  openTrainingData(options, loaded);
  settleSteps(options, loaded);
  if (manifest.sequence)
    checkWindows(options, loaded);
  loaded.schedule = loadSchedules(options.package, manifest, "train");
  if (!options.evalData.isGiven())
    return;
  openEvaluation(options, loaded);
  loaded.evaluate = loadSchedules(options.package, manifest, "eval");
}

int64_t memoryBytes(const Loaded &loaded) { return arenaBytes(loaded) + loaded.manifest.hostArenaBytes(); }

int64_t arenaBytes(const Loaded &loaded) {
  int64_t bytes = loaded.manifest.arenaBytes("train");
  return loaded.evaluate.empty() ? bytes : std::max(bytes, loaded.manifest.arenaBytes("eval"));
}

int64_t availableMemory() { return io::availableMemory(); }

std::string memoryProblem(const Manifest &manifest, int64_t arena, int ranksHere, int64_t available) {
  int64_t needed = 0;
  if (!__builtin_mul_overflow(arena, int64_t(ranksHere), &needed) && needed <= available)
    return "";
  return manifest.path + ": " + std::to_string(ranksHere) + " ranks need arenas of " + std::to_string(arena) +
         " bytes each, this machine has " + std::to_string(available) + " left; use a smaller model or batch";
}

static std::string meshText(const Manifest &manifest) {
  std::string text;
  for (const auto &[axis, size] : manifest.mesh)
    text += (text.empty() ? "" : ",") + axis + "=" + std::to_string(size);
  return text.empty() ? "1 rank" : text;
}

/// The sources and what they are read as.
static std::string describe(const io::DataOptions &options, const io::TokenData &data) {
  std::string types = data.typeNames();
  return describeData(options) + (types.empty() ? "" : ", read as " + types);
}

/// Of the learning rate, where the run goes on from a checkpoint that says its own.
static std::string jumpOf(const RunOptions &options, const Loaded &loaded) {
  int64_t step = loaded.start.step;
  if (!loaded.resume || !loaded.resume->info().learningRate || step == 0 || step >= options.steps)
    return "";
  return describeJump(options.hyper, step, options.steps, *loaded.resume->info().learningRate);
}

void announce(const RunOptions &options, const Loaded &loaded, const std::string &transport) {
  const Manifest &manifest = loaded.manifest;
  std::string values = loaded.resume ? "resumed from " + loaded.resume->path()
                       : !options.weights.empty()
                           ? "weights " + options.weights
                           : "initial values from seed " + std::to_string(options.seed);
  std::string text =
      "package " + options.package + ": " + manifest.modelType + ", " + std::to_string(manifest.parameters) +
      " parameters, mesh " + meshText(manifest) + ", " + manifest.dtype + ", " + manifest.optimizer +
      ", batch " + std::to_string(manifest.batch) +
      (manifest.sequence ? " x " + std::to_string(manifest.sequence) + " tokens\n" : " rows\n");
  text += "transport " + transport + "\n";
  if (options.deterministic)
    text += "deterministic: all sums have one order\n";
  if (std::string units = bf16UnitsOf(manifest); !units.empty())
    text += "bf16 units: " + units +
            (options.bf16Units ? "" : ", " + reasonFor(cpu::usedBf16Units(), cpu::supportedBf16Units())) +
            "\n";
  text +=
      (manifest.sequence || !options.data.rows.empty() ? "data " + describe(options.data, loaded.data) + ", "
                                                       : "") +
      values + "\n";
  if (options.epochs)
    text += "epochs of " + std::to_string(passLength(loaded.data, loaded.rows)) +
            " windows: the last step is " + std::to_string(options.steps) + "\n";
  if (options.kernels.areEmulated())
    text += "kernels emulated: nothing is computed\n";
  if (!loaded.evaluate.empty())
    text += "evaluation " + describe(options.evalData, loaded.evalData) + ", " +
            std::to_string(passLength(loaded.evalData, loaded.evalRows)) + " windows\n";
  if (!manifest.unproved.empty())
    text += "note: not proved to compute what one device would: " + manifest.unproved + "\n";
  for (const std::string &note : noteIdleFlags(options, manifest))
    text += "note: " + note + "\n";
  if (std::string jump = jumpOf(options, loaded); !jump.empty())
    text += "note: " + jump + "\n";
  if (loaded.resume && options.steps > 0 && loaded.start.step >= options.steps)
    text += "nothing to do: " + loaded.resume->path() + " " + describeEnd(options, loaded.start.step) + "\n";
  print(text);
}

} // namespace par::rt
