//===- AttentionFeaturesTest.cpp - caps, sinks, documents and sizes of values, emulated -----------===//
#include "AttentionTables.h"

using namespace mlir;
using namespace mlir::par;

namespace {
RowNumbers growFrom(int64_t first, int64_t step = 1) {
  return [=](int64_t, int64_t row) { return first + step * row; };
}

void check(const AttentionShape &shape, const char *type, bool isBackward,
           const AttentionTables &tables = {growFrom(0), growFrom(0)}) {
  SCOPED_TRACE(std::string(type) + (isBackward ? " backward" : " forward"));
  AttentionText text(shape, type);
  KernelOfText kernel(isBackward ? text.backward() : text.forward());
  setInputs(*kernel, text, tables);
  kernel->check();
}

/// Both directions, in both types, in three orders of threads, are what the interpreter says.
void check(const AttentionShape &shape, const AttentionTables &tables = {growFrom(0), growFrom(0)}) {
  for (const char *type : kTypes)
    for (bool isBackward : {false, true})
      check(shape, type, isBackward, tables);
}

AttentionShape makeShape(int64_t rows, int64_t headDim, int64_t group = 1) {
  AttentionShape shape;
  shape.qRows = shape.kRows = rows;
  shape.headDim = headDim;
  shape.group = group;
  return shape;
}

/// They lie in the rows of a joint tensor, each of which has its own width.
TEST(AttentionFeaturesTest, ValuesOfAnotherSize) {
  AttentionShape shape = makeShape(20, 24, 2);
  shape.batch = 2;
  shape.valueDim = 40;
  shape.isJoint = true;
  check(shape);
}

/// Latent attention, absorbed: blocks share the columns of what is added up. 600 is no multiple of theirs.
TEST(AttentionFeaturesTest, LargeHeads) {
  AttentionShape shape = makeShape(17, 600);
  shape.valueDim = 512;
  shape.cap = 3; // by two functions, which are exact
  shape.sinks = "f32";
  shape.scale = "0.04";
  for (bool isBackward : {false, true})
    check(shape, "bf16", isBackward);
}

/// A score is capped before the mask, and its gradient has the cap's slope. Of the first tile the second
/// block sees the last key alone.
TEST(AttentionFeaturesTest, Caps) {
  AttentionShape shape = makeShape(70, 16);
  shape.cap = 1.5;
  shape.mask = "causal, window = 2";
  check(shape);
}

/// Each head has its own; a row that sees no key has the sink alone. Capped scores have another unit.
TEST(AttentionFeaturesTest, Sinks) {
  AttentionShape shape = makeShape(40, 16, 3);
  shape.kvHeads = 2;
  shape.sinks = "f32";
  check(shape, "bf16", /*isBackward=*/false, {growFrom(-5), growFrom(0)});
  shape.sinks = "bf16";
  shape.cap = 2;
  check(shape, "f32", /*isBackward=*/false, {growFrom(-5), growFrom(0)});
}

/// Borders within a tile and between tiles, others in each entry of the batch; positions begin anew or go on.
TEST(AttentionFeaturesTest, Documents) {
  AttentionShape shape = makeShape(150, 8);
  shape.batch = 3;
  shape.documents = shape.isPerEntry = true;
  shape.mask = "causal, window = 50";
  auto getLength = [](int64_t entry) { return std::array<int64_t, 3>{7, 64, 100}[entry]; };
  RowNumbers positions = [=](int64_t entry, int64_t row) {
    return entry == 2 ? row : row % getLength(entry);
  };
  RowNumbers documents = [=](int64_t entry, int64_t row) { return row / getLength(entry); };
  check(shape, {positions, positions, documents, documents});
}

/// Tiles of other documents are not read, nor those behind the last query of a document.
TEST(AttentionFeaturesTest, TilesOfOtherDocuments) {
  AttentionShape shape = makeShape(256, 16);
  shape.documents = true;
  AttentionText text(shape, "bf16");
  KernelOfText kernel(text.forward());
  setInputs(*kernel, text, packDocuments(72)); // a tile of 64 has rows of two
  kernel->checkValues(par_emulation_forward);
  uint64_t tile = 64 * 16 * 2;
  using Moved = std::map<uint32_t, uint64_t>;
  // The blocks of queries see 1, 2, 2 and 2 tiles.
  EXPECT_EQ(kernel->getMoved(0, 1), (Moved{{16, 7 * tile}}));
}
} // namespace
