//===- Calibrate.cpp - this machine, measured once ------------------------------------------------------===//
#include "par/Planner/Calibrate.h"
#include "par/Cost/ClusterFile.h"
#include "par/Planner/MeasureProcess.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/JsonText.h"
#include "par/Support/MakeError.h"
#include "par/Support/ToolPath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"

#include <array>
#include <chrono>

using namespace mlir::par;
using llvm::Error;
using llvm::Expected;
using llvm::SmallString;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr int64_t kRounds = 2;
/// Of all rounds together. An idle machine takes some seconds for each.
static constexpr std::chrono::seconds kDeadline(60);
/// By how much two rounds may differ on a machine that does nothing else.
static constexpr double kMostDifference = 0.15;

static Expected<Cluster> readFigures(llvm::StringRef text) {
  Expected<llvm::json::Value> value = parseJson("what par-measure wrote", text, "measurement");
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  return object ? makeCluster(*object) : makeError("par-measure wrote no JSON object");
}

/// How far apart two rounds are in what a plan's time is made of, as a share of the slower one.
static double compareRounds(const Cluster &first, const Cluster &second) {
  auto getRates = [](const Cluster &cluster) {
    return std::array{cluster.device.products.peakF32, cluster.device.kernelFlops,
                      cluster.device.memory.points.back().second};
  };
  double most = 0;
  for (auto [one, other] : llvm::zip(getRates(first), getRates(second)))
    most = std::max(most, std::max(one, other) / std::min(one, other) - 1);
  return most;
}

/// Of each round that came to its end: a line of JSON.
static Expected<std::vector<Cluster>> readRounds(llvm::StringRef text) {
  std::vector<Cluster> rounds;
  while (text.contains('\n')) {
    auto [line, rest] = text.split('\n');
    Expected<Cluster> cluster = readFigures(line);
    if (!cluster)
      return cluster.takeError();
    rounds.push_back(std::move(*cluster));
    text = rest;
  }
  if (rounds.empty())
    return makeError("par-measure did not end within a minute: this machine is busy");
  return rounds;
}

MeasuredMachine mlir::par::judgeRounds(std::vector<Cluster> rounds) {
  auto isQuicker = [](const Cluster &one, const Cluster &other) {
    return one.device.products.peakF32 < other.device.products.peakF32;
  };
  std::string why;
  if (rounds.size() < kRounds)
    why = "there was no time for a second round";
  else if (double difference = compareRounds(rounds[0], rounds[1]); difference > kMostDifference)
    why = llvm::formatv("two rounds differ by {0:f0} %", 100 * difference);
  Cluster best = std::move(*llvm::max_element(rounds, isQuicker));
  if (!why.empty())
    best.name += " (measured while it was busy: " + why + ")";
  return {std::move(best), why};
}

Expected<MeasuredMachine> mlir::par::measureThisMachine() {
  Expected<std::string> figures =
      runMeasureTool(getToolPath("par-measure"), kRounds, std::chrono::steady_clock::now() + kDeadline);
  Expected<std::vector<Cluster>> rounds = figures ? readRounds(*figures) : figures.takeError();
  if (!rounds)
    return makeError(llvm::toString(rounds.takeError()) +
                     "; run it again when the machine is idle, or give a cluster file by --cluster");
  return judgeRounds(std::move(*rounds));
}

/// $XDG_CACHE_HOME/par/PROCESSOR-cores.json; empty where the user has no home. LLVM asks for the processor's
/// model, so two machines with one home do not take each other's figures.
static std::string getCacheFile() {
  SmallString<128> file;
  if (!path::cache_directory(file))
    return "";
  path::append(file, "par",
               llvm::formatv("{0}-{1}-cores.json", llvm::sys::getHostCPUName(),
                             llvm::hardware_concurrency().compute_thread_count())
                   .str());
  return std::string(file);
}

/// Figures that cannot be kept are still good for this run.
static void keep(const Cluster &cluster, const std::string &file) {
  std::error_code code = fs::create_directories(path::parent_path(file));
  Error error = code ? makeError(file + ": " + code.message()) : writeCluster(cluster, file);
  if (error)
    printNote("it is not kept: " + llvm::toString(std::move(error)));
  else
    printNote("kept in " + file);
}

Expected<Cluster> mlir::par::getThisMachine() {
  std::string file = getCacheFile();
  if (!file.empty() && fs::exists(file)) {
    Expected<Cluster> kept = readCluster(file);
    if (kept)
      return kept;
    printNote(llvm::toString(kept.takeError()));
  }
  printNote("measuring this machine, once, for some seconds; --cluster FILE.json says it without");
  Expected<MeasuredMachine> measured = measureThisMachine();
  if (!measured)
    return measured.takeError();
  if (!measured->whyBusy.empty())
    printNote("this machine is busy: " + measured->whyBusy +
              "; what was measured serves this once and is not kept");
  else if (!file.empty())
    keep(measured->cluster, file);
  return std::move(measured->cluster);
}
