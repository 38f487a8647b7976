/// Words that fill memory whose bytes mean nothing.
#ifndef PAR_DEVICE_FILLWORDS_H
#define PAR_DEVICE_FILLWORDS_H

#include <cstdint>

namespace par::device {

/// A NaN in every float type, and no number that a program counts with: what an arena holds before anything
/// is written there. Its halves differ, so that a number of equal bytes (−1, of a target that does not count)
/// is none of them.
constexpr uint32_t paintWord = 0xFFF5FFF9;

/// A NaN in f32 and in bf16, of which no half is one of the paint's: what dead ranges are filled with.
constexpr uint32_t poisonWord = 0x7FC07FC0;

/// What a program may read by mistake and must not count with.
constexpr bool meansNothing(uint32_t word) { return word == paintWord || word == poisonWord; }

} // namespace par::device
#endif
