// Encodings: Intel, Software Developer's Manual, volume 2, sections 2.3 (VEX), 2.7 (EVEX) and the pages of
// LDTILECFG, TILELOADD, TILESTORED, TILEZERO, TILERELEASE, TDPBF16PS and VDPBF16PS.
#include "UnitsEmulator.h"

#include <array>
#include <cpuid.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

namespace par::test {
namespace {

struct Tile {
  uint8_t bytes[16][64];
};
struct TileShape {
  int rows, bytes;
};

/// A thread's tiles. Not touched by anything but the handler.
thread_local Tile tiles[8];
thread_local TileShape shapes[8];

float widen(uint16_t word) {
  uint32_t bits = uint32_t(word) << 16;
  if (!(bits & 0x7F800000)) // denormals count as 0
    bits &= 0x80000000;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

float flush(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits & 0x7F800000 ? value : 0.0f;
}

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "error: emulation of bf16 units: %s\n", what);
  std::abort();
}

/// The registers of the thread that trapped, as its signal frame has them.
class Registers {
public:
  explicit Registers(void *context) : context(*static_cast<ucontext_t *>(context)) {}

  uint64_t general(int number) const {
    // The order of encodings: ax cx dx bx sp bp si di r8 ... r15.
    static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return uint64_t(context.uc_mcontext.gregs[order[number]]);
  }
  const uint8_t *instruction() const {
    return reinterpret_cast<const uint8_t *>(context.uc_mcontext.gregs[REG_RIP]);
  }
  void skipTo(const uint8_t *next) { context.uc_mcontext.gregs[REG_RIP] = greg_t(next); }

  void readVector(int number, void *to) {
    forParts(number, [&](char *part, int component, size_t at, size_t bytes) {
      if (stateBits() >> component & 1)
        std::memcpy(static_cast<char *>(to) + at, part, bytes);
      else // in its initial state, whatever is written there
        std::memset(static_cast<char *>(to) + at, 0, bytes);
    });
  }
  void writeVector(int number, const void *from) {
    forParts(number, [&](char *part, int component, size_t at, size_t bytes) {
      if (!(stateBits() >> component & 1))
        clear(component);
      stateBits() |= uint64_t(1) << component;
      std::memcpy(part, static_cast<const char *>(from) + at, bytes);
    });
  }

private:
  char *area() const { return reinterpret_cast<char *>(context.uc_mcontext.fpregs); }
  uint64_t &stateBits() const { return *reinterpret_cast<uint64_t *>(area() + 512); }

  struct Place {
    unsigned offset, size;
  };
  /// Where XSAVE's standard form has a component (volume 1, section 13.4). Asked for once: CPUID is slow in a
  /// virtual machine.
  static const Place &place(int component) {
    static const std::array<Place, 8> places = [] {
      std::array<Place, 8> found{};
      found[1] = {160, 256};
      for (unsigned i = 2, c, d; i < found.size(); ++i)
        __cpuid_count(0xD, i, found[i].size, found[i].offset, c, d);
      return found;
    }();
    return places[size_t(component)];
  }
  void clear(int component) { std::memset(area() + place(component).offset, 0, place(component).size); }

  /// A register's parts: the old 16 bytes, and what AVX and AVX-512 added to them; or a new register.
  template <typename Part>
  void forParts(int number, Part &&part) {
    auto at = [&](int component, unsigned bytes, int index) {
      return area() + place(component).offset + bytes * unsigned(index);
    };
    if (number >= 16)
      return part(at(7, 64, number - 16), 7, 0, 64);
    part(at(1, 16, number), 1, 0, 16);
    part(at(2, 16, number), 2, 16, 16);
    part(at(6, 32, number), 6, 32, 32);
  }

