//===- PipelineTest.cpp - the stages of a pipeline compute what one device does -------------------------===//
// PAR_PROPERTY_SEED=n runs the one random graph n and prints it; PAR_PROPERTY_CASES=n the graphs 0 … n-1.
#include "RandomGraph.h"
#include "TestContext.h"
#include "TrainingCase.h"
#include "mlir/Parser/Parser.h"
#include "par/Schedule/Schedule.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

namespace {

/// What a seed draws.
struct Pipeline {
  StringRef schedule;
  int64_t stages, microBatches;
  bool isSplit;

  explicit Pipeline(uint64_t seed)
      : schedule(getScheduleNames()[seed % getScheduleNames().size()]), stages(2 + int64_t(seed / 8 % 2)),
        microBatches(schedule == "interleaved-1f1b" ? stages : 1 + int64_t(seed / 3 % 4)),
        isSplit(schedule.starts_with("zb") || schedule == "dualpipe-v" || seed % 5 == 0) {}

  std::string getCut() const {
    return ("par-cut-pipeline{stages=" + Twine(stages) + " chunks=" + Twine(getUsualChunks(schedule)) +
            " schedule=" + schedule + " micro-batches=" + Twine(microBatches) + "},")
        .str();
  }
};

class PipelineTest : public ::testing::Test {
protected:
  enum class Verdict { Equal, TooSmall, Wrong };

  /// `difference` says what is wrong.
  Verdict check(const std::string &text, uint64_t seed, std::string &difference) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    Pipeline pipeline(seed);
    TrainingCase test(context, std::move(module), seed, pipeline.microBatches);
    std::optional<Outcome> one = test.run(differentiatePipeline);
    if (!one) {
      difference = test.error;
      return Verdict::Wrong;
    }
    std::string options = std::string(pipeline.isSplit ? "split=true " : "") +
                          (seed % 7 == 0 ? "hold-gathered=true " : "") +
                          (seed % 4 == 1 ? "recompute=full" : "recompute=none");
    std::string partition = getPartitionPipeline(options, /*sequenceParallel=*/false);
    partition.insert(partition.find("par-differentiate"), pipeline.getCut());
    std::optional<Outcome> all = test.run(partition);
    if (!all && StringRef(test.error).contains("chunks need as many units"))
      return Verdict::TooSmall;
    difference = all ? compareOutcomes(*one, *all, 1e-10) : test.error;
    if (!difference.empty()) {
      difference = "graph: " + difference;
      return Verdict::Wrong;
    }
    std::string lower = getLowerPipeline(partition, pipeline.microBatches, 1 << 20);
    lower.insert(lower.rfind("largest-value"), ("schedule=" + pipeline.schedule + " ").str());
    std::optional<Outcome> lowered = test.run(lower);
    difference = lowered ? compareOutcomes(*one, *lowered, 1e-10) : test.error;
    if (!difference.empty())
      difference = "rank program: " + difference;
    return difference.empty() ? Verdict::Equal : Verdict::Wrong;
  }

  TestContext context;
};

TEST_F(PipelineTest, randomGraphs) {
  if (const char *seed = std::getenv("PAR_PROPERTY_SEED")) {
    uint64_t number = std::strtoull(seed, nullptr, 10);
    std::string text = writeRandomGraph(number), difference;
    llvm::outs() << text; // first, should a pass crash
    llvm::outs().flush();
    check(text, number, difference);
    EXPECT_EQ(difference, "");
    return;
  }
  const char *count = std::getenv("PAR_PROPERTY_CASES");
  uint64_t cases = count ? std::strtoull(count, nullptr, 10) : 120;
  unsigned equal = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    std::string difference;
    equal += check(writeRandomGraph(seed), seed, difference) == Verdict::Equal;
    EXPECT_EQ(difference, "") << "PAR_PROPERTY_SEED=" << seed;
  }
  // Stages that have nothing but empty memory beside their state.
  for (uint64_t seed : {440, 460}) {
    std::string difference;
    check(writeRandomGraph(seed), seed, difference);
    EXPECT_EQ(difference, "") << "PAR_PROPERTY_SEED=" << seed;
  }
  // Some graphs have fewer ops than chunks.
  EXPECT_GT(equal, cases * 3 / 4);
}

} // namespace
