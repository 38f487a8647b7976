//===- Calibrate.cpp - this machine, measured once ------------------------------------------------------===//
#include "par/Planner/Calibrate.h"
#include "par/Cost/ClusterFile.h"
#include "par/Support/MakeError.h"
#include "par/Support/ToolPath.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::par;
using llvm::Error;
using llvm::Expected;
using llvm::SmallString;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

Expected<Cluster> mlir::par::measureThisMachine() {
  std::string tool = getToolPath("par-measure");
  SmallString<128> figures;
  if (std::error_code code = fs::createTemporaryFile("par-measure", "json", figures))
    return makeError("no temporary file for par-measure: " + code.message());
  auto remove = llvm::make_scope_exit([&] { fs::remove(figures); });
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(tool, {tool, "-o", figures}, std::nullopt, {}, 0, 0, &problem);
  if (status != 0)
    return makeError(tool + " cannot measure this machine" + (problem.empty() ? "" : ": " + problem) +
                     "; give a cluster file by --cluster");
  auto buffer = llvm::MemoryBuffer::getFile(figures);
  if (!buffer)
    return makeError("what par-measure wrote cannot be read: " + buffer.getError().message());
  Expected<llvm::json::Value> value = llvm::json::parse((*buffer)->getBuffer());
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  return object ? makeCluster(*object) : makeError("par-measure wrote no JSON object");
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
    llvm::errs() << "note: it is not kept: " << llvm::toString(std::move(error)) << "\n";
  else
    llvm::errs() << "note: kept in " << file << "\n";
}

Expected<Cluster> mlir::par::getThisMachine() {
  std::string file = getCacheFile();
  if (!file.empty() && fs::exists(file)) {
    Expected<Cluster> kept = readCluster(file);
    if (kept)
      return kept;
    llvm::errs() << "note: " << llvm::toString(kept.takeError()) << "\n";
  }
  llvm::errs()
      << "note: measuring this machine, once, for some seconds; --cluster FILE.json says it without\n";
  Expected<Cluster> measured = measureThisMachine();
  if (measured && !file.empty())
    keep(*measured, file);
  return measured;
}
