// Cluster files: any text is read or refused with one line, and what is read reads back as it is written.
#include "Fuzz.h"
#include "JsonMutator.h"
#include "par/Cost/ClusterFile.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>

static std::string write(const mlir::par::Cluster &cluster) {
  return llvm::formatv("{0}", llvm::json::Value(mlir::par::toJson(cluster)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::Expected<mlir::par::Cluster> cluster = mlir::par::parseCluster("cluster.json", text);
  if (!cluster) {
    if (llvm::toString(cluster.takeError()).find('\n') != std::string::npos)
      std::abort();
    return 0;
  }
  std::string written = write(*cluster);
  llvm::Expected<mlir::par::Cluster> again = mlir::par::parseCluster("written.json", written);
  if (!again)
    llvm::report_fatal_error(again.takeError());
  if (write(*again) != written)
    std::abort();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return par::fuzz::mutateJson(data, size, maxSize, seed);
}
