//===- GraphSize.cpp - how large what a graph computes is -----------------------------------------------===//
#include "GraphSize.h"
#include "par/Dialect/Par/IR/Par.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::par;

static double countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  double bytes = tensor ? 4 : 0;
  if (tensor)
    for (int64_t size : tensor.getShape())
      bytes *= static_cast<double>(size);
  return bytes;
}

namespace {
class ByteCounter {
public:
  explicit ByteCounter(ModuleOp module) : symbols(module) {}

  double count(func::FuncOp function) {
    // Zero while it is counted: a function that calls itself is refused elsewhere.
    auto [entry, isNew] = known.try_emplace(function.getSymName(), 0);
    if (!isNew || function.isExternal())
      return entry->second;
    double sum = 0;
    for (Operation &op : function.front()) {
      for (Type type : op.getResultTypes())
        sum += countBytes(type);
      auto call = dyn_cast<CallOp>(op);
      if (auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp())
        sum += count(callee);
    }
    return known[function.getSymName()] = sum;
  }

private:
  SymbolTable symbols;
  llvm::StringMap<double> known;
};
} // namespace

double par::countForwardBytes(ModuleOp module) {
  ByteCounter counter(module);
  double most = 0;
  for (auto function : module.getOps<func::FuncOp>())
    most = std::max(most, counter.count(function));
  return most;
}
