//===- GraphState.cpp - which phases a graph went through -----------------------------------------------===//
#include "par/Compile/GraphState.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Support/MakeError.h"

using namespace mlir;
using namespace mlir::par;

/// A graph that someone annotated by hand has shardings here and there.
bool par::isPropagated(ModuleOp module) {
  auto lacksSharding = [](Operation *op) {
    bool lacks = op->getNumResults() && !op->hasAttr(ParDialect::kShardingAttr);
    return lacks ? WalkResult::interrupt() : WalkResult::advance();
  };
  return llvm::all_of(module.getOps<func::FuncOp>(),
                      [&](func::FuncOp function) { return !function.walk(lacksSharding).wasInterrupted(); });
}

bool par::isCut(ModuleOp module) { return ChunkFunctions(module).getChunks().size() > 1; }

bool par::isDifferentiated(ModuleOp module) { return ChunkFunctions(module).isDifferentiated(); }

bool par::isPartitioned(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(),
                      [](func::FuncOp function) { return function->hasAttr(ParDialect::kLocalAttr); });
}

bool par::isOverlapped(ModuleOp module) {
  return module.walk([](WaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Calls `visit` with every input of the graph or program: its kind, unless it is an open one, its time, and
/// its global type.
static void forEachInput(
    ModuleOp module,
    llvm::function_ref<void(std::optional<InputKind> input, InputTime time, RankedTensorType type)> visit) {
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      // The module may be local already.
      if (PlaceAttr place = getPlace(function, number); place && place.isInput())
        visit(place.getInput(), place.getInputTime(), getGlobalType(function, number));
  module.walk([&](rank::SlotOp slot) {
    if (slot.getKind() == rank::SlotKind::Input && slot.getGlobalType())
      visit(slot.getInputKind(), slot.getInputTime(), dyn_cast<RankedTensorType>(*slot.getGlobalType()));
  });
}

GraphRows par::findRows(ModuleOp module) {
  GraphRows rows;
  forEachInput(module, [&](std::optional<InputKind> input, InputTime time, RankedTensorType type) {
    if (time != InputTime::MicroBatch || !type || type.getRank() == 0)
      return;
    RankedTensorType none;
    RankedTensorType &known = input == InputKind::Tokens    ? rows.tokens
                              : input == InputKind::Targets ? rows.targets
                                                            : none;
    for (RankedTensorType *each : {&known, &rows.any})
      if (!*each)
        *each = type;
  });
  return rows;
}

bool par::readsDocuments(ModuleOp module) {
  bool isRead = false;
  forEachInput(module, [&](std::optional<InputKind> input, InputTime, RankedTensorType) {
    isRead |= input == InputKind::Documents;
  });
  return isRead;
}

llvm::Expected<int64_t> par::getVocab(ModuleOp module, const GraphRows &rows) {
  auto model = module->getAttrOfType<DictionaryAttr>(ParDialect::kModelAttr);
  if (auto vocab = model ? model.getAs<IntegerAttr>("vocab") : IntegerAttr())
    return vocab.getInt();
  bool reads = (rows.tokens || rows.targets) && module
                                                    .walk([](Operation *op) {
                                                      return isa<EmbeddingOp, CrossEntropyOp>(op)
                                                                 ? WalkResult::interrupt()
                                                                 : WalkResult::advance();
                                                    })
                                                    .wasInterrupted();
  if (!reads)
    return 0;
  return makeError("the module does not say how many tokens exist, which its lookups need to be true; add "
                   "the attribute par.model = {vocab = N : i64}");
}
