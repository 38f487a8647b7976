//===- TinyModel.h - models that planner tests weigh ------------------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_PLANNER_TINYMODEL_H
#define PAR_TEST_UNIT_PLANNER_TINYMODEL_H

#include "mlir/Pass/PassManager.h"
#include "par/Cost/ClusterFile.h"
#include "par/Import/Import.h"
#include "par/Planner/PlanCompiler.h"
#include "par/Transforms/Annotate/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace mlir::par {

/// A Llama of which a test says the size, or any other model, and patterns of parameters that are not
/// trained.
class TinyModel {
public:
  TinyModel(int64_t layers, int64_t hidden, int64_t vocabulary, Names frozen = {}, bool isTied = false)
      : TinyModel(
            llvm::formatv(
                R"({{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": {0}, "hidden_size": {1},
            "intermediate_size": {2}, "num_attention_heads": {3}, "num_key_value_heads": {3}, "hidden_act": "silu",
            "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "attention_bias": false,
            "mlp_bias": false, "tie_word_embeddings": {5}, "num_hidden_layers": {4}})",
                vocabulary, hidden, hidden * 11 / 4, hidden / 64, layers, isTied ? "true" : "false")
                .str(),
            std::move(frozen)) {}
  /// `text`: of a config.json.
  explicit TinyModel(const std::string &text, Names frozen = {}) : frozen(std::move(frozen)) {
    llvm::SmallString<64> path;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("planner", "json", path));
    config = path.str().str();
    std::error_code error;
    llvm::raw_fd_ostream(config, error) << text;
  }
  TinyModel(TinyModel &&other) : frozen(other.frozen), config(std::exchange(other.config, "")) {}
  ~TinyModel() {
    if (!config.empty())
      llvm::sys::fs::remove(config);
  }

  /// As a model, or as a graph with so many rows, whatever a plan has.
  ImportModel getImport(int64_t graphBatch = 0) const {
    return [this, graphBatch](MLIRContext &context, const Plan &plan) {
      ImportOptions options;
      options.model = config;
      options.seq = plan.seq;
      options.batch = graphBatch > 0 ? graphBatch : plan.getGraphBatch();
      options.dtype = getName(plan.dtype).str();
      options.logits = false;
      OwningOpRef<ModuleOp> module = importModel(context, options);
      PassManager manager(&context);
      manager.addPass(createFreezeParameters(
          FreezeParametersOptions{SmallVector<std::string>(frozen.begin(), frozen.end())}));
      EXPECT_TRUE(succeeded(manager.run(*module)));
      return module;
    };
  }

private:
  const Names frozen;
  std::string config;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_PLANNER_TINYMODEL_H
