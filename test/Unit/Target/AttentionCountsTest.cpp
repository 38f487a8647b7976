//===- AttentionCountsTest.cpp - what caps, sinks and documents cost a GPU, by counts -------------===//
// PAR_ATTENTION_ROWS=1024 prints a table: instructions, those that take a matrix unit or a function unit, and
// bytes of memory, of each pair of a query and a key that see each other, and its share of the same without.
#include "AttentionTables.h"
#include "llvm/Support/Format.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::par;

namespace {
/// The cost of a pair in lanes, as all threads execute it.
struct PairCost {
  double instructions = 0, matrices = 0, functions = 0, accesses = 0, bytes = 0;

  /// Cycles of a quarter of an A100's multiprocessor for a warp: it issues an instruction in each, and takes
  /// 8 for a product of 16 x 8 x 16 or for a function of 32 lanes.
  double countCycles() const { return std::max({instructions, 8 * matrices, 8 * functions}); }
};

struct Workload {
  std::string name;
  AttentionShape shape;
  AttentionTables tables;
  int64_t documentRows; ///< of each document, or of a sequence without them
};

/// Measures one head, whose pairs are those of a causal mask.
PairCost measure(const Workload &work, const char *type, bool isBackward) {
  AttentionText text(work.shape, type);
  KernelOfText kernel(isBackward ? text.backward() : text.forward(), /*isAligned=*/true,
                      KernelOfText::makeRegistry(), /*counts=*/true);
  setInputs(*kernel, text, work.tables);
  kernel->checkValues(par_emulation_forward);
  EmulatedCounts counts = kernel.getCounts();
  auto rows = static_cast<double>(work.documentRows);
  auto all = static_cast<double>(work.shape.qRows * work.shape.batch * work.shape.group);
  double pairs = all / rows * rows * (rows + 1) / 2;
  uint64_t bytes = 0;
  for (size_t launch = 0; launch < kernel->countLaunches(); ++launch)
    for (int64_t operand : kernel->getOperands(launch))
      for (auto [width, moved] : kernel->getMoved(launch, operand))
        bytes += moved;
  auto perPair = [&](uint64_t count) { return static_cast<double>(count) / pairs; };
  return {perPair(counts.instructions), perPair(counts.matrices), perPair(counts.functions),
          perPair(counts.accesses), perPair(bytes)};
}

AttentionTables asOne() { return packDocuments(int64_t(1) << 31); }

Workload makeWork(const std::string &name, int64_t rows, int64_t headDim) {
  Workload work{name, {}, {asOne().qPositions, asOne().kPositions}, rows};
  work.shape.qRows = work.shape.kRows = rows;
  work.shape.headDim = headDim;
  work.shape.scale = "0.1";
  return work;
}

/// The first one is what others are compared with.
std::vector<Workload> listWorkloads(int64_t rows, int64_t headDim, bool isBackward) {
  std::vector<Workload> works{makeWork("plain", rows, headDim)};
  works.push_back(makeWork("cap", rows, headDim));
  works.back().shape.cap = 50;
  if (!isBackward) {
    works.push_back(makeWork("sinks", rows, headDim));
    works.back().shape.sinks = "f32";
  }
  works.push_back(makeWork("one document", rows, headDim));
  works.back().shape.documents = true;
  works.back().tables = asOne();
  return works;
}

/// Many documents in a sequence against as many sequences.
std::pair<Workload, Workload> listDocuments(int64_t rows, int64_t headDim) {
  int64_t each = std::max<int64_t>(64, rows / 4);
  Workload apart = makeWork("sequences", rows, headDim), packed = apart;
  packed.name = "documents";
  apart.shape.qRows = apart.shape.kRows = apart.documentRows = packed.documentRows = each;
  apart.shape.batch = rows / each;
  packed.shape.documents = true;
  packed.tables = packDocuments(each);
  return {apart, packed};
}

void print(const std::string &name, const char *type, int64_t headDim, bool isBackward, const PairCost &cost,
           const PairCost &plain) {
  llvm::outs() << llvm::format("%-14s %-5s %4d %-9s", name.c_str(), type, static_cast<int>(headDim),
                               isBackward ? "backward" : "forward")
               << llvm::format("%9.2f %8.3f %8.3f %8.3f %9.3f", cost.instructions, cost.matrices,
                               cost.functions, cost.accesses, cost.bytes)
               << llvm::format("   instructions %3.0f %%  bytes %3.0f %%  cycles %3.0f %%\n",
                               100 * plain.instructions / cost.instructions, 100 * plain.bytes / cost.bytes,
                               100 * plain.countCycles() / cost.countCycles());
  llvm::outs().flush();
}

TEST(AttentionCountsTest, Table) {
  const char *given = std::getenv("PAR_ATTENTION_ROWS");
  if (!given)
    GTEST_SKIP() << "PAR_ATTENTION_ROWS is not set";
  int64_t rows = std::atoll(given);
  for (const char *type : {"bf16", "f32"})
    for (int64_t headDim : {64, 128, 256})
      for (bool isBackward : {false, true}) {
        PairCost plain;
        for (const Workload &work : listWorkloads(rows, headDim, isBackward)) {
          PairCost cost = measure(work, type, isBackward);
          if (work.name == "plain")
            plain = cost;
          print(work.name, type, headDim, isBackward, cost, plain);
        }
        auto [apart, packed] = listDocuments(rows, headDim);
        PairCost ofApart = measure(apart, type, isBackward);
        print(apart.name, type, headDim, isBackward, ofApart, ofApart);
        print(packed.name, type, headDim, isBackward, measure(packed, type, isBackward), ofApart);
      }
}

/// Heads of 64 have the least to hide them behind. The pass is the forward one, in few tiles.
TEST(AttentionCountsTest, CapsAndDocumentsAreCheap) {
  PairCost plain;
  for (const Workload &work : listWorkloads(256, 64, /*isBackward=*/false)) {
    SCOPED_TRACE(work.name);
    PairCost cost = measure(work, "bf16", /*isBackward=*/false);
    if (work.name == "plain")
      plain = cost;
    EXPECT_LE(0.85 * cost.instructions, plain.instructions);
    EXPECT_LE(0.85 * cost.bytes, plain.bytes);
  }
}
} // namespace
