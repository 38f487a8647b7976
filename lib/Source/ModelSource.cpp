//===- ModelSource.cpp - the formats that models are read in --------------------------------------------===//
#include "par/Source/ModelSource.h"
#include "BuiltinSources.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::par;

static std::vector<ModelFormat> &getFormats() {
  static std::vector<ModelFormat> formats = {getConfigFormat(), getGraphFormat()};
  return formats;
}

void par::registerModelFormat(ModelFormat format) { getFormats().push_back(std::move(format)); }

std::unique_ptr<ModelSource> par::openModel(StringRef path) {
  for (const ModelFormat &format : llvm::reverse(getFormats()))
    if (format.reads(path))
      return format.make();
  return getFormats().front().make();
}
