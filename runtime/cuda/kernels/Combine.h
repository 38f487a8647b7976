/* Element-wise kernels of collectives, one element after the other per thread: the text that GPUs run
   (Combine.ptx, made of Combine.c by generate.sh) and what the stand-in runs in its place are both made of
   this file.

   COMBINE(name, target, source, value) and CONVERT, which does not read the target: thread i of n handles
   elements i, i + n, ...; `a` is the element of the target, `b` that of the source. */

#define COMBINE_ALL                                                                                          \
  COMBINE(par_combine_f32_sum, float, float, a + b)                                                          \
  COMBINE(par_combine_f32_max, float, float, a > b || a != a ? a : b)                                        \
  COMBINE(par_combine_f32_min, float, float, a < b || a != a ? a : b)                                        \
  COMBINE(par_combine_i32_sum, unsigned, unsigned, a + b)                                                    \
  COMBINE(par_combine_i32_max, int, int, a > b ? a : b)                                                      \
  COMBINE(par_combine_i32_min, int, int, a < b ? a : b)                                                      \
  COMBINE(par_combine_i64_sum, unsigned long, unsigned long, a + b)                                          \
  COMBINE(par_combine_i64_max, long, long, a > b ? a : b)                                                    \
  COMBINE(par_combine_i64_min, long, long, a < b ? a : b)                                                    \
  COMBINE(par_combine_bf16_sum, float, unsigned short, a + widen(b))                                         \
  COMBINE(par_combine_bf16_max, float, unsigned short, a > widen(b) || a != a ? a : widen(b))                \
  COMBINE(par_combine_bf16_min, float, unsigned short, a < widen(b) || a != a ? a : widen(b))                \
  CONVERT(par_widen_bf16, float, unsigned short, widen(b))                                                   \
  CONVERT(par_round_bf16, unsigned short, float, rounded(b))

INLINE float widen(unsigned short value) {
  union {
    unsigned bits;
    float value;
  } wide;
  wide.bits = (unsigned)value << 16;
  return wide.value;
}

/* Nearest, ties to even; a NaN stays one. */
INLINE unsigned short rounded(float value) {
  union {
    float value;
    unsigned bits;
  } wide;
  wide.value = value;
  if (value != value)
    return (unsigned short)(wide.bits >> 16 | 0x40);
  return (unsigned short)((wide.bits + 0x7FFF + (wide.bits >> 16 & 1)) >> 16);
}
