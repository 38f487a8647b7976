#include "core/Loading.h"

#include "core/Error.h"
#include "core/Inputs.h"
#include "core/Variables.h"

#include <cstdio>
#include <cstdlib>

namespace par::rt {

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

void load(const RunOptions &options, Loaded &loaded) {
  loaded.fault = parseFault(environment("PAR_TEST_FAULT"));
  loaded.manifest = openPackage(options.package);
  const Manifest &manifest = loaded.manifest;
  checkInputs(manifest);
  check(
      loaded.data.open(options.data, options.dataType, manifest.sequence, manifest.vocabulary, options.seed));
  bool endless = options.steps > INT64_MAX / manifest.batch;
  check(loaded.data.checkVocabulary(endless ? INT64_MAX : options.steps * manifest.batch));
  if (!options.weights.empty()) {
    check(loaded.weights.open(options.weights));
    check(loaded.weights.match(parameterFiles(manifest.program)));
  }
  loaded.schedule = loadSchedule(options.package, manifest.program);
}

int64_t availableMemory() {
  long long kib = 0;
  char line[256];
  std::FILE *file = std::fopen("/proc/meminfo", "r");
  if (!file)
    return INT64_MAX;
  while (std::fgets(line, sizeof(line), file))
    if (std::sscanf(line, "MemAvailable: %lld kB", &kib) == 1)
      break;
  std::fclose(file);
  return kib ? kib * 1024 : INT64_MAX;
}

std::string memoryProblem(const Manifest &manifest, int ranksHere, int64_t available) {
  int64_t needed = 0;
  if (!__builtin_mul_overflow(manifest.program.arenaBytes, int64_t(ranksHere), &needed) &&
      needed <= available)
    return "";
  return manifest.path + ": " + std::to_string(ranksHere) + " ranks need arenas of " +
         std::to_string(manifest.program.arenaBytes) + " bytes each, this machine has " +
         std::to_string(available) + " left; use a smaller model or batch";
}

static std::string meshText(const Manifest &manifest) {
  std::string text;
  for (const auto &[axis, size] : manifest.mesh)
    text += (text.empty() ? "" : ",") + axis + "=" + std::to_string(size);
  return text.empty() ? "1 rank" : text;
}

void announce(const RunOptions &options, const Manifest &manifest, const std::string &transport) {
  std::printf("package %s: %s, %lld parameters, mesh %s, %s, %s, batch %lld x %lld tokens\n",
              options.package.c_str(), manifest.modelType.c_str(),
              static_cast<long long>(manifest.parameters), meshText(manifest).c_str(), manifest.dtype.c_str(),
              manifest.optimizer.c_str(), static_cast<long long>(manifest.batch),
              static_cast<long long>(manifest.sequence));
  std::printf("transport %s\n", transport.c_str());
  std::printf("data %s, %s\n", options.data.c_str(),
              options.weights.empty() ? ("initial values from seed " + std::to_string(options.seed)).c_str()
                                      : ("weights " + options.weights).c_str());
  std::fflush(stdout);
}

} // namespace par::rt
