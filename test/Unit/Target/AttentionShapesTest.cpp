//===- AttentionShapesTest.cpp - attention of drawn shapes, emulated ------------------------------===//
// PAR_ATTENTION_SHAPES=2000 draws so many, 1000-2000 those from one on; PAR_ATTENTION_SHAPE=17 is one of
// them, and says what it is.
#include "AttentionTables.h"
#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace mlir::par;

namespace {
class ShapeDrawer {
public:
  explicit ShapeDrawer(uint64_t seed) : random(static_cast<uint32_t>(seed * 7919 + 1)) {}

  AttentionShape drawShape() {
    AttentionShape s;
    s.headDim = drawSize();
    s.valueDim = isOnceIn(2) ? s.headDim : drawSize();
    s.kvHeads = draw(1, 2);
    s.group = isOnceIn(2) ? 1 : draw(2, 4);
    s.batch = draw(1, 2);
    // So many that a case takes a second.
    double most = 600000.0 / static_cast<double>((s.headDim + s.valueDim) * s.batch * s.kvHeads * s.group);
    auto rows = std::clamp<int64_t>(static_cast<int64_t>(std::sqrt(most)), 3, 180);
    s.qRows = draw(1, rows);
    s.kRows = isOnceIn(2) ? s.qRows : draw(1, rows);
    s.mask = isOnceIn(3) ? "" : "causal";
    if (isOnceIn(3))
      s.mask += (s.mask.empty() ? "window = " : ", window = ") + std::to_string(draw(1, rows));
    s.dropout = isOnceIn(6) ? 0.25 : 0;
    s.cap = isOnceIn(3) ? (isOnceIn(2) ? 2 : 30) : 0;
    s.sinks = isOnceIn(3) ? kTypes[draw(0, 1)] : "";
    s.documents = isOnceIn(2);
    s.isPerEntry = isOnceIn(3);
    s.isJoint = s.qRows == s.kRows && isOnceIn(4);
    s.scale = std::to_string(0.8 / std::sqrt(static_cast<double>(s.headDim)));
    return s;
  }

  AttentionTables drawTables(const AttentionShape &s) {
    int64_t keys = s.kRows, length = draw(1, std::max<int64_t>(1, keys)), shift = draw(0, length);
    // Queries may be another part of the sequence than keys.
    int64_t later = s.qRows == keys ? 0 : draw(-keys / 2, keys);
    int64_t kind = draw(0, 3), step = draw(2, 4);
    auto positions = [=](int64_t entry, int64_t row) -> int64_t {
      int64_t place = row + shift + 3 * entry;
      if (kind == 0) // begin again in each document
        return ((place % length) + length) % length;
      return kind == 1 ? place : kind == 2 ? place * step : place * 37 % 101;
    };
    int64_t order = draw(0, 4);
    auto documents = [=](int64_t entry, int64_t row) -> int64_t {
      int64_t place = row + shift + 3 * entry + 1000 * length;
      int64_t any[] = {-2147483648, 5, 2147483647};
      return order == 0 ? any[place * 29 % 3] : order == 1 ? 5000 - place / length : place / length;
    };
    auto moved = [later](auto numbers) {
      return [=](int64_t entry, int64_t row) { return numbers(entry, row + later); };
    };
    if (!s.documents)
      return {moved(positions), positions};
    return {moved(positions), positions, moved(documents), documents};
  }

  int64_t draw(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint32_t>(high - low + 1));
  }
  bool isOnceIn(int64_t count) { return draw(1, count) == 1; }

private:
  /// The size of a head; a few are those of latent attention and beyond.
  int64_t drawSize() {
    switch (draw(0, 7)) {
    case 0:
      return 64;
    case 1:
      return 8 * draw(1, 16);
    case 2:
      return draw(1, 600);
    default:
      return draw(1, 48);
    }
  }

  std::mt19937 random;
};

std::string describe(const AttentionShape &s) {
  std::string text;
  std::pair<const char *, int64_t> sizes[] = {
      {"batch", s.batch},      {"q rows", s.qRows}, {"k rows", s.kRows},   {"kv heads", s.kvHeads},
      {"group", s.group},      {"head", s.headDim}, {"value", s.valueDim}, {"documents", s.documents},
      {"entry", s.isPerEntry}, {"joint", s.isJoint}};
  for (auto [name, size] : sizes)
    text += std::string(name) + " " + std::to_string(size) + ", ";
  return text + "mask " + s.mask + ", dropout " + std::to_string(s.dropout) + ", cap " +
         std::to_string(s.cap) + ", sinks " + s.sinks;
}

/// One type and direction of each shape, in turns.
void check(uint64_t seed) {
  ShapeDrawer drawer(seed);
  AttentionShape shape = drawer.drawShape();
  AttentionTables tables = drawer.drawTables(shape);
  const char *type = kTypes[seed % 2];
  bool isBackward = seed / 2 % 2;
  SCOPED_TRACE("PAR_ATTENTION_SHAPE=" + std::to_string(seed) + ": " + type +
               (isBackward ? " backward, " : " forward, ") + describe(shape));
  AttentionText text(shape, type);
  KernelOfText kernel(isBackward ? text.backward() : text.forward(), /*isAligned=*/seed % 7 != 0);
  setInputs(*kernel, text, tables);
  kernel->check();
}

TEST(AttentionShapesTest, AsTheReferenceSays) {
  if (const char *one = std::getenv("PAR_ATTENTION_SHAPE")) {
    ShapeDrawer drawer(std::strtoull(one, nullptr, 10));
    llvm::outs() << describe(drawer.drawShape()) << "\n";
    llvm::outs().flush();
    return check(std::strtoull(one, nullptr, 10));
  }
  const char *range = std::getenv("PAR_ATTENTION_SHAPES");
  auto [first, last] = llvm::StringRef(range ? range : "4").split('-');
  uint64_t begin = last.empty() ? 0 : std::strtoull(first.data(), nullptr, 10);
  uint64_t end = std::strtoull((last.empty() ? first : last).data(), nullptr, 10);
  for (uint64_t seed = begin; seed < end; ++seed) {
    check(seed);
    if (range && (seed + 1) % 100 == 0) {
      llvm::outs() << "drawn up to " << seed + 1 << "\n";
      llvm::outs().flush();
    }
  }
}
} // namespace
