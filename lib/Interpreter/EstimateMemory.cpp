//===- EstimateMemory.cpp - what an evaluation takes, before it takes it ----------------------------===//
#include "InterpretGraph.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Of a graph: its variables stay, the values of a function live as long as it runs. In double, which cannot
/// overflow.
class Estimate {
public:
  explicit Estimate(ModuleOp module) : module(module), symbols(module) {}

  double run() {
    double most = 0;
    for (auto function : module.getOps<func::FuncOp>())
      most = std::max(most, getFrame(function));
    for (auto function : module.getOps<func::FuncOp>())
      addVariables(function);
    return most + variables;
  }

private:
  static double getBytes(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return 0;
    double bytes = sizeof(double);
    for (int64_t size : tensor.getShape())
      bytes *= size;
    return bytes;
  }

  /// With the functions that it calls, one at a time.
  double getFrame(func::FuncOp function) {
    if (auto known = frames.find(function); known != frames.end())
      return known->second;
    frames[function] = 0; // where it calls itself, which is an error later
    double values = 0, calls = 0;
    for (Type type : function.getArgumentTypes())
      values += getBytes(type);
    function.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        values += getBytes(type);
      if (auto call = dyn_cast<CallOp>(op))
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          calls = std::max(calls, getFrame(callee));
    });
    return frames[function] = values + calls;
  }

  /// Each once, of the type of its place in a function: a rank's part in a graph that is partitioned.
  void addVariables(func::FuncOp function) {
    auto add = [&](FlatSymbolRefAttr name, Type type) {
      if (name && seen.insert(name.getValue()).second)
        variables += getBytes(type);
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      add(getVariable(function, i), function.getArgumentTypes()[i]);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      add(getResultVariable(function, i), function.getResultTypes()[i]);
  }

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, double> frames;
  llvm::StringSet<> seen;
  double variables = 0;
};
} // namespace

double par::estimateMemory(ModuleOp module) {
  bool isLocal = llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return function->hasAttr(ParDialect::kLocalAttr);
  });
  MeshAttr mesh = getMesh(module);
  double ranks = isLocal && mesh ? mesh.getNumRanks() : 1;
  double arena = 0;
  // A number and a state for every byte.
  for (auto schedule : module.getOps<rank::ScheduleOp>())
    arena = std::max(arena,
                     9.0 * (schedule.getPeakBytes().value_or(0) + schedule.getHostPeakBytes().value_or(0)));
  return ranks * (arena > 0 ? arena : Estimate(module).run());
}
