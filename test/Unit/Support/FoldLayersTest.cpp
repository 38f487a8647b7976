//===- FoldLayersTest.cpp - the numbers of layers in texts ----------------------------------------------===//
#include "par/Support/FoldLayers.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {
void expectFolded(llvm::StringRef text, const std::string &folded, std::optional<int64_t> layer) {
  LayerText result = foldLayer(text);
  EXPECT_EQ(result.text, folded);
  EXPECT_EQ(result.layer, layer) << text.str();
}

TEST(FoldLayersTest, ANumberBetweenDots) {
  expectFolded("read of @layers.17.mlp.up_proj.weight, stored as [{dp}]",
               "read of @layers.*.mlp.up_proj.weight, stored as [{dp}]", 17);
  expectFolded("variable h.0.attn.c_attn.bias.m", "variable h.*.attn.c_attn.bias.m", 0);
  expectFolded("@layers.3.a; 4 more; @layers.3.b", "@layers.*.a; 4 more; @layers.*.b", 3);
}

TEST(FoldLayersTest, AnotherNumberInItsPlace) {
  EXPECT_EQ(foldLayer("@layers.3.a; @layers.3.b", "11").text, "@layers.11.a; @layers.11.b");
  EXPECT_EQ(foldLayer("@head.b", "11").text, "@head.b");
}

TEST(FoldLayersTest, TextsOfSeveralLayersStay) {
  expectFolded("@layers.3.a; @layers.4.a", "@layers.3.a; @layers.4.a", std::nullopt);
}

TEST(FoldLayersTest, OtherNumbersStay) {
  for (const char *text :
       {"", ".", "h.1", "h.1.", "einsum \"bsm,em->bse\" of 0.5.x", "residual 0.57.1", "tensor<8x1.2xf32>",
        "1.2.3.a", "layers.x1.a", "layers.1x.a", "operand 1 of a.b", "h.99999999999999999999.a"})
    expectFolded(text, text, std::nullopt);
}
} // namespace
