//===- StageLayers.cpp - which layers a shared function runs for ----------------------------------------===//
#include "StageLayers.h"
#include "par/Support/FoldLayers.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::par;

namespace {
using Layer = std::optional<int64_t>;

class LayerFinder {
public:
  explicit LayerFinder(const SymbolTable &symbols) : symbols(symbols) {}

  FunctionLayers run(rank::ScheduleOp schedule) {
    llvm::StringSet<> seen; // an action of another micro-batch has the same variables
    for (auto action : schedule.getOps<rank::ActionOp>())
      if (seen.insert(action.getCallee()).second)
        visit(action.getCallee(), llvm::map_to_vector(action.getBuffers(), getSlotLayer), std::nullopt);
    return std::move(found);
  }

private:
  static Layer getSlotLayer(Value buffer) {
    auto slot = buffer.getDefiningOp<rank::SlotOp>();
    return slot && slot.getKind() == rank::SlotKind::Variable ? foldLayer(slot.getName()).layer
                                                              : std::nullopt;
  }

  /// The layer that those of `buffers` have that have one, none where they differ.
  Layer getCommon(ValueRange buffers, bool ofAll) const {
    Layer common;
    for (Value buffer : buffers) {
      Layer layer = layers.lookup(buffer);
      if (layer ? common && *layer != *common : ofAll)
        return std::nullopt;
      common = layer ? layer : common;
    }
    return common;
  }

  /// Where parameters are gathered or copied before a call, their copies are of their layer.
  void follow(rank::WorkOpInterface op) {
    bool inPairs = op.getIns().size() == op.getOuts().size() && !isa<rank::KernelOp>(op.getOperation());
    Layer common = getCommon(op.getIns(), /*ofAll=*/true);
    SmallVector<Layer> given;
    for (auto [number, out] : llvm::enumerate(op.getOuts()))
      given.push_back(inPairs ? layers.lookup(op.getIns()[number]) : common);
    for (auto [out, layer] : llvm::zip(op.getOuts(), given))
      layers[out] = layer;
  }

  void visit(StringRef name, ArrayRef<Layer> arguments, Layer layer) {
    auto function = symbols.lookup<rank::FuncOp>(name);
    if (layer)
      found[name].insert(*layer);
    if (function.isExternal())
      return;
    for (auto [argument, its] : llvm::zip(function.getArguments(), arguments))
      layers[argument] = its;
    for (Operation &op : function.getBody().front())
      if (auto call = dyn_cast<rank::CallOp>(op))
        visit(call, layer);
      else if (auto work = dyn_cast<rank::WorkOpInterface>(op))
        follow(work);
  }

  void visit(rank::CallOp call, Layer ofCaller) {
    Layer common = getCommon(call.getBuffers(), /*ofAll=*/false);
    visit(call.getCallee(),
          llvm::map_to_vector(call.getBuffers(), [&](Value buffer) { return layers.lookup(buffer); }),
          common ? common : ofCaller);
    for (Value out : call.getOuts())
      if (out.getDefiningOp<rank::AllocOp>())
        layers[out] = std::nullopt; // the memory of another value from here on
  }

  const SymbolTable &symbols;
  llvm::DenseMap<Value, Layer> layers; ///< of the call that is visited
  FunctionLayers found;
};
} // namespace

FunctionLayers par::findLayers(rank::ScheduleOp schedule, const SymbolTable &symbols) {
  return LayerFinder(symbols).run(schedule);
}
