//===- ParametersTest.cpp - exact parameters of published models ----------------------------------------===//

#include "par/Import/Parameters.h"

#include "gtest/gtest.h"

#include <cmath>
#include <set>

using namespace mlir::par;

namespace {

ModelParameters load(const std::string &name) {
  auto config = loadModelConfig(std::string(PAR_TEST_DIR "/../examples/configs/") + name + ".json");
  if (!config) {
    ADD_FAILURE() << llvm::toString(config.takeError());
    return {};
  }
  return modelParameters(*config);
}

const Parameter *find(const ModelParameters &model, llvm::StringRef symbol) {
  for (const Parameter *parameter : model.all())
    if (parameter->symbol == symbol)
      return parameter;
  ADD_FAILURE() << "no parameter " << symbol.str();
  return nullptr;
}

struct Count {
  const char *name;
  int64_t elements;
  size_t tensors;
};

class PublishedModel : public testing::TestWithParam<Count> {};

TEST_P(PublishedModel, hasItsExactParameterCount) {
  ModelParameters model = load(GetParam().name);
  EXPECT_EQ(model.elements(), GetParam().elements);
  EXPECT_EQ(model.all().size(), GetParam().tensors);
}

TEST_P(PublishedModel, namesAreUniqueAndShapesAgree) {
  std::set<std::string> symbols, files;
  ModelParameters model = load(GetParam().name);
  for (const Parameter *parameter : model.all()) {
    EXPECT_TRUE(symbols.insert(parameter->symbol).second);
    EXPECT_TRUE(files.insert(parameter->fileName).second);
    int64_t inFile = 1;
    for (int64_t size : parameter->fileShape)
      inFile *= size;
    EXPECT_EQ(inFile, parameter->elements()) << parameter->symbol;
    EXPECT_EQ(parameter->permutation.size(), parameter->dims.size());
  }
}

// Counts as published; tensors as in the models' files, tied heads left out.
INSTANTIATE_TEST_SUITE_P(
    All, PublishedModel,
    testing::Values(Count{"gpt2", 124439808, 148}, Count{"gpt2-medium", 354823168, 292},
                    Count{"gpt2-large", 774030080, 436}, Count{"gpt2-xl", 1557611200, 580},
                    Count{"llama-3.1-8b", 8030261248, 291}, Count{"llama-3.1-70b", 70553706496, 723},
                    Count{"llama-3.1-405b", 405853388800, 1137}, Count{"llama-3.2-1b", 1235814400, 146},
                    Count{"mistral-7b-v0.1", 7241732096, 291}, Count{"qwen2.5-72b", 72706203648, 963},
                    Count{"qwen3-8b", 8190735360, 399}, Count{"gemma-2-9b", 9241705984, 464},
                    Count{"gemma-2-27b", 27227128320, 508}, Count{"gemma-3-1b", 999885952, 340},
                    Count{"olmo-2-7b", 7298617344, 355}, Count{"smollm3-3b", 3075098624, 326},
                    Count{"../recipes/deepseek-llm-67b/config", 67425001472, 858},
                    Count{"../recipes/yi-34b/config", 34388917248, 543},
                    Count{"../recipes/olmo-7b/config", 6888095744, 226}),
    [](const testing::TestParamInfo<Count> &info) {
      std::string name = info.param.name;
      for (char &c : name)
        c = std::isalnum(c) ? c : '_';
      return name;
    });

TEST(Parameters, gpt2FusedProjectionIsTransposedInTheFile) {
  ModelParameters model = load("gpt2");
  const Parameter *parameter = find(model, "h.3.attn.c_attn.weight");
  ASSERT_NE(parameter, nullptr);
  EXPECT_EQ(parameter->fileName, "transformer.h.3.attn.c_attn.weight");
  std::vector<int64_t> sizes;
  for (const Dimension &dim : parameter->dims)
    sizes.push_back(dim.size);
  EXPECT_EQ(sizes, (std::vector<int64_t>{3, 12, 64, 768}));
  EXPECT_EQ(parameter->fileShape, (std::vector<int64_t>{768, 2304}));
  EXPECT_EQ(parameter->permutation, (std::vector<int64_t>{3, 0, 1, 2}));
}

TEST(Parameters, gpt2ResidualProjectionsStartSmaller) {
  ModelParameters model = load("gpt2");
  const Parameter *attention = find(model, "h.0.attn.c_proj.weight");
  const Parameter *mlp = find(model, "h.0.mlp.c_proj.weight");
  const Parameter *other = find(model, "h.0.mlp.c_fc.weight");
  ASSERT_TRUE(attention && mlp && other);
  EXPECT_DOUBLE_EQ(attention->standardDeviation, 0.02 / std::sqrt(24.0));
  EXPECT_DOUBLE_EQ(mlp->standardDeviation, 0.02 / std::sqrt(24.0));
  EXPECT_DOUBLE_EQ(other->standardDeviation, 0.02);
}

TEST(Parameters, llamaQueriesAreGroupedByTheirKeyHead) {
  ModelParameters model = load("llama-3.1-8b");
  const Parameter *q = find(model, "layers.0.self_attn.q_proj.weight");
  const Parameter *o = find(model, "layers.31.self_attn.o_proj.weight");
  ASSERT_TRUE(q && o);
  ASSERT_EQ(q->dims.size(), 4u);
  EXPECT_EQ(q->dims[0].name, "kv_heads");
  EXPECT_EQ(q->dims[0].size, 8);
  EXPECT_EQ(q->dims[1].name, "group");
  EXPECT_EQ(q->dims[1].size, 4);
  EXPECT_EQ(o->fileShape, (std::vector<int64_t>{4096, 4096}));
  EXPECT_EQ(o->dims[0].name, "embed");
}

TEST(Parameters, normsStartAtOneAndBiasesAtZero) {
  ModelParameters model = load("gpt2");
  const Parameter *norm = find(model, "ln_f.weight");
  const Parameter *bias = find(model, "h.0.attn.c_attn.bias");
  ASSERT_TRUE(norm && bias);
  EXPECT_EQ(norm->init, InitKind::Ones);
  EXPECT_EQ(bias->init, InitKind::Zeros);
  EXPECT_EQ(bias->fileShape, (std::vector<int64_t>{2304}));
}

} // namespace
