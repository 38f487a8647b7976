//===- LibraryModel.cpp - how long devices take for ops of libraries ------------------------------------===//
#include "par/Cost/LibraryModel.h"
#include "AttentionModel.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::par;

static llvm::StringMap<LibraryModel> &getModels() {
  static llvm::StringMap<LibraryModel> models = {{AttentionOp::getOperationName(), modelAttention},
                                                 {AttentionBackwardOp::getOperationName(), modelAttention}};
  return models;
}

void par::registerLibraryModel(StringRef op, LibraryModel model) { getModels()[op] = model; }

DeviceTime par::findLibraryModel(rank::LibraryWorkInterface work) {
  LibraryModel model = getModels().lookup(work.getContent()->getName().getStringRef());
  return model ? model(work) : DeviceTime();
}
