//===- Tensor.cpp - values of the interpreter -----------------------------------------------------------===//
#include "par/Interpreter/Tensor.h"

using namespace mlir;
using namespace mlir::par;

void Tensor::round() {
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element || element.getWidth() >= 32)
    return;
  for (double &value : values) {
    APFloat rounded(value);
    bool loses;
    rounded.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    value = rounded.convertToDouble();
  }
}

SmallVector<int64_t> par::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

void par::forEachIndex(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(index);
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim])
      index[dim--] = 0;
    if (dim < 0)
      return;
  }
}

void par::copyBlock(const Tensor &from, ArrayRef<int64_t> fromOffsets, Tensor &to,
                    ArrayRef<int64_t> toOffsets, ArrayRef<int64_t> shape) {
  if (shape.empty()) {
    to.values[0] = from.values[0];
    return;
  }
  SmallVector<int64_t> fromStrides = rowMajorStrides(from.shape()), toStrides = rowMajorStrides(to.shape());
  // Rows of the last dimension are contiguous on both sides.
  forEachIndex(shape.drop_back(), [&](ArrayRef<int64_t> index) {
    int64_t source = fromOffsets.back(), target = toOffsets.back();
    for (auto [dim, position] : llvm::enumerate(index)) {
      source += (fromOffsets[dim] + position) * fromStrides[dim];
      target += (toOffsets[dim] + position) * toStrides[dim];
    }
    std::copy_n(from.values.begin() + source, shape.back(), to.values.begin() + target);
  });
}

uint32_t par::philoxWord0(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0, uint32_t k1) {
  constexpr uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = multiplier0 * c0, product1 = multiplier1 * c2;
    uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
    uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(product1);
    c3 = static_cast<uint32_t>(product0);
    c0 = next0;
    c2 = next2;
    k0 += weyl0;
    k1 += weyl1;
  }
  return c0;
}
