//===- KernelPasses.cpp - how often a layer's kernels go over its tensors -------------------------------===//
#include "KernelPasses.h"
#include "par/Cost/WorkOps.h"
#include "par/Dialect/Rank/Analysis/StepLists.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::par;

double KernelPasses::count(int64_t tensorRanks, bool splitsSequence) const {
  auto ranks = double(tensorRanks);
  return whole / (splitsSequence ? ranks : 1) + split / ranks;
}

namespace {
/// The kernels of a layer's functions.
class LayerKernels {
public:
  LayerKernels(ModuleOp module, bool transposes) : symbols(module), transposes(transposes) {
    module.walk([&](rank::FuncOp function) {
      function.walk([&](rank::LibraryWorkInterface work) {
        if (rank::getWorkKind(work) == WorkKind::Attention)
          layers.insert(getLayerName(function));
      });
    });
  }

  /// The functions of layers that the action calls, one for each layer.
  llvm::SmallVector<rank::FuncOp> getLayers(rank::ActionOp action) const {
    llvm::SmallVector<rank::FuncOp> called;
    for (auto call : symbols.lookup<rank::FuncOp>(action.getCallee()).getBody().getOps<rank::CallOp>())
      if (rank::FuncOp function = getCallee(call); layers.contains(getLayerName(function)))
        called.push_back(function);
    return called;
  }
  /// The bytes of a layer's function and of what it calls.
  double countBytes(rank::FuncOp function) const {
    double bytes = 0;
    for (Operation &op : function.getBody().front()) {
      if (auto call = dyn_cast<rank::CallOp>(op))
        bytes += double(call.getParts()) * countBytes(getCallee(call));
      else if (isKernel(&op))
        bytes += countOwnBytes(&op);
    }
    return bytes;
  }

private:
  /// Forward and backward functions of a layer are `layer.forward` and `layer.backward`.
  static StringRef getLayerName(rank::FuncOp function) { return function.getSymName().split('.').first; }
  rank::FuncOp getCallee(rank::CallOp call) const { return symbols.lookup<rank::FuncOp>(call.getCallee()); }
  static bool isKernel(Operation *op) {
    return isa<rank::KernelOp>(op) && rank::getWorkKind(op).value_or(WorkKind::Kernel) == WorkKind::Kernel;
  }
  double countOwnBytes(Operation *op) const {
    Computation work = describeComputation(op);
    return work.onHost || (work.transposes && !transposes) ? 0 : work.bytes;
  }

  SymbolTable symbols;
  bool transposes;
  llvm::StringSet<> layers;
};

} // namespace

double mlir::par::countKernelBytes(ModuleOp module, bool transposes) {
  FailureOr<rank::StepLists> step = rank::StepLists::read(module, rank::Purpose::Train);
  if (failed(step))
    return 0;
  LayerKernels kernels(module, transposes);
  double bytes = 0;
  int64_t layers = 0;
  for (const std::vector<rank::EntryOpInterface> &entries : step->entries)
    for (rank::EntryOpInterface entry : entries) {
      auto action = dyn_cast<rank::ActionOp>(*entry);
      if (!action || entry.getAction().microBatch != 0)
        continue;
      for (rank::FuncOp function : kernels.getLayers(action)) {
        bytes += kernels.countBytes(function);
        layers += entry.getAction().kind == ActionKind::Forward;
      }
    }
  return layers > 0 ? bytes / double(layers) : 0;
}
