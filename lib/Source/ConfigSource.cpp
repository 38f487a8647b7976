//===- ConfigSource.cpp - models by their Hugging Face config -------------------------------------------===//
#include "BuiltinSources.h"
#include "par/Import/Import.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class ConfigSource : public ModelSource {
public:
  LogicalResult read(MLIRContext &context, SourceOptions &options) override {
    import.model = options.model;
    import.overrides = options.overrides;
    import.seq = options.seq;
    import.dtype = getName(options.dtype).str();
    import.isolatesDocuments = options.documents == DocumentsKind::Isolate;
    import.logits = options.logits;
    import.batch = 1; // its own is checked where the graph is built
    FailureOr<ImportPlan> plan = planImport(context, import);
    if (failed(plan))
      return failure();
    import.seq = options.seq = plan->seq;
    config = plan->config.json;
    return success();
  }

  OwningOpRef<ModuleOp> build(MLIRContext &context, int64_t batch) const override {
    ImportOptions sized = import;
    sized.batch = batch;
    return importModel(context, sized);
  }

  std::string getConfig() const override { return config; }

private:
  ImportOptions import;
  std::string config;
};
} // namespace

/// A config is whatever no other format reads: a folder has no ending.
ModelFormat par::getConfigFormat() {
  return {[](StringRef) { return true; }, [] { return std::make_unique<ConfigSource>(); }};
}
