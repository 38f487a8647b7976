// What a warp does with matrices: ldmatrix and mma.sync.
#include "emulation/Launch.h"

#include <cstring>

namespace par::emulation {

static float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// PTX ISA, ldmatrix .x4: lane i names row i % 8 of matrix i / 8. in = its address, transposed or not. A lane
/// gets two elements of each matrix, of row lane / 4 or, transposed, of column lane / 4.
void loadMatrices(std::vector<Thread *> &lanes) {
  uint16_t rows[warpSize][8] = {};
  for (Thread *thread : lanes) {
    launch->current = thread;
    uint64_t address = uint64_t(thread->in[1]) << 32 | thread->in[0];
    std::memcpy(rows[thread->lane()], launch->access(address, 16, 16, par_emulation_load, thread->place), 16);
  }
  for (Thread *thread : lanes)
    for (uint32_t matrix = 0; matrix < 4; ++matrix) {
      uint16_t pair[2];
      for (uint32_t i = 0; i < 2; ++i) {
        uint32_t along = thread->lane() % 4 * 2 + i, across = thread->lane() / 4;
        pair[i] = thread->in[2] ? rows[matrix * 8 + along][across] : rows[matrix * 8 + across][along];
      }
      thread->out[matrix] = uint32_t(pair[1]) << 16 | pair[0];
    }
}

namespace {
/// Elements of the fragments of mma.m16n8k16 with bf16 (PTX ISA), by what lanes have brought.
class Operands {
public:
  explicit Operands(const std::vector<Thread *> &lanes) {
    for (const Thread *thread : lanes)
      ofLane[thread->lane()] = thread;
  }
  float a(uint32_t row, uint32_t k) const {
    return element(row % 8 * 4 + k % 8 / 2, row / 8 + k / 8 * 2, k % 2);
  }
  float b(uint32_t k, uint32_t column) const { return element(column * 4 + k % 8 / 2, 4 + k / 8, k % 2); }

private:
  float element(uint32_t lane, uint32_t word, uint32_t half) const {
    return toFloat(half ? ofLane[lane]->in[word] & 0xFFFF0000 : ofLane[lane]->in[word] << 16);
  }
  const Thread *ofLane[warpSize] = {};
};
} // namespace

/// in = A (4 words of two elements), B (2), C (4 of f32). Products are exact; a GPU adds them up in an order
/// and with roundings that nobody says.
void multiply(std::vector<Thread *> &lanes) {
  if (lanes.size() < warpSize)
    return;
  Operands operands(lanes);
  for (Thread *thread : lanes)
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = thread->lane() / 4 + i / 2 * 8, column = thread->lane() % 4 * 2 + i % 2;
      double sum = toFloat(thread->in[6 + i]);
      for (uint32_t k = 0; k < 16; ++k)
        sum += double(operands.a(row, k)) * double(operands.b(k, column));
      thread->out[i] = toBits(float(sum));
    }
}

static void copyResults(void *results, const Thread &thread) {
  std::memcpy(results, thread.out, sizeof thread.out);
}

} // namespace par::emulation

using namespace par::emulation;

static constexpr uint32_t allLanes = ~uint32_t(0);

extern "C" {
void par_emulate_load_matrices(void *results, uint64_t address, const char *place) {
  copyResults(results, doTogether(WarpAction::LoadMatrices, allLanes,
                                  {uint32_t(address), uint32_t(address >> 32), false}, place));
}
void par_emulate_load_matrices_transposed(void *results, uint64_t address, const char *place) {
  copyResults(results, doTogether(WarpAction::LoadMatrices, allLanes,
                                  {uint32_t(address), uint32_t(address >> 32), true}, place));
}
void par_emulate_multiply_bf16(void *results, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                               uint32_t b1, float c0, float c1, float c2, float c3, const char *place) {
  copyResults(results,
              doTogether(WarpAction::Multiply, allLanes,
                         {a0, a1, a2, a3, b0, b1, toBits(c0), toBits(c1), toBits(c2), toBits(c3)}, place));
}
}
