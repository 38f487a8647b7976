//===- FirstPredictions.cpp - what rows were predicted to take at first sight ---------------------------===//
#include "FirstPredictions.h"
#include "JsonFile.h"

using namespace mlir::par;
namespace json = llvm::json;

llvm::Expected<llvm::StringMap<FirstPrediction>> mlir::par::readFirstPredictions(llvm::StringRef path) {
  llvm::Expected<json::Value> value = readJson(path);
  if (!value)
    return value.takeError();
  const json::Object *file = value->getAsObject(), *rows = file ? file->getObject("rows") : nullptr;
  if (!rows)
    return makeError(path + ": has no rows");
  llvm::StringMap<FirstPrediction> predictions;
  for (const auto &[id, seconds] : *rows) {
    const json::Array *both = seconds.getAsArray();
    std::optional<double> with = both && both->size() == 2 ? (*both)[0].getAsNumber() : std::nullopt;
    std::optional<double> without = with ? (*both)[1].getAsNumber() : std::nullopt;
    if (!without || *with <= 0 || *without <= 0)
      return makeError(path + ": " + id.str() + " has no two positive numbers of seconds");
    predictions[id] = {*with, *without};
  }
  return predictions;
}
