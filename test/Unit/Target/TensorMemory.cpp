//===- TensorMemory.cpp - tensors of tests as they lie in memory ------------------------------------===//
#include "TensorMemory.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

/// Some thousand numbers, again and again from one of them on: tensors have millions, and what repeats can be
/// kept in a small file. That they are a prime number makes rows differ.
static float drawNormal(size_t place) {
  static const std::vector<float> numbers = [] {
    std::mt19937 engine(1);
    std::normal_distribution<float> normal;
    std::vector<float> drawn(16381);
    for (float &number : drawn)
      number = normal(engine);
    return drawn;
  }();
  return numbers[place % numbers.size()];
}

Tensor mlir::par::drawTensor(RankedTensorType type, std::mt19937 &random) {
  Tensor tensor(type);
  std::uniform_real_distribution<float> positive(0.3F, 0.7F);
  size_t place = random();
  for (double &value : tensor.values)
    value = isa<IntegerType>(type.getElementType()) ? random() % 8
            : tensor.size() == 1                    ? positive(random)
                                                    : drawNormal(place++);
  tensor.round();
  for (double &value : tensor.values)
    value = static_cast<float>(value);
  return tensor;
}

void mlir::par::compareTensors(const Tensor &expected, Memory &out, double slack) {
  double largest = 0, worst = 0;
  for (auto [number, value] : llvm::enumerate(expected.values)) {
    double got = out.get(number);
    if (!std::isfinite(value) || !std::isfinite(got)) {
      EXPECT_EQ(std::isnan(value), std::isnan(got)) << "element " << number;
      EXPECT_TRUE(std::isnan(value) || static_cast<float>(value) == got) << "element " << number;
      continue;
    }
    largest = std::max(largest, std::abs(value));
    worst = std::max(worst, std::abs(value - got));
  }
  bool isNarrow = expected.type.getElementType().isBF16();
  EXPECT_LE(worst, isNarrow ? largest / 128 : largest * 1e-5 + slack) << "largest value " << largest;
}
