#include "Sha256Blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

namespace par::io {

/// Four rounds: the instruction takes two words with their constants at a time.
__attribute__((target("sha,sse4.1"))) static inline void fourRounds(__m128i &abef, __m128i &cdgh,
                                                                    __m128i words, int round) {
  __m128i constants = _mm_loadu_si128(reinterpret_cast<const __m128i *>(sha256Constants + round));
  __m128i sum = _mm_add_epi32(words, constants);
  cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
  abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
}

/// The next four words of the schedule from the last sixteen, which stand in the order a, b, c, d.
__attribute__((target("sha,sse4.1"))) static inline __m128i nextWords(__m128i a, __m128i b, __m128i c,
                                                                      __m128i d) {
  __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
  return _mm_sha256msg2_epu32(sum, d);
}

__attribute__((target("sha,sse4.1"))) static void withInstructions(uint32_t state[8],
                                                                   const unsigned char *data, size_t blocks) {
  const __m128i bigEndian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  // The instructions want the state as (a, b, e, f) and (c, d, g, h), highest word first.
  __m128i *stored = reinterpret_cast<__m128i *>(state);
  __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(stored), 0xB1);
  __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(stored + 1), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
  for (; blocks; --blocks, data += 64) {
    __m128i abefBefore = abef, cdghBefore = cdgh, words[4];
    for (int i = 0; i < 4; ++i) {
      __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data + 16 * i));
      words[i] = _mm_shuffle_epi8(loaded, bigEndian);
      fourRounds(abef, cdgh, words[i], 4 * i);
    }
    for (int i = 4; i < 16; ++i) {
      __m128i &word = words[i % 4];
      word = nextWords(word, words[(i + 1) % 4], words[(i + 2) % 4], words[(i + 3) % 4]);
      fourRounds(abef, cdgh, word, 4 * i);
    }
    abef = _mm_add_epi32(abef, abefBefore), cdgh = _mm_add_epi32(cdgh, cdghBefore);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(stored, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(stored + 1, _mm_alignr_epi8(dchg, feba, 8));
}

Sha256Blocks sha256WithInstructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  bool sse41 = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3);
  bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
  return sse41 && sha ? withInstructions : nullptr;
}

} // namespace par::io
#else
namespace par::io {
Sha256Blocks sha256WithInstructions() { return nullptr; }
} // namespace par::io
#endif
