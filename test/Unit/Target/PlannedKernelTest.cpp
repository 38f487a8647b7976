//===- PlannedKernelTest.cpp - kernels of every plan at sizes that do not fit -----------------===//
#include "KernelOfText.h"

using namespace mlir;
using namespace mlir::par;

/// The first output has the same bytes where it lies over an input as where it lies alone.
void expectSameInPlace(KernelCase &one, size_t input) {
  std::vector<Memory> apart = one.emulate(par_emulation_reverse),
                      same = one.emulate(par_emulation_random, input);
  EXPECT_EQ(apart[0].bytes, same[0].bytes);
}

namespace {
/// `operand` is moved once, at least 90 % of it by whole accesses, and at least `share` per cent of what is
/// fetched with it are used, but for a sector that its end is in.
void expectOnce(const KernelCase &one, size_t launch, int64_t operand, uint64_t share = 95) {
  uint64_t all = 0, wide = 0, bytes = one.getBytes(operand);
  for (auto [width, moved] : one.getMoved(launch, operand)) {
    all += moved;
    wide += width == 16 ? moved : 0;
  }
  EXPECT_GE(all, bytes) << "operand " << operand;
  EXPECT_LE(all, bytes + bytes / 20) << "operand " << operand;
  EXPECT_GE(10 * wide, 9 * all) << "operand " << operand;
  auto [fetched, used] = one.getSectorUse(launch, operand);
  EXPECT_GT(100 * used * one.countInstructions(operand) + 100 * 32, share * fetched) << "operand " << operand;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

KernelText softmax(int64_t rows, int64_t columns, const std::string &type) {
  std::string x = shape({rows, columns}, type);
  return {{x}, {x}, "%0 = par.softmax %a : " + x + "\nrank.yield %0 : " + x};
}

TEST(PlannedKernelTest, RowsOfAnySize) {
  for (auto [rows, columns] : {std::pair(5, 7), {3, 96}, {9, 1600}, {4, 1}, {1, 33}, {130, 40}, {2, 5000}})
    for (const char *type : kTypes) {
      KernelOfText kernel(softmax(rows, columns, type));
      EXPECT_EQ(kernel->getPlan(), "row");
      kernel->check();
    }
}

TEST(PlannedKernelTest, RowsOfBuffersThatBeginAnywhere) {
  for (const char *type : kTypes) {
    KernelOfText kernel(softmax(7, 96, type), /*isAligned=*/false);
    EXPECT_EQ(kernel->getPlan(), "row");
    kernel->check();
    for (auto [width, moved] : kernel->getMoved(0, 0))
      EXPECT_LE(width, 4u);
  }
}

/// A number of each row, added to what lies in its place: one thread reads it and writes over it.
TEST(PlannedKernelTest, RowNumbersInPlace) {
  std::string x = shape({9, 64}, "bf16"), t = shape({9}, "i32"), s = shape({9}, "f32");
  KernelOfText kernel({{s, x, t},
                       {s},
                       "%0, %1 = par.cross_entropy %b, %c {classes = 60} : (" + x + ", " + t + ") -> (" + s +
                           ", " + s + ")\n%2 = arith.addf %a, %0 : " + s + "\nrank.yield %2 : " + s});
  EXPECT_EQ(kernel->getPlan(), "row");
  kernel->check();
  expectSameInPlace(*kernel, 0);
}

KernelText layerNorm(int64_t rows, int64_t columns, const std::string &type) {
  std::string x = shape({2, rows, columns}, type), w = shape({columns}, type), s = shape({2, rows}, "f32");
  return {{x, x, w, w},
          {x, x, s, s},
          "%0 = arith.addf %a, %b : " + x + "\n%1, %2, %3 = par.layer_norm %0, %c, %d {eps = 1.0e-5} : (" +
              x + ", " + w + ", " + w + ") -> (" + x + ", " + s + ", " + s +
              ")\nrank.yield %0, %1, %2, %3 : " + x + ", " + x + ", " + s + ", " + s};
}

/// A residual, its norm and the norm's statistics in one pass.
TEST(PlannedKernelTest, NormsWithResidual) {
  for (auto [rows, columns] : {std::pair(3, 40), {5, 768}, {2, 1601}})
    for (const char *type : kTypes) {
      KernelOfText kernel(layerNorm(rows, columns, type));
      EXPECT_EQ(kernel->getPlan(), "row");
      kernel->check();
      if (columns == 768)
        for (int64_t operand : {0, 1, 4, 5})
          expectOnce(*kernel, 0, operand);
    }
}

KernelText layerNormBackward(int64_t rows, int64_t columns, const std::string &type) {
  std::string x = shape({rows, columns}, type), w = shape({columns}, "f32"), s = shape({rows}, "f32");
  return {{x, x, w, s, s, w},
          {x, w, w},
          "%0, %1, %2 = par.layer_norm_backward %a, %b, %c, %d, %e : (" + x + ", " + x + ", " + w + ", " + s +
              ", " + s + ") -> (" + x + ", " + w + ", " + w + ")\n%3 = arith.addf %f, %1 : " + w +
              "\nrank.yield %0, %3, %2 : " + x + ", " + w + ", " + w};
}

/// Rows once, and the sums over them, which go on from what was there. Of 4,400 rows a slice has 16, and a
/// block of warps has whole slices all the same.
TEST(PlannedKernelTest, NormsBackward) {
  for (auto [rows, columns] : {std::pair(5, 24), {300, 40}, {270, 7}, {1, 1600}, {12, 768}, {4400, 9}})
    for (const char *type : kTypes) {
      KernelOfText kernel(layerNormBackward(rows, columns, type));
      EXPECT_EQ(kernel->getPlan(), "row-column");
      kernel->check();
      if (columns == 768)
        for (int64_t operand : {0, 1, 6})
          expectOnce(*kernel, 0, operand);
    }
}

/// A block has several rows, with one sum each: warps may not be a row apart.
TEST(PlannedKernelTest, NormsBackwardOfManyRows) {
  std::string x = shape({258, 1200}, "f32"), w = shape({1200}, "f32"), s = shape({258}, "f32");
  KernelOfText kernel({{x, x, w, s},
                       {x, w},
                       "%0, %1 = par.rms_norm_backward %a, %b, %c, %d : (" + x + ", " + x + ", " + w + ", " +
                           s + ") -> (" + x + ", " + w + ")\nrank.yield %0, %1 : " + x + ", " + w});
  EXPECT_EQ(kernel->getPlan(), "row-column");
  kernel->check();
}

/// What is added to the gradient of a row, and in no sum, comes when the sums are there, and sums over rows
/// lie in shared memory: rows may be longer. A block has several of them where there are many.
TEST(PlannedKernelTest, NormsBackwardOfLongRows) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(3, 16384), {3, 16380}, {2, 14000}, {258, 8456}}) {
    std::string x = shape({rows, columns}, "bf16"), w = shape({columns}, "bf16"), s = shape({rows}, "f32"),
                dw = shape({columns}, "f32");
    KernelOfText kernel({{x, x, w, s, x},
                         {x, dw},
                         "%0, %1 = par.rms_norm_backward %a, %b, %c, %d : (" + x + ", " + x + ", " + w +
                             ", " + s + ") -> (" + x + ", " + dw + ")\n%2 = arith.addf %e, %0 : " + x +
                             "\nrank.yield %2, %1 : " + x + ", " + dw});
    EXPECT_EQ(kernel->getPlan(), "row-column");
    if (rows > 256) { // than groups: these take seconds
      kernel->checkValues(par_emulation_random);
      continue;
    }
    kernel->check();
    if (columns % 8 == 0)
      for (int64_t operand : {0, 1, 4, 5, 7})
        expectOnce(*kernel, 0, operand);
    expectSameInPlace(*kernel, 4);
  }
}

