//===- HostMatricesTest.cpp - what warps do with matrices, on the host --------------------------===//
#include "HostKernelText.h"
#include <cmath>
#include <cstring>

using namespace mlir::par;

namespace {
/// Every warp multiplies 16 x 16 elements of bf16, four of which each thread has made of its number, by their
/// first eight columns. Every thread writes one of its four sums.
const std::string kMatrices = kHead + R"(
@tile = internal addrspace(3) global [256 x i16] undef, align 16
)" + kEntry + R"(  %from = getelementptr float, ptr %in, i32 %i
  %x = load float, ptr %from, align 4
  %bits = bitcast float %x to i32
  %upper = lshr i32 %bits, 16
  %half = trunc i32 %upper to i16
  %v = insertelement <4 x i16> undef, i16 %half, i32 0
  %four = shufflevector <4 x i16> %v, <4 x i16> undef, <4 x i32> zeroinitializer
  %mine = getelementptr <4 x i16>, ptr addrspace(3) @tile, i32 %t
  store <4 x i16> %four, ptr addrspace(3) %mine, align 8
  call void @llvm.nvvm.barrier0()
  %lane = and i32 %t, 31
  %row = and i32 %lane, 15
  %right = lshr i32 %lane, 4
  %rowAt = mul i32 %row, 16
  %columnAt = mul i32 %right, 8
  %at = add i32 %rowAt, %columnAt
  %place = getelementptr i16, ptr addrspace(3) @tile, i32 %at
  %a = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %place)
  %b4 = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %place)
  %a0 = extractvalue {i32, i32, i32, i32} %a, 0
  %a1 = extractvalue {i32, i32, i32, i32} %a, 1
  %a2 = extractvalue {i32, i32, i32, i32} %a, 2
  %a3 = extractvalue {i32, i32, i32, i32} %a, 3
  %b0 = extractvalue {i32, i32, i32, i32} %b4, 0
  %b1 = extractvalue {i32, i32, i32, i32} %b4, 1
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float 1.0, float 1.0, float 1.0, float 1.0)
  %sum = extractvalue {float, float, float, float} %d, 0
  %to = getelementptr float, ptr %out, i32 %i
  store float %sum, ptr %to, align 4
  ret void
}
)";

/// Every thread rounds its number and a constant, or raises two to a power.
const std::string kAlone = kHead + kEntry + R"(  %from = getelementptr float, ptr %in, i32 %i
  %x = load float, ptr %from, align 4
  %third = fdiv float %x, -3.0
  %power = call float @llvm.nvvm.ex2.approx.ftz.f(float %third)
  %pair = call i32 asm "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f"(float %x, float 0x3FF0300000000000)
  %bits = bitcast i32 %pair to float
  %to = getelementptr float, ptr %out, i32 %i
  store float %power, ptr %to, align 4
  ret void
}
)";

/// The upper half of the bits of f32.
float toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits &= 0xFFFF0000;
  std::memcpy(&value, &bits, 4);
  return value;
}

TEST(HostMatricesTest, WarpsMultiplyMatrices) {
  for (int which = 0; which < 4; ++which) {
    std::string index = "%sum = extractvalue {float, float, float, float} %d, ";
    Outcome<float> outcome = run<float>(change(kMatrices, index + "0", index + std::to_string(which)));
    EXPECT_EQ(outcome.findings, std::vector<std::string>());
    for (int i = 0; i < 128; ++i) {
      auto element = [&](int row, int column) {
        return toBf16(float(3 * (i / 64 * 64 + (row * 16 + column) / 4)));
      };
      int row = i % 32 / 4 + which / 2 * 8, column = i % 4 * 2 + which % 2;
      double sum = 1;
      for (int k = 0; k < 16; ++k)
        sum += double(element(row, k)) * double(element(k, column));
      EXPECT_EQ(outcome.out[i], float(sum)) << i;
    }
  }
}

/// Off by what PTX allows, so that nobody relies on more.
TEST(HostMatricesTest, PowersAreOffByTheirError) {
  Outcome<float> outcome = run<float>(kAlone);
  double worst = 0;
  for (int i = 0; i < 126; ++i)
    worst = std::max(worst, std::abs(double(outcome.out[i]) * std::exp2(i) - 1));
  EXPECT_GT(worst, 0x1p-23);
  EXPECT_LT(worst, 0x1.8p-22);
  EXPECT_EQ(outcome.out[127], 0) << "too small for a normal number";
}

TEST(HostMatricesTest, ReciprocalsAreOffByTheirError) {
  Outcome<float> outcome =
      run<float>(change(kAlone, "call float @llvm.nvvm.ex2", "call float @llvm.nvvm.rcp"));
  double worst = 0;
  for (int i = 1; i < 128; ++i)
    worst = std::max(worst, std::abs(double(outcome.out[i]) * -i - 1));
  EXPECT_GT(worst, 0x1p-24);
  EXPECT_LT(worst, 0x1.8p-23);
  EXPECT_TRUE(std::isinf(outcome.out[0]));
}

TEST(HostMatricesTest, TangentsAreOffByTheirError) {
  std::string call = "call float @llvm.nvvm.ex2.approx.ftz.f(float %third)";
  std::string text = change(kAlone, "%third = fdiv float %x, -3.0", "%third = fdiv float %x, 60.0");
  Outcome<float> outcome =
      run<float>(change(text, call, R"(call float asm "tanh.approx.f32 $0, $1;", "=f,f"(float %third))"));
  double worst = 0;
  for (int i = 1; i < 128; ++i)
    worst = std::max(worst, std::abs(double(outcome.out[i]) / std::tanh(i / 20.0) - 1));
  EXPECT_GT(worst, 0x1p-12);
  EXPECT_LT(worst, 0x1.01p-11);
  EXPECT_EQ(outcome.out[0], 0);
}

TEST(HostMatricesTest, PairsAreRoundedToEven) {
  std::string text = change(kAlone, "store float %power", "store float %bits");
  for (auto [hex, low] : {std::pair("0x3FF0100000000000", 0x3F80),
                          {"0x3FF0300000000000", 0x3F82},
                          {"0x3FF0100020000000", 0x3F81},
                          {"0x7FF8000000000000", 0x7FC0}}) {
    Outcome<float> outcome = run<float>(change(text, "0x3FF0300000000000", hex));
    for (int i = 0; i < 64; ++i) { // numbers that bf16 has
      float high = float(3 * i);
      uint32_t bits, expected;
      std::memcpy(&bits, &outcome.out[i], 4);
      std::memcpy(&expected, &high, 4);
      EXPECT_EQ(bits, (expected & 0xFFFF0000) | uint32_t(low)) << i;
    }
  }
}

TEST(HostMatricesTest, FindsPlantedFaults) {
  const Fault faults[] = {
      {"a row of a matrix that is not aligned", &kMatrices, "%rowAt = mul i32 %row, 16",
       "%rowAt = mul i32 %row, 12", "load of 16 bytes at an address that is no multiple of 16"},
      {"a row of a matrix outside", &kMatrices, "%columnAt = mul i32 %right, 8",
       "%columnAt = mul i32 %right, 16", "load outside the shared memory of the block"},
      {"a matrix that is read too early", &kMatrices, "  call void @llvm.nvvm.barrier0()\n", "",
       "race in shared memory: load"},
  };
  for (const Fault &fault : faults)
    expectFound(fault);
}
} // namespace
