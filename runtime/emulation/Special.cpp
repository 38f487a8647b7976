// What a thread reads of itself, the special registers of PTX, and what it computes alone.
#include "emulation/Launch.h"

#include <cmath>
#include <cstring>

using namespace par::emulation;

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Rounded to nearest even, NaN kept.
static uint32_t roundToBf16(float value) {
  uint32_t bits = bitsOf(value);
  return (std::isnan(value) ? bits | 0x400000 : bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

/// What is too small for a normal number is zero, with its sign.
static float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

extern "C" {
uint32_t par_emulate_read_tid_x() { return launch->current->index.x; }
uint32_t par_emulate_read_tid_y() { return launch->current->index.y; }
uint32_t par_emulate_read_tid_z() { return launch->current->index.z; }
uint32_t par_emulate_read_ntid_x() { return launch->block.x; }
uint32_t par_emulate_read_ntid_y() { return launch->block.y; }
uint32_t par_emulate_read_ntid_z() { return launch->block.z; }
uint32_t par_emulate_read_ctaid_x() { return launch->blockIndex.x; }
uint32_t par_emulate_read_ctaid_y() { return launch->blockIndex.y; }
uint32_t par_emulate_read_ctaid_z() { return launch->blockIndex.z; }
uint32_t par_emulate_read_nctaid_x() { return launch->grid.x; }
uint32_t par_emulate_read_nctaid_y() { return launch->grid.y; }
uint32_t par_emulate_read_nctaid_z() { return launch->grid.z; }
uint32_t par_emulate_read_laneid() { return launch->current->lane(); }
uint32_t par_emulate_read_warpsize() { return warpSize; }

/// Off by the error that the PTX ISA allows, 2^-22, to either side.
float par_emulate_power_of_two(float exponent) {
  double error = bitsOf(exponent) & 1 ? 0x1p-22 : -0x1p-22;
  return flushed(float(std::exp2(double(flushed(exponent))) * (1 + error)));
}
/// The same; here it is 2^-23.
float par_emulate_reciprocal(float x) {
  double error = bitsOf(x) & 1 ? 0x1p-23 : -0x1p-23;
  return flushed(float(1 / double(flushed(x)) * (1 + error)));
}
/// The tangent is off by as much as the hardware's may be, 2^-11.
float par_emulate_tangent(float x) {
  double error = bitsOf(x) & 1 ? 0x1p-11 : -0x1p-11;
  return float(std::tanh(double(x)) * (1 + error));
}
/// PTX ISA, cvt.rn.bf16x2.f32: the first operand is the upper half.
uint32_t par_emulate_pack_bf16(float high, float low) { return roundToBf16(high) << 16 | roundToBf16(low); }
/// Of time alone.
void par_emulate_prefetch(uint64_t) {}
}
