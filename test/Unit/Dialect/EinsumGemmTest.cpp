//===- EinsumGemmTest.cpp - which contractions are matrix products --------------------------------------===//
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "OpTest.h"
#include <array>

using namespace mlir;
using namespace mlir::par;

namespace {
struct EinsumGemmTest : OpTest {
  /// The einsum of a text like "bse,me->bsm" with types.
  EinsumOp build(const std::string &equation, const std::string &a, const std::string &b,
                 const std::string &c) {
    func::FuncOp function =
        parse("func.func @main(%a: tensor<" + a + ">, %b: tensor<" + b + ">) -> tensor<" + c +
              "> {\n %y = par.einsum \"" + equation + "\"(%a, %b) : (tensor<" + a + ">, tensor<" + b +
              ">) -> tensor<" + c + ">\n return %y : tensor<" + c + ">\n}");
    return function ? cast<EinsumOp>(function.front().front()) : EinsumOp();
  }

  /// The product by its GEMM, as loops over sizes, strides and leading dimensions, against the interpreter.
  void checkProduct(EinsumOp op, const GemmShape &gemm) {
    auto function = op->getParentOfType<func::FuncOp>();
    Tensors arguments = drawArguments(function, -1.0, 1.0), expected = evaluate(function, arguments);
    const std::vector<double> &a = arguments[gemm.swapped].values, &b = arguments[!gemm.swapped].values;
    Tensors actual = {Tensor(expected[0].type, 1e9)};
    for (int64_t i = 0; i < gemm.batch; ++i)
      for (int64_t m = 0; m < gemm.m; ++m)
        for (int64_t n = 0; n < gemm.n; ++n) {
          double sum = 0;
          for (int64_t k = 0; k < gemm.k; ++k)
            sum += a.at(i * gemm.strideA + (gemm.transposeA ? k * gemm.lda + m : m * gemm.lda + k)) *
                   b.at(i * gemm.strideB + (gemm.transposeB ? n * gemm.ldb + k : k * gemm.ldb + n));
          actual[0].values.at(i * gemm.strideC + m * gemm.ldc + n) = sum;
        }
    EXPECT_LT(compare(actual, expected), 1e-12);
    EXPECT_GE(gemm.lda, gemm.transposeA ? gemm.m : gemm.k);
    EXPECT_GE(gemm.ldb, gemm.transposeB ? gemm.k : gemm.n);
    EXPECT_GE(gemm.ldc, gemm.n);
  }
};

struct Product {
  const char *name, *equation, *a, *b, *c;
  bool swapped, transposeA, transposeB;
  int64_t m, n, k, batch;
};

TEST_F(EinsumGemmTest, matches) {
  const Product products[] = {
      {"forward", "bse,me->bsm", "2x3x4xf32", "5x4xf32", "2x3x5xf32", false, false, true, 6, 5, 4, 1},
      {"input gradient", "bsm,me->bse", "2x3x5xf32", "5x4xf32", "2x3x4xf32", false, false, false, 6, 4, 5, 1},
      {"weight gradient", "bsm,bse->me", "2x3x5xf32", "2x3x4xf32", "5x4xf32", false, true, false, 5, 4, 6, 1},
      {"operands the other way round", "me,bse->bsm", "5x4xf32", "2x3x4xf32", "2x3x5xf32", true, false, true,
       6, 5, 4, 1},
      {"letters that collapse", "bse,khde->bskhd", "2x3x4xf32", "2x2x3x4xf32", "2x3x2x2x3xf32", false, false,
       true, 6, 12, 4, 1},
      {"contraction over two letters", "bshd,ehd->bse", "2x3x2x4xf32", "5x2x4xf32", "2x3x5xf32", false, false,
       true, 6, 5, 8, 1},
      {"leading batch", "bij,bkj->bik", "2x3x4xf32", "2x5x4xf32", "2x3x5xf32", false, false, true, 3, 5, 4,
       2},
      {"batch inside", "shd,hde->she", "3x2x4xf32", "2x4x5xf32", "3x2x5xf32", false, false, false, 3, 5, 4,
       2},
      {"transposed result", "me,bse->mbs", "5x4xf32", "2x3x4xf32", "5x2x3xf32", false, false, true, 5, 6, 4,
       1},
      {"one row", "e,me->m", "4xf32", "5x4xf32", "5xf32", false, false, true, 1, 5, 4, 1},
      {"one column", "me,e->m", "5x4xf32", "4xf32", "5xf32", false, false, false, 5, 1, 4, 1},
      {"single sum", "ab,ab->", "2x3xf32", "2x3xf32", "f32", false, false, false, 1, 1, 6, 1},
      {"a size of 1 within", "bxse,me->bsxm", "2x1x3x4xf32", "5x4xf32", "2x3x1x5xf32", false, false, true, 6,
       5, 4, 1},
  };
  for (const Product &each : products) {
    SCOPED_TRACE(each.name);
    EinsumOp op = build(each.equation, each.a, each.b, each.c);
    ASSERT_TRUE(op);
    std::optional<GemmShape> gemm = matchGemm(op);
    ASSERT_TRUE(gemm);
    EXPECT_EQ(op.getKernelKind(), KernelKind::Gemm);
    EXPECT_EQ(gemm->swapped, each.swapped);
    EXPECT_EQ(gemm->transposeA, each.transposeA);
    EXPECT_EQ(gemm->transposeB, each.transposeB);
    EXPECT_EQ(gemm->m, each.m);
    EXPECT_EQ(gemm->n, each.n);
    EXPECT_EQ(gemm->k, each.k);
    EXPECT_EQ(gemm->batch, each.batch);
    checkProduct(op, *gemm);
  }
}

TEST_F(EinsumGemmTest, othersAreLoops) {
  const std::array<const char *, 5> cases[] = {
      {"no contraction", "bse,bse->bse", "2x3x4xf32", "2x3x4xf32", "2x3x4xf32"},
      {"outer product", "a,b->ab", "3xf32", "4xf32", "3x4xf32"},
      {"many sums", "bse,bse->bs", "2x3x4xf32", "2x3x4xf32", "2x3xf32"},
      {"letter of one operand", "ab,bc->c", "2x3xf32", "3x4xf32", "4xf32"},
      {"rows that do not collapse", "abe,me->bam", "2x3x4xf32", "5x4xf32", "3x2x5xf32"},
      {"rows and batch interleaved", "bhqd,bhkd->bqhk", "2x2x3x4xf32", "2x2x5x4xf32", "2x3x2x5xf32"},
  };
  for (const auto &each : cases) {
    SCOPED_TRACE(each[0]);
    EinsumOp op = build(each[1], each[2], each[3], each[4]);
    ASSERT_TRUE(op);
    EXPECT_EQ(op.getKernelKind(), KernelKind::Primitive);
    EXPECT_FALSE(matchGemm(op));
  }
}

// The runtime multiplies f32 into f32, and bf16 into bf16 or f32.
TEST_F(EinsumGemmTest, types) {
  auto kind = [&](const std::string &operands, const std::string &result) {
    EinsumOp op = build("ab,cb->ac", "2x3x" + operands, "4x3x" + operands, "2x4x" + result);
    EXPECT_TRUE(op);
    EXPECT_EQ(op.getKernelKind() == KernelKind::Gemm, matchGemm(op).has_value());
    return op.getKernelKind();
  };
  EXPECT_EQ(kind("f32", "f32"), KernelKind::Gemm);
  EXPECT_EQ(kind("bf16", "bf16"), KernelKind::Gemm);
  EXPECT_EQ(kind("bf16", "f32"), KernelKind::Gemm);
  EXPECT_EQ(kind("f32", "bf16"), KernelKind::Primitive);
  EXPECT_EQ(kind("f16", "f16"), KernelKind::Primitive);
  EXPECT_EQ(kind("f64", "f64"), KernelKind::Primitive);
}
} // namespace
