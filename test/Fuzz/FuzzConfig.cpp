// config.json: any file is read or refused with one line, and what is read can be summed up.
#include "Fuzz.h"
#include "JsonMutator.h"
#include "par/Import/Import.h"

#include <cstdlib>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::Expected<mlir::par::ModelConfig> config = mlir::par::loadModelConfig(par::fuzz::fileWith(data, size));
  if (!config) {
    if (llvm::toString(config.takeError()).find('\n') != std::string::npos)
      std::abort();
    return 0;
  }
  (void)mlir::par::summarize(*config);
  for (const mlir::par::ModelLayer &layer : config->layers) {
    mlir::par::KindDescription description;
    layer.kind->describe(description);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return par::fuzz::mutateJson(data, size, maxSize, seed);
}
