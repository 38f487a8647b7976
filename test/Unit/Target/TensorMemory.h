//===- TensorMemory.h - tensors of tests as they lie in memory ------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_TARGET_TENSORMEMORY_H
#define PAR_TEST_UNIT_TARGET_TENSORMEMORY_H

#include "EmulatedKernels.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Interpreter/Tensor.h"
#include <cstring>
#include <random>

namespace mlir::par {

using DeviceBytes = std::vector<char, DeviceAllocator<char>>;

/// Elements of a tensor as they lie in memory, from their values and back. What is not written is NaN, or a
/// number that tests have nowhere.
class Memory {
public:
  explicit Memory(RankedTensorType type) : type(type), bytes(rank::getBytes(type)) {
    for (size_t place = 0; place < bytes.size(); ++place)
      bytes[place] = static_cast<char>(place % 2 ? 0x7F : 0xC0);
  }

  void set(const Tensor &tensor) {
    for (size_t number = 0; number < tensor.values.size(); ++number) {
      double value = tensor.values[number];
      visit(
          number, [&](auto &element) { element = static_cast<std::decay_t<decltype(element)>>(value); },
          [&](uint16_t &bits) { bits = toBf16(value); });
    }
  }
  double get(size_t number) {
    double value = 0;
    visit(
        number, [&](auto &element) { value = static_cast<double>(element); },
        [&](uint16_t &bits) { value = fromBf16(bits); });
    return value;
  }

  RankedTensorType type;
  DeviceBytes bytes;

private:
  template <typename Element, typename Narrow>
  void visit(size_t number, Element element, Narrow narrow) {
    Type of = type.getElementType();
    char *place = bytes.data() + number * bytes.size() / type.getNumElements();
    if (of.isBF16())
      narrow(*reinterpret_cast<uint16_t *>(place));
    else if (of.isF32())
      element(*reinterpret_cast<float *>(place));
    else if (of.isInteger(64))
      element(*reinterpret_cast<int64_t *>(place));
    else if (of.isInteger(32))
      element(*reinterpret_cast<int32_t *>(place));
    else
      element(*reinterpret_cast<uint8_t *>(place));
  }
  static double fromBf16(uint16_t bits) {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  static uint16_t toBf16(double value) { // has been rounded
    float narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
  }
};

/// Normal numbers; scalars are positive, as counts and scales are; ids are within any table.
Tensor drawTensor(RankedTensorType type, std::mt19937 &random);

/// The memory holds what the interpreter says, but for rounding, and in f32 but for `slack`.
void compareTensors(const Tensor &expected, Memory &out, double slack = 0);

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_TENSORMEMORY_H