  ucontext_t &context;
};

/// What prefix and ModRM say.
struct Decoded {
  bool evex;
  int prefix; ///< 0 none, 1 66, 2 F3, 3 F2
  int opcode, mod, reg, rm;
  int vector; ///< vvvv
  bool broadcast;
  uint64_t base, index; ///< of a memory operand: address without the index, and the scaled index
  const uint8_t *next;
};

/// The memory operand; `scale8` is what a displacement of one byte counts in.
void decodeMemory(const Registers &registers, const uint8_t *at, int highBase, int highIndex, int scale8,
                  Decoded &out) {
  uint64_t base = 0, index = 0;
  bool relative = false;
  int low = out.rm & 7;
  if (low == 4) {
    int sib = *at++, number = (sib >> 3 & 7) | highIndex;
    if (number != 4)
      index = registers.general(number) << (sib >> 6);
    low = sib & 7;
    if (low == 5 && out.mod == 0) {
      int32_t offset;
      std::memcpy(&offset, at, 4), at += 4;
      base = uint64_t(int64_t(offset));
      out.base = base, out.index = index, out.next = at;
      return;
    }
    base = registers.general(low | highBase);
  } else if (low == 5 && out.mod == 0) {
    relative = true;
  } else {
    base = registers.general(low | highBase);
  }
  if (out.mod == 1)
    base += uint64_t(int64_t(int8_t(*at++)) * scale8);
  if (out.mod == 2 || relative) {
    int32_t offset;
    std::memcpy(&offset, at, 4), at += 4;
    base += uint64_t(int64_t(offset));
  }
  if (relative)
    base += uint64_t(at);
  out.base = base, out.index = index, out.next = at;
}

Decoded decode(const Registers &registers) {
  const uint8_t *at = registers.instruction();
  Decoded out{};
  int highBase, highIndex, scale8 = 1;
  if (at[0] == 0xC4) {
    if ((at[1] & 31) != 2)
      fail("an instruction that it does not know");
    out.prefix = at[2] & 3, out.vector = ~(at[2] >> 3) & 15;
    out.reg = (at[1] & 0x80 ? 0 : 8), highIndex = at[1] & 0x40 ? 0 : 8, highBase = at[1] & 0x20 ? 0 : 8;
    out.opcode = at[3], at += 4;
    out.rm = highBase;
  } else if (at[0] == 0x62) {
    if ((at[1] & 7) != 2 || (at[3] & 0x60) != 0x40 || (at[3] & 7) != 0)
      fail("an instruction that it does not know");
    out.evex = true;
    out.prefix = at[2] & 3, out.vector = (~(at[2] >> 3) & 15) | (at[3] & 8 ? 0 : 16);
    out.reg = (at[1] & 0x80 ? 0 : 8) | (at[1] & 0x10 ? 0 : 16);
    highIndex = at[1] & 0x40 ? 0 : 8, highBase = at[1] & 0x20 ? 0 : 8;
    out.broadcast = at[3] & 0x10;
    scale8 = out.broadcast ? 4 : 64;
    out.opcode = at[4], at += 5;
    out.rm = highBase | highIndex << 1;
  } else {
    fail("an instruction that it does not know");
  }
  out.mod = *at >> 6, out.reg |= *at >> 3 & 7, out.rm |= *at & 7;
  ++at;
  if (out.mod == 3)
    out.next = at;
  else
    decodeMemory(registers, at, highBase, highIndex, scale8, out);
  return out;
}

template <typename T>
T *memory(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

void dotPairs(Registers &registers, const Decoded &what) {
  uint16_t left[32], right[32];
  float sums[16];
  registers.readVector(what.reg, sums);
  registers.readVector(what.vector, left);
  if (what.mod == 3)
    registers.readVector(what.rm, right);
  else if (what.broadcast)
    for (int i = 0; i < 16; ++i)
      std::memcpy(right + 2 * i, memory<char>(what.base + what.index), 4);
  else
    std::memcpy(right, memory<char>(what.base + what.index), 64);
  for (int i = 0; i < 16; ++i) {
    sums[i] = flush(__builtin_fmaf(widen(left[2 * i + 1]), widen(right[2 * i + 1]), sums[i]));
    sums[i] = flush(__builtin_fmaf(widen(left[2 * i]), widen(right[2 * i]), sums[i]));
  }
  registers.writeVector(what.reg, sums);
}

void configure(const uint8_t *configuration) {
  if (configuration[0] != 1)
    fail("LDTILECFG of another palette than 1");
  for (int i = 0; i < 8; ++i) {
    uint16_t bytes;
    std::memcpy(&bytes, configuration + 16 + 2 * i, 2);
    shapes[i] = {configuration[48 + i], bytes};
    if (shapes[i].rows > 16 || bytes > 64)
      fail("LDTILECFG of tiles that are too large");
    std::memset(&tiles[i], 0, sizeof(Tile));
  }
}

const TileShape &shapeOf(int tile) {
  if (!shapes[tile].rows)
    fail("a tile without a configuration");
  return shapes[tile];
}

void loadTile(const Decoded &what) {
  TileShape shape = shapeOf(what.reg);
  Tile &tile = tiles[what.reg];
  std::memset(&tile, 0, sizeof(Tile));
  for (int row = 0; row < shape.rows; ++row)
    std::memcpy(tile.bytes[row], memory<char>(what.base + uint64_t(row) * what.index), size_t(shape.bytes));
}

void storeTile(const Decoded &what) {
  TileShape shape = shapeOf(what.reg);
  for (int row = 0; row < shape.rows; ++row)
    std::memcpy(memory<char>(what.base + uint64_t(row) * what.index), tiles[what.reg].bytes[row],
                size_t(shape.bytes));
}

void multiplyTiles(int to, int left, int right) {
  TileShape c = shapeOf(to), a = shapeOf(left), b = shapeOf(right);
  if (c.rows != a.rows || c.bytes != b.bytes || a.bytes / 4 != b.rows)
    fail("TDPBF16PS of tiles that do not fit");
  for (int m = 0; m < c.rows; ++m)
    for (int n = 0; n < c.bytes / 4; ++n) {
      float sum[2] = {0, 0}, before;
      for (int k = 0; k < b.rows; ++k)
        for (int half = 0; half < 2; ++half) {
          uint16_t x, y;
          std::memcpy(&x, tiles[left].bytes[m] + 4 * k + 2 * half, 2);
          std::memcpy(&y, tiles[right].bytes[k] + 4 * n + 2 * half, 2);
          sum[half] = flush(__builtin_fmaf(widen(x), widen(y), sum[half]));
        }
      std::memcpy(&before, tiles[to].bytes[m] + 4 * n, 4);
      before = flush(before + flush(sum[0] + sum[1]));
      std::memcpy(tiles[to].bytes[m] + 4 * n, &before, 4);
    }
}

void handle(int, siginfo_t *, void *context) {
  Registers registers(context);
  Decoded what = decode(registers);
  bool memoryOperand = what.mod != 3;
  if (what.evex && what.opcode == 0x52 && what.prefix == 2)
    dotPairs(registers, what);
  else if (!what.evex && what.opcode == 0x49 && what.prefix == 0 && memoryOperand)
    configure(memory<uint8_t>(what.base + what.index));
  else if (!what.evex && what.opcode == 0x49 && what.prefix == 0)
    std::memset(shapes, 0, sizeof(shapes));
  else if (!what.evex && what.opcode == 0x49 && what.prefix == 3 && !memoryOperand)
    shapeOf(what.reg), std::memset(&tiles[what.reg], 0, sizeof(Tile));
  else if (!what.evex && what.opcode == 0x4B && what.prefix == 3 && memoryOperand)
    loadTile(what);
  else if (!what.evex && what.opcode == 0x4B && what.prefix == 2 && memoryOperand)
    storeTile(what);
  else if (!what.evex && what.opcode == 0x5C && what.prefix == 2 && !memoryOperand)
    multiplyTiles(what.reg, what.rm, what.vector);
  else
    fail("an instruction that it does not know");
  registers.skipTo(what.next);
}

} // namespace

static bool emulate() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGILL, &action, nullptr) == 0;
}

std::vector<cpu::Bf16Units> testableBf16Units() {
  using cpu::Bf16Units;
  static const bool all =
      __builtin_cpu_supports("x86-64-v4") && (cpu::supportedBf16Units() == Bf16Units::tiles || emulate());
  return all ? std::vector<Bf16Units>{Bf16Units::none, Bf16Units::dot, Bf16Units::tiles}
             : std::vector<Bf16Units>{Bf16Units::none};
}

} // namespace par::test
