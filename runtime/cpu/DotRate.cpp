#include "cpu/DotRate.h"

#include <algorithm>
#include <chrono>
#include <immintrin.h>
#include <limits>

#define PAR_DOT __attribute__((target("arch=x86-64-v4,avx512bf16"), min_vector_width(512)))

namespace par::cpu {

/// Enough sums to hide the latency of either instruction: 2 units × 4 cycles, and one × 6.
static constexpr int sums = 12;
static constexpr int rounds = 500;

namespace {

// As text, so that no compiler combines, drops or reorders them. All numbers are 0.
struct Multiplication {
  PAR_DOT static void addTo(__m512 &sum, __m512 factor) {
    __asm__ volatile("vfmadd231ps %1, %1, %0" : "+v"(sum) : "v"(factor));
  }
};

struct DotProduct {
  PAR_DOT static void addTo(__m512 &sum, __m512 factor) {
    __asm__ volatile("vdpbf16ps %1, %1, %0" : "+v"(sum) : "v"(factor));
  }
};

} // namespace

template <typename Instruction>
PAR_DOT static double seconds() {
  auto begin = std::chrono::steady_clock::now();
  __m512 values[sums] = {}, factor = _mm512_setzero_ps();
  for (int round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (__m512 &value : values)
      Instruction::addTo(value, factor);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double dotsPerMultiplication() {
  // The shortest of many short turns: neither a switch of threads nor what a neighbour on the core does for a
  // while may decide.
  constexpr int turns = 100;
  double multiplication = std::numeric_limits<double>::infinity(), dot = multiplication;
  for (int turn = 0; turn < turns; ++turn) {
    multiplication = std::min(multiplication, seconds<Multiplication>());
    dot = std::min(dot, seconds<DotProduct>());
  }
  return multiplication / dot;
}

} // namespace par::cpu