/// Two sums over rows of 16,384 elements take 128 KiB of shared memory.
TEST(PlannedKernelTest, LayerNormsBackwardOfLongRows) {
  KernelOfText kernel(layerNormBackward(2, 16384, "bf16"));
  EXPECT_EQ(kernel->getPlan(), "row-column");
  kernel->check();
}

//===----------------------------------------------------------------------===//
// Long rows
//===----------------------------------------------------------------------===//

KernelText crossEntropy(int64_t rows, int64_t columns, const std::string &type, int64_t classes) {
  std::string x = shape({rows, columns}, type), t = shape({rows}, "i32"), s = shape({rows}, "f32");
  return {{x, t},
          {s, s},
          "%0, %1 = par.cross_entropy %a, %b {classes = " + std::to_string(classes) + "} : (" + x + ", " + t +
              ") -> (" + s + ", " + s + ")\nrank.yield %0, %1 : " + s + ", " + s};
}

/// Maximum, sum of powers and the target's logit in one pass.
TEST(PlannedKernelTest, LongRowsInOnePass) {
  for (auto [rows, columns, classes] : {std::tuple(3, 33000, 33000), {2, 25001, 25000}, {2, 40000, 9}})
    for (const char *type : kTypes) {
      KernelOfText kernel(crossEntropy(rows, columns, type, classes));
      EXPECT_EQ(kernel->getPlan(), "long-row");
      kernel->check();
      if (columns % 8 == 0)
        expectOnce(*kernel, 0, 0);
    }
}

