#include "core/Loading.h"

#include "core/Delays.h"
#include "core/Error.h"
#include "core/Evaluation.h"
#include "core/IdleFlags.h"
#include "core/Inputs.h"
#include "core/Variables.h"
#include "par/io/Memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace par::rt {

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A fault that can never happen would be a test that can never fail.
static void checkFault(const Fault &fault, const Manifest &manifest) {
  auto actions = int64_t(manifest.program.actions.size());
  auto refuse = [&](const char *what, int64_t is, int64_t end) {
    throw Error("PAR_TEST_FAULT: " + manifest.path + " has no " + what + " " + std::to_string(is) +
                ", expected 0 to " + std::to_string(end - 1));
  };
  if (fault.kind == Fault::Kind::none)
    return;
  if (fault.rank < 0 || fault.rank >= manifest.worldSize)
    refuse("rank", fault.rank, manifest.worldSize);
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

void load(RunOptions &options, Loaded &loaded) {
  loaded.fault = parseFault(environment("PAR_TEST_FAULT"));
  Delays(environment("PAR_TEST_DELAY"), 0); // reports what is malformed before ranks start
  loaded.manifest = openPackage(options.package);
  checkFault(loaded.fault, loaded.manifest);
  const Manifest &manifest = loaded.manifest;
  checkInputs(manifest);
  refuseIdleFlags(options, manifest);
  loaded.resume = openResume(options, manifest, loaded.start);
  if (loaded.resume && loaded.start.step >= options.steps && !options.saveGrads.empty())
    throw Error(loaded.resume->path() + ": has step " + std::to_string(loaded.start.step) + " of " +
                std::to_string(options.steps) +
                " already, so --save-grads has no step to save; give more --steps");
  options.data.tokenizer = options.evalData.tokenizer = findTokenizer(options);
  check(loaded.data.open(options.data, manifest.sequence, manifest.vocabulary, options.seed));
  bool endless = options.steps > INT64_MAX / 2 / manifest.batch;
  check(loaded.data.checkVocabulary(endless ? INT64_MAX
                                            : loaded.start.firstWindow(options.steps + 1, manifest.batch)));
  if (!options.weights.empty()) {
    check(loaded.weights.open(options.weights));
    check(loaded.weights.match(parameterFiles(manifest.program)));
  }
  loaded.schedule = loadSchedule(options.package, manifest, "train");
  if (options.evalData.sources.empty())
    return;
  openEvaluation(options, manifest, loaded.evalData);
  loaded.evaluate = loadSchedule(options.package, manifest, "eval");
}

int64_t memoryBytes(const Loaded &loaded) {
  return arenaBytes(loaded) + loaded.manifest.program.hostArenaBytes;
}

int64_t arenaBytes(const Loaded &loaded) {
  int64_t bytes = loaded.manifest.program.findSchedule("train")->arenaBytes;
  return loaded.evaluate ? std::max(bytes, loaded.manifest.program.findSchedule("eval")->arenaBytes) : bytes;
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

void announce(const RunOptions &options, const Loaded &loaded, const std::string &transport) {
  const Manifest &manifest = loaded.manifest;
  std::printf("package %s: %s, %lld parameters, mesh %s, %s, %s, batch %lld x %lld tokens\n",
              options.package.c_str(), manifest.modelType.c_str(),
              static_cast<long long>(manifest.parameters), meshText(manifest).c_str(), manifest.dtype.c_str(),
              manifest.optimizer.c_str(), static_cast<long long>(manifest.batch),
              static_cast<long long>(manifest.sequence));
  std::printf("transport %s\n", transport.c_str());
  std::string values = loaded.resume ? "resumed from " + loaded.resume->path()
                       : !options.weights.empty()
                           ? "weights " + options.weights
                           : "initial values from seed " + std::to_string(options.seed);
  std::printf("data %s, %s\n", describe(options.data, loaded.data).c_str(), values.c_str());
  if (loaded.evaluate)
    std::printf("evaluation %s, %lld windows\n", describe(options.evalData, loaded.evalData).c_str(),
                static_cast<long long>(loaded.evalData.windowCount()));
  for (const std::string &note : noteIdleFlags(options, manifest))
    std::printf("note: %s\n", note.c_str());
  if (loaded.resume && options.steps > 0 && loaded.start.step >= options.steps)
    std::printf("nothing to do: %s has step %lld of --steps %lld already\n", loaded.resume->path().c_str(),
                static_cast<long long>(loaded.start.step), static_cast<long long>(options.steps));
  std::fflush(stdout);
}

} // namespace par::rt
