/// Conversions between f32 and the 16-bit floats of files.
#ifndef PAR_IO_FLOATTYPES_H
#define PAR_IO_FLOATTYPES_H

#include <cstdint>

namespace par::io {

/// IEEE 754 binary16, subnormals included.
float halfToFloat(uint16_t half);
/// The upper half of an f32.
float bfloatToFloat(uint16_t word);

/// To nearest, ties to even; what is too large becomes infinite, a NaN stays one.
uint16_t floatToHalf(float value);
uint16_t floatToBfloat(float value);

} // namespace par::io
#endif