TEST(PlannedKernelTest, LongRowsThatAreWritten) {
  for (const char *type : kTypes) {
    KernelOfText kernel(softmax(2, 30011, type));
    EXPECT_EQ(kernel->getPlan(), "long-row");
    kernel->check();
  }
}

/// What a loss picks is read before another result lies over it.
TEST(PlannedKernelTest, LongRowsPickedFromWhatIsWrittenOver) {
  for (const char *type : kTypes) {
    KernelText text = crossEntropy(2, 30000, type, 30000);
    text.outs.insert(text.outs.begin(), text.ins[0]);
    std::string x = text.ins[0], s = text.outs[1];
    text.body = text.body.substr(0, text.body.find("rank.yield")) + "%2 = arith.addf %a, %a : " + x +
                "\nrank.yield %2, %0, %1 : " + x + ", " + s + ", " + s;
    KernelOfText kernel(text);
    EXPECT_EQ(kernel->getPlan(), "long-row");
    kernel->ins[1].values = {12345, 23456}; // which other threads write than the one that picks
    kernel->check();
    std::vector<Memory> apart = kernel->emulate(par_emulation_reverse),
                        same = kernel->emulate(par_emulation_reverse, 0);
    for (size_t out = 0; out < 3; ++out)
      EXPECT_EQ(same[out].bytes, apart[out].bytes) << out;
  }
}

/// Most threads find nothing but −∞, which is no number to subtract.
TEST(PlannedKernelTest, LongRowsOfPadding) {
  std::string x = shape({2, 30000}, "f32"), i = shape({2, 30000}, "i32"), b = shape({2, 30000}, "i1");
  KernelOfText kernel({{x},
                       {x},
                       "%i = par.iota dim 1 : " + i + "\n%n = arith.constant dense<9> : " + i +
                           "\n%v = arith.cmpi slt, %i, %n : " + i +
                           "\n%m = arith.constant dense<0xFF800000> : " + x +
                           "\n%s = arith.select %v, %a, %m : " + b + ", " + x +
                           "\n%0 = par.softmax %s : " + x + "\nrank.yield %0 : " + x});
  EXPECT_EQ(kernel->getPlan(), "long-row");
  kernel->check();
}

//===----------------------------------------------------------------------===//
// Columns and totals
//===----------------------------------------------------------------------===//

KernelText columnSum(int64_t rows, std::vector<int64_t> columns, const std::string &type) {
  std::vector<int64_t> sizes = columns;
  sizes.insert(sizes.begin(), rows);
  std::string x = shape(sizes, type), wide = shape(sizes, "f32"), y = shape(columns, "f32");
  std::string widened = type == "f32" ? "" : "%w = arith.extf %a : " + x + " to " + wide + "\n";
  return {{x, y},
          {y},
          widened + "%0 = par.reduce sum " + (type == "f32" ? "%a" : "%w") + " dims [0] : " + wide + " -> " +
              y + "\n%1 = arith.addf %b, %0 : " + y + "\nrank.yield %1 : " + y};
}

