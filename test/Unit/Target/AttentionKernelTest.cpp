//===- AttentionKernelTest.cpp - attention of every shape, emulated -------------------------------===//
#include "AttentionText.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Positions grow along rows from `first` on by `step`.
void setPositions(Tensor &tensor, int64_t first, int64_t step) {
  for (auto [number, value] : llvm::enumerate(tensor.values))
    value = static_cast<double>(first + step * static_cast<int64_t>(number));
}

struct Positions {
  int64_t first = 0, step = 1;
};

/// Both directions, in both types, in three orders of threads, are what the interpreter says.
void check(const AttentionShape &shape, std::optional<Positions> queries = Positions(),
           std::optional<Positions> keys = Positions(), bool isAligned = true) {
  for (const char *type : kTypes)
    for (bool isBackward : {false, true}) {
      SCOPED_TRACE(std::string(type) + (isBackward ? " backward" : " forward"));
      AttentionText text(shape, type);
      KernelOfText kernel(isBackward ? text.backward() : text.forward(), isAligned);
      if (queries)
        setPositions(kernel->ins[text.getTables()], queries->first, queries->step);
      if (keys)
        setPositions(kernel->ins[text.getTables() + 1], keys->first, keys->step);
      if (shape.dropout > 0)
        kernel->ins.back().values = {1, 2, 3, 4, 5}; // offsets
      EXPECT_EQ(kernel->getPlan(), isBackward ? "attention-queries" : "attention-forward");
      kernel->check();
    }
}

TEST(AttentionKernelTest, HeadsOfAnySize) {
  for (int64_t headDim : {8, 16, 20, 64, 128}) {
    SCOPED_TRACE(headDim);
    check({1, 17, 17, 1, 1, headDim});
  }
}

/// Blocks of several warps, several blocks, several tiles, and what is left of each.
TEST(AttentionKernelTest, OddLengths) {
  check({1, 1, 1, 1, 1, 8});
  check({2, 65, 130, 1, 1, 8, ""});
  check({1, 130, 67, 1, 1, 8}, Positions{-50, 1}, Positions{3, 2});
}

TEST(AttentionKernelTest, QueriesShareKeys) {
  check({2, 19, 19, 2, 3, 8});
  check({1, 33, 70, 1, 4, 16, ""});
}

/// Some tiles are not seen at all, some as a whole, some in part; a row may see nothing.
TEST(AttentionKernelTest, Windows) {
  check({1, 80, 150, 1, 1, 8, "causal, window = 5"}, Positions{40, 1});
  check({1, 40, 40, 1, 2, 8, "window = 3"}, Positions{10, 3});
  check({1, 20, 20, 1, 1, 8, "causal, window = 9223372036854775807"});
}

/// No diagonal: any positions, those of a striped sequence, and keys that are all behind the queries.
TEST(AttentionKernelTest, AnyPositions) {
  check({1, 70, 75, 1, 2, 8}, std::nullopt, std::nullopt);
  check({1, 40, 40, 1, 1, 8, "causal, window = 7"}, std::nullopt, std::nullopt);
  check({1, 35, 70, 1, 1, 8}, Positions{1, 4}, Positions{0, 2});
  check({1, 20, 20, 1, 1, 8}, Positions{0, 1}, Positions{100, 1});
}

/// The masks of the interpreter, which depend on neither tiles nor heads' numbers in a block.
TEST(AttentionKernelTest, Dropout) {
  check({2, 21, 21, 2, 2, 8, "causal", 0.3});
  check({1, 70, 70, 1, 2, 8, "causal, window = 40", 0.5});
}

TEST(AttentionKernelTest, RowsOfJointTensors) {
  check({2, 20, 20, 1, 2, 8, "causal", 0, /*isJoint=*/true});
  check({1, 40, 40, 2, 1, 20, "causal", 0.2, /*isJoint=*/true});
}

/// The shared memory has room in f32 for three warps' rows of a head of 256: threads have unlike numbers of
/// chunks, and no chunk behind the last tile is read.
TEST(AttentionKernelTest, BlocksOfThreeWarps) {
  AttentionShape shape{1, 48, 48, 1, 1, 256};
  AttentionText text(shape, "f32");
  KernelOfText kernel(text.forward());
  setPositions(kernel->ins[text.getTables()], 0, 1);
  setPositions(kernel->ins[text.getTables() + 1], 0, 1);
  kernel->check();
}

/// Buffers that begin anywhere are moved element by element.
TEST(AttentionKernelTest, BuffersThatBeginAnywhere) {
  check({1, 20, 20, 1, 2, 16}, Positions(), Positions(), /*isAligned=*/false);
}

/// Rows of heads of 16 bytes and more are moved in accesses of 16 bytes; nothing is read that no query sees.
TEST(AttentionKernelTest, WholeAccesses) {
  for (const char *type : kTypes) {
    KernelOfText kernel(AttentionText({1, 128, 128, 1, 1, 16}, type).forward());
    setPositions(kernel->ins[3], 0, 1);
    setPositions(kernel->ins[4], 0, 1);
    kernel->check();
    uint64_t tile = 64 * 16 * (std::string(type) == "f32" ? 4 : 2);
    using Moved = std::map<uint32_t, uint64_t>;
    EXPECT_EQ(kernel->getMoved(0, 0), (Moved{{16, 2 * tile}})); // queries
    EXPECT_EQ(kernel->getMoved(0, 1), (Moved{{16, 3 * tile}})); // keys: one tile of the first block, two
    EXPECT_EQ(kernel->getMoved(0, 2), (Moved{{16, 3 * tile}})); // values
    EXPECT_EQ(kernel->getMoved(0, 5), (Moved{{16, 2 * tile}})); // out
  }
}
} // namespace
