/// Elements of variables as floats, whatever type they are stored in.
#ifndef PAR_CORE_ELEMENTS_H
#define PAR_CORE_ELEMENTS_H

#include "core/Manifest.h"
#include "par/io/FloatTypes.h"

#include <cstring>

namespace par::rt {

inline int64_t bytesOf(ElementType type) {
  return type == ElementType::i1 ? 1 : type == ElementType::bf16 ? 2 : type == ElementType::i64 ? 8 : 4;
}

/// How the transport moves elements of a type.
inline comm::Type transportType(ElementType type) {
  return type == ElementType::bf16  ? comm::Type::bf16
         : type == ElementType::i32 ? comm::Type::i32
                                    : comm::Type::f32;
}

/// Of a rank's part of a variable.
inline size_t localBytes(const Variable &variable) {
  return size_t(io::elementCount(variable.local) * bytesOf(variable.type));
}

/// Element `index` of an array of f32 or bf16.
inline float loadElement(const char *array, ElementType type, int64_t index) {
  if (type == ElementType::bf16) {
    uint16_t word;
    std::memcpy(&word, array + 2 * index, 2);
    return io::bfloatToFloat(word);
  }
  float value;
  std::memcpy(&value, array + 4 * index, 4);
  return value;
}

/// The same, written; bf16 is rounded to nearest even.
inline void storeElement(char *array, ElementType type, int64_t index, float value) {
  if (type == ElementType::bf16) {
    uint16_t word = io::floatToBfloat(value);
    std::memcpy(array + 2 * index, &word, 2);
  } else {
    std::memcpy(array + 4 * index, &value, 4);
  }
}

} // namespace par::rt
#endif