TEST(PlannedKernelTest, ColumnsOfFewRowsAndMany) {
  for (auto [rows, columns] : {std::pair(7, std::vector<int64_t>{3}),
                               {5, {40}},
                               {1, {300}},
                               {2051, {40}},
                               {700, {5, 24}},
                               {1030, {3, 7}}})
    for (const char *type : kTypes) {
      KernelOfText kernel(columnSum(rows, columns, type));
      EXPECT_EQ(kernel->getPlan(), "column");
      kernel->check();
      EXPECT_EQ(kernel->work.getScratch().size(), rows > 64 ? 1u : 0u);
      if (columns.back() % 8 == 0) // rows of 48 to 1200 bytes, of which each begins and ends within a sector
        expectOnce(*kernel, 0, 0, /*share=*/80);
    }
}

KernelText dot(int64_t rows, int64_t columns, const std::string &type) {
  std::string x = shape({rows, columns}, type);
  return {{x, "tensor<f32>"},
          {"tensor<f32>"},
          "%0 = par.einsum \"ab,ab->\"(%a, %a) : (" + x + ", " + x +
              ") -> tensor<f32>\n%1 = arith.addf %0, %b : tensor<f32>\nrank.yield %1 : tensor<f32>"};
}

TEST(PlannedKernelTest, TotalsOfSlices) {
  for (auto [rows, columns] : {std::pair(3, 5), {1, 1}, {200, 96}, {301, 77}})
    for (const char *type : kTypes) {
      KernelOfText kernel(dot(rows, columns, type));
      EXPECT_EQ(kernel->getPlan(), "total");
      kernel->check();
      if (columns % 8 == 0)
        expectOnce(*kernel, 0, 0);
    }
}

//===----------------------------------------------------------------------===//
// Lists of tensors
//===----------------------------------------------------------------------===//

/// The root of the sum of the products of tensors %a and %b, %c and %d, …, beside the first sum alone.
KernelText norm(const std::vector<std::string> &tensors) {
  KernelText text{tensors, {"tensor<f32>", "tensor<f32>"}, ""};
  std::string sum;
  for (size_t number = 0; number < tensors.size(); number += 2) {
    std::string dot = "%p" + std::to_string(number), next = "%s" + std::to_string(number);
    std::string left(1, char('a' + number)), right(1, char('a' + number + 1));
    text.body += dot + " = par.einsum \"xy,xy->\"(%" + left + ", %" + right + ") : (" + tensors[number] +
                 ", " + tensors[number + 1] + ") -> tensor<f32>\n";
    if (number > 0)
      text.body += next + " = arith.addf " + sum + ", " + dot + " : tensor<f32>\n";
    sum = number > 0 ? next : dot;
  }
  text.body += "%m = math.absf " + sum +
               " : tensor<f32>\n%r = math.sqrt %m : tensor<f32>\n"
               "rank.yield %r, " +
               sum + " : tensor<f32>, tensor<f32>";
  return text;
}

/// Tensors that the code of one loop is for, of other sizes and types, and of no whole accesses.
TEST(PlannedKernelTest, TotalsOfTensors) {
  std::string odd = shape({7, 33}, "f32"), even = shape({40, 96}, "f32"), narrow = shape({40, 96}, "bf16"),
              tiny = shape({1, 1}, "f32");
  for (bool isAligned : {true, false}) {
    KernelOfText kernel(norm({even, even, odd, odd, narrow, narrow, even, even, narrow, narrow, tiny, tiny}),
                        isAligned);
    EXPECT_EQ(kernel->getPlan(), "totals");
    kernel->check();
    for (int64_t operand : {0, 6, 7}) // in the order of the launch's operands, which are those of the kernel
      if (isAligned)
        expectOnce(*kernel, 0, operand);
  }
}

/// More slices than one.
TEST(PlannedKernelTest, TotalsOfTensorsOfManySlices) {
  std::string large = shape({300, 500}, "f32"), small = shape({3, 500}, "f32");
  KernelOfText kernel(norm({large, large, small, small}));
  EXPECT_EQ(kernel->getPlan(), "totals");
  kernel->check();
  expectOnce(*kernel, 0, 0);
}

