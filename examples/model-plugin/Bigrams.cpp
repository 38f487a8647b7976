//===- Bigrams.cpp - a model format and a strategy of one's own -----------------------------------------===//
// `letters.bigram` says how many tokens there are and how wide a row of them is. The model guesses each token
// from the one before: a table of rows, and a product with another one. par compiles, plans and interprets it
// as it does a config. The pass `split-width` divides rows over tensor-parallel ranks, which their names
// alone would not.
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Sharding/FactorAssignment.h"
#include "par/Source/ModelSource.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// The format
//===----------------------------------------------------------------------===//

// {0}: sequences, {1}: tokens of each, {2}: different tokens, {3}: the width of a row.
static constexpr const char *kGraph = R"(
module attributes {{par.model = {{model_type = "bigram", vocab = {2} : i64}} {{
  par.variable @from : tensor<{2}x{3}xf32> dims ["tokens", "width"] {{role = #par.role<parameter>, file = #par.file<"from">, init = #par.init<normal, 0.1>}
  par.variable @to : tensor<{2}x{3}xf32> dims ["tokens", "width"] {{role = #par.role<parameter>, file = #par.file<"to">, init = #par.init<normal, 0.1>}
  func.func @forward(%tokens: tensor<{0}x{1}xi32> {{par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
                     %targets: tensor<{0}x{1}xi32> {{par.place = #par.place<input targets>, par.dims = ["batch", "seq"]},
                     %from: tensor<{2}x{3}xf32> {{par.place = #par.place<variable @from>}, %to: tensor<{2}x{3}xf32> {{par.place = #par.place<variable @to>})
      -> (tensor<f32> {{par.place = #par.place<output loss>}) attributes {{par.phase = #par.phase<forward, chunk = 0>} {{
    %x = par.embedding %tokens, %from : (tensor<{0}x{1}xi32>, tensor<{2}x{3}xf32>) -> tensor<{0}x{1}x{3}xf32>
    %logits = par.einsum "bsw,vw->bsv"(%x, %to) : (tensor<{0}x{1}x{3}xf32>, tensor<{2}x{3}xf32>) -> tensor<{0}x{1}x{2}xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {{classes = {2} : i64} : (tensor<{0}x{1}x{2}xf32>, tensor<{0}x{1}xi32>) -> (tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<{0}x{1}xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
)";

namespace {
class BigramSource : public par::ModelSource {
public:
  LogicalResult read(MLIRContext &context, par::SourceOptions &options) override {
    // A flag that is not followed is refused, so that none is without effect.
    if (!options.overrides.empty())
      return emitError(UnknownLoc::get(&context))
             << "--set changes a config; " << options.model << " is none";
    if (options.dtype != par::FloatKind::F32)
      return emitError(UnknownLoc::get(&context))
             << "--dtype " << par::getName(options.dtype) << ": " << options.model << " is in f32";
    auto file = llvm::MemoryBuffer::getFile(options.model);
    if (!file)
      return emitError(UnknownLoc::get(&context))
             << options.model << ": cannot be read: " << file.getError().message();
    SmallVector<StringRef> lines;
    (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines) {
      auto [key, value] = line.split('=');
      int64_t *size = key.trim() == "vocab" ? &vocab : key.trim() == "width" ? &width : nullptr;
      if (!size || value.trim().getAsInteger(10, *size) || *size < 1)
        return emitError(UnknownLoc::get(&context))
               << options.model << ": '" << line
               << "' is neither vocab = N nor width = N, with N of at least 1";
    }
    seq = options.seq.value_or(16);
    options.seq = seq;
    return success();
  }

  OwningOpRef<ModuleOp> build(MLIRContext &context, int64_t batch) const override {
    return parseSourceString<ModuleOp>(llvm::formatv(kGraph, batch, seq, vocab, width).str(), &context);
  }

private:
  int64_t vocab = 26, width = 8, seq = 16;
};

//===----------------------------------------------------------------------===//
// The strategy
//===----------------------------------------------------------------------===//

struct SplitWidth : PassWrapper<SplitWidth, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitWidth)

  StringRef getArgument() const override { return "split-width"; }
  StringRef getDescription() const override { return "splits the dimension \"width\" of parameters"; }

  void runOnOperation() override {
    par::MeshAttr mesh = par::getMesh(getOperation());
    if (!mesh) {
      getOperation().emitError("split-width: the module has no mesh; run par-set-mesh first");
      return signalPassFailure();
    }
    // The mesh says which axes there are for it: tp, or its parts.
    par::Axes axes = mesh.getAxes(par::AxisRole::Tensor);
    for (auto variable : getOperation().getOps<par::VariableOp>()) {
      par::DimAxes dims(variable.getTensorType().getRank());
      for (auto [dim, name] : llvm::enumerate(variable.getDims().getAsValueRange<StringAttr>()))
        if (name == "width")
          dims[dim] = axes;
      variable.setComputeAttr(par::makeSharding(&getContext(), par::getMeshName(variable), dims));
    }
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "bigrams", "0.1", [] {
            PassRegistration<SplitWidth>();
            par::registerModelFormat({[](StringRef path) { return path.ends_with(".bigram"); },
                                      [] { return std::make_unique<BigramSource>(); }});
          }};
}