/// A sum of anything else is no list.
TEST(PlannedKernelTest, TotalsThatAreNotAddedUp) {
  std::string x = shape({4, 8}, "f32");
  KernelOfText kernel({{x, x},
                       {"tensor<f32>"},
                       "%0 = par.einsum \"xy,xy->\"(%a, %a) : (" + x + ", " + x + ") -> tensor<f32>\n" +
                           "%1 = par.einsum \"xy,xy->\"(%b, %b) : (" + x + ", " + x + ") -> tensor<f32>\n" +
                           "%2 = arith.mulf %0, %1 : tensor<f32>\nrank.yield %2 : tensor<f32>"});
  EXPECT_EQ(kernel->getPlan(), "generic");
  kernel->check();
}

/// Updates of tensors of several shapes, of which one is that of another's rows.
TEST(PlannedKernelTest, UpdatesOfTensors) {
  std::string scalars;
  KernelText text{{}, {}, ""};
  std::string yields, types;
  for (std::string type : {shape({16, 24}, "f32"), shape({16}, "f32"), shape({16, 24}, "f32")}) {
    size_t first = text.ins.size(), number = text.outs.size();
    auto in = [&](size_t offset) { return std::string("%") + char('a' + first + offset); };
    text.ins.insert(text.ins.end(), 2, type);
    text.outs.push_back(type);
    std::string out = "%r" + std::to_string(number);
    text.body += out + " = arith.mulf " + in(0) + ", " + in(1) + " : " + type + "\n";
    yields += (number ? ", " : "") + out;
    types += (number ? ", " : "") + type;
  }
  text.body += "rank.yield " + yields + " : " + types;
  KernelOfText kernel(text);
  EXPECT_EQ(kernel->getPlan(), "elementwise");
  kernel->check();
  for (int64_t operand = 0; operand < 9; ++operand)
    expectOnce(*kernel, 0, operand);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Rows of odd sizes with a number each, numbers of columns, and results that lie where an input does.
TEST(PlannedKernelTest, ElementsOfRowsThatBeginAnywhere) {
  for (auto [rows, columns] : {std::pair(16, 33), {8, 1001}, {4, 9}})
    for (const char *type : kTypes) {
      std::string x = shape({2, rows, columns}, type), r = shape({2, rows}, type), c = shape({columns}, type);
      KernelOfText kernel({{x, r, c, x},
                           {x, x},
                           "%r = par.expand %b dims [2] : " + r + " -> " + x +
                               "\n%c2 = par.expand %c dims [0, 1] : " + c + " -> " + x +
                               "\n%0 = arith.mulf %a, %r : " + x + "\n%1 = arith.addf %0, %c2 : " + x +
                               "\n%2 = arith.subf %1, %d : " + x + "\nrank.yield %2, %1 : " + x + ", " + x});
      EXPECT_EQ(kernel->getPlan(), "flat");
      kernel->check();
      for (int64_t operand : {0, 3, 4, 5})
        expectOnce(*kernel, 0, operand);
      expectSameInPlace(*kernel, 0);
    }
}

/// Dimensions change places, as of a table that is gathered along its rows. Rows of whole sectors are fetched
/// once; others compute the same.
TEST(PlannedKernelTest, TilesWhoseRowsWereColumns) {
  for (auto [rows, columns] : {std::pair(64, 48), {16, 16}, {80, 272}, {8, 8}, {104, 24}, {72, 264}})
    for (const char *type : kTypes) {
      std::string x = shape({rows, columns}, type), y = shape({columns, rows}, type);
      KernelOfText kernel(
          {{x}, {y}, "%0 = par.transpose %a [1, 0] : " + x + " -> " + y + "\nrank.yield %0 : " + y});
      EXPECT_EQ(kernel->getPlan(), "tile");
      kernel->check();
      for (int64_t operand = 0; operand < 2 && rows % 16 == 0 && columns % 16 == 0; ++operand)
        expectOnce(*kernel, 0, operand);
    }
}

/// Tensors in either order, numbers of both dimensions, and results that lie where an input does.
TEST(PlannedKernelTest, TilesOfSeveralTensors) {
  for (const char *type : kTypes) {
    std::string x = shape({16, 3, 32}, type), y = shape({32, 3, 16}, type), r = shape({32}, type),
                c = shape({16}, type);
    KernelOfText kernel({{x, y, r, c},
                         {y, y},
                         "%t = par.transpose %a [2, 1, 0] : " + x + " -> " + y +
                             "\n%r2 = par.expand %c dims [1, 2] : " + r + " -> " + y +
                             "\n%c2 = par.expand %d dims [0, 1] : " + c + " -> " + y +
                             "\n%0 = arith.mulf %t, %r2 : " + y + "\n%1 = arith.addf %0, %c2 : " + y +
                             "\n%2 = arith.subf %1, %b : " + y + "\nrank.yield %2, %1 : " + y + ", " + y});
    EXPECT_EQ(kernel->getPlan(), "tile");
    kernel->check();
    for (int64_t operand : {0, 1, 4, 5})
      expectOnce(*kernel, 0, operand);
    expectSameInPlace(*kernel, 1);
  }
}

/// Of rows that are no whole accesses, and of several dimensions at once, elements come one at a time.
TEST(PlannedKernelTest, OtherChangesOfPlacesAreGeneric) {
  std::string x = shape({16, 13}, "f32"), y = shape({13, 16}, "f32");
  KernelOfText odd({{x}, {y}, "%0 = par.transpose %a [1, 0] : " + x + " -> " + y + "\nrank.yield %0 : " + y});
  EXPECT_EQ(odd->getPlan(), "generic");
  odd->check();
  std::string z = shape({8, 8, 8}, "f32");
  KernelOfText several({{z, z},
                        {z},
                        "%0 = par.transpose %a [2, 1, 0] : " + z + " -> " + z +
                            "\n%1 = par.transpose %b [0, 2, 1] : " + z + " -> " + z +
                            "\n%2 = arith.addf %0, %1 : " + z + "\nrank.yield %2 : " + z});
  EXPECT_EQ(several->getPlan(), "generic");
  several->check();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Rows of a table, zeros for ids that it has no row for.
TEST(PlannedKernelTest, GatherOfRows) {
  for (const char *type : kTypes) {
    std::string i = shape({3, 11}, "i32"), table = shape({6, 40}, type), y = shape({3, 11, 40}, type);
    KernelOfText kernel(
        {{i, table},
         {y},
         "%0 = par.embedding %a, %b : (" + i + ", " + table + ") -> " + y + "\nrank.yield %0 : " + y});
    EXPECT_EQ(kernel->getPlan(), "gather");
    kernel->check();
    expectOnce(*kernel, 0, 2);
    EXPECT_EQ(kernel->getMoved(0, 1).size(), 1u);
    EXPECT_EQ(kernel->getMoved(0, 1).begin()->first, 16u);
  }
}

/// Halves of rows change places, as rotary's do.
TEST(PlannedKernelTest, GatherOfPieces) {
  for (const char *type : kTypes) {
    std::string x = shape({5, 3, 48}, type), half = shape({3, 5, 24}, type), y = shape({3, 5, 48}, type);
    KernelOfText kernel({{x},
                         {y},
                         "%t = par.transpose %a [1, 0, 2] : " + x + " -> " + y +
                             "\n%l = par.slice %t from [0, 0, 0] : " + y + " -> " + half +
                             "\n%r = par.slice %t from [0, 0, 24] : " + y + " -> " + half +
                             "\n%n = arith.negf %r : " + half + "\n%0 = par.concat %n, %l dim 2 : (" + half +
                             ", " + half + ") -> " + y + "\nrank.yield %0 : " + y});
    EXPECT_EQ(kernel->getPlan(), "gather");
    kernel->check();
    for (int64_t operand : {0, 1}) // pieces of 48 bytes where it is bf16: a sector and a half
      expectOnce(*kernel, 0, operand, /*share=*/70);
  }
}

/// Both halves of a head at once, also where they are rounded.
TEST(PlannedKernelTest, RotationInOnePass) {
  for (const char *type : kTypes) {
    std::string x = shape({2, 5, 3, 64}, type), t = shape({5, 32}, "f32");
    KernelOfText kernel({{x, t, t},
                         {x},
                         "%0 = par.rotate %a, %b, %c : (" + x + ", " + t + ", " + t + ") -> " + x +
                             "\nrank.yield %0 : " + x});
    EXPECT_EQ(kernel->getPlan(), "gather");
    kernel->check();
    for (int64_t operand : {0, 3})
      expectOnce(*kernel, 0, operand);
  }
}

/// A step that is cut by the end of a piece is no step.
TEST(PlannedKernelTest, PiecesOfNoWholeAccess) {
  std::string x = shape({5, 48}, "f32"), y = shape({5, 32}, "f32");
  KernelOfText kernel(
      {{x}, {y}, "%0 = par.slice %a from [0, 3] : " + x + " -> " + y + "\nrank.yield %0 : " + y});
  EXPECT_EQ(kernel->getPlan(), "generic");
  kernel->check();
}

/// Added to a table, or to one times a scalar.
KernelText scatter(std::vector<int64_t> ids, int64_t rows, int64_t columns, const std::string &type,
                   bool isScaled = false) {
  std::vector<int64_t> sizes = ids;
  sizes.push_back(columns);
  std::string i = shape(ids, "i32"), dy = shape(sizes, type), wide = shape(sizes, "f32"),
              table = shape({rows, columns}, "f32");
  std::string widened = type == "f32" ? "" : "%w = arith.extf %c : " + dy + " to " + wide + "\n";
  std::string scaled = "%e = par.expand %d dims [0, 1] : tensor<f32> -> " + table +
                       "\n%s = arith.mulf %e, %a : " + table + "\n";
  KernelText text{{table, i, dy},
                  {table},
                  widened + (isScaled ? scaled : "") + "%0 = par.embedding_backward %b, " +
                      (type == "f32" ? "%c" : "%w") + " : (" + i + ", " + wide + ") -> " + table +
                      "\n%1 = arith.addf " + (isScaled ? "%s" : "%a") + ", %0 : " + table +
                      "\nrank.yield %1 : " + table};
  if (isScaled)
    text.ins.push_back("tensor<f32>");
  return text;
}

/// Ids come again, within 32 of them and far behind; of some the table has no row. Its rows are read and
/// written once where ids are many, and no more of it where it lies in place.
TEST(PlannedKernelTest, ScatterInTheOrderOfIds) {
  for (auto [ids, rows, columns] :
       {std::tuple(std::vector<int64_t>{3, 11}, 9, 40), {{101}, 6, 7}, {{1}, 8, 1}, {{2, 4, 40}, 8, 1200}})
    for (const char *type : kTypes) {
      KernelOfText kernel(scatter(ids, rows, columns, type));
      EXPECT_EQ(kernel->getPlan(), "fill");
      kernel->check();
      expectSameInPlace(*kernel, 0);
      for (int64_t operand : {0, 3}) // the fill touches nothing
        EXPECT_TRUE(kernel->getMoved(0, operand).empty());
      if (columns == 1200)
        expectOnce(*kernel, 1, 2);
    }
}

/// A gradient of no micro-batch before: what is times zero is not read, though the table is written.
TEST(PlannedKernelTest, ScatterIntoWhatIsScaled) {
  for (const char *type : kTypes)
    for (double scale : {0.0, 1.0, 0.5}) {
      KernelOfText kernel(scatter({3, 11}, 9, 40, type, /*isScaled=*/true));
      kernel->ins[3].values = {scale};
      kernel->check();
      EXPECT_EQ(kernel->getMoved(0, 0).empty(), scale == 0);
      EXPECT_FALSE(kernel->getMoved(0, 4).empty());
      kernel->emulate(par_emulation_random, 0);
      EXPECT_EQ(kernel->getMoved(0, 0).empty() && kernel->getMoved(0, 4).empty(), scale == 1);
    }
}
} // namespace
