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
#include <tuple>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

namespace {

/// What a seed draws.
struct Pipeline {
  std::string schedule;
  int64_t stages, chunks, microBatches;
  bool isSplit, startsCollectives, cutsEarly;

  explicit Pipeline(uint64_t seed)
      : schedule(drawSchedule(seed)), stages(2 + int64_t(seed / 8 % 2)),
        chunks(getUsualChunks(schedule) + (takesAnyChunks() ? int64_t(seed / 16 % 2) : 0)),
        microBatches(schedule == "interleaved-1f1b" ? stages * (1 + int64_t(seed / 64 % 2))
                                                    : 1 + int64_t(seed / 3 % 4)),
        isSplit(StringRef(schedule).starts_with("zb") || schedule == "dualpipe-v" ||
                schedule == kAutoSchedule || seed % 5 == 0),
        startsCollectives(seed % 3 == 2), cutsEarly(seed % 6 == 1) {}

  static std::string drawSchedule(uint64_t seed) {
    size_t names = getScheduleNames().size();
    return seed % (names + 1) == names ? std::string(kAutoSchedule)
                                       : getScheduleNames()[seed % (names + 1)].str();
  }

  bool takesAnyChunks() const { return schedule == "interleaved-1f1b" || schedule == kAutoSchedule; }

  /// Early cuts: every chunk but the last has one unit.
  std::string getCut() const {
    std::string cuts;
    for (int64_t chunk = 1; cutsEarly && chunk < stages * chunks; ++chunk)
      cuts += (cuts.empty() ? " cuts=" : ",") + std::to_string(chunk);
    return "par-cut-pipeline{stages=" + std::to_string(stages) + " chunks=" + std::to_string(chunks) +
           " schedule=" + schedule + " micro-batches=" + std::to_string(microBatches) + cuts + "},";
  }
};

class PipelineTest : public ::testing::Test {
protected:
  enum class Verdict { Equal, TooSmall, Wrong };

  /// `difference` says what is wrong.
  Verdict check(const std::string &text, uint64_t seed, std::string &difference) {
    return check(text, seed, Pipeline(seed), difference);
  }

  Verdict check(const std::string &text, uint64_t seed, const Pipeline &pipeline, std::string &difference) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    TrainingCase test(context, std::move(module), seed, pipeline.microBatches);
    std::optional<Outcome> one = test.run(differentiatePipeline);
    if (!one) {
      difference = test.error;
      return Verdict::Wrong;
    }
    std::string options = std::string(pipeline.isSplit ? "split=true " : "") +
                          (seed % 7 == 0 ? "hold-gathered=true " : "") +
                          (seed % 4 == 1 ? "recompute=full" : "recompute=none");
    constexpr int64_t largestValue = 1 << 20;
    std::string partition =
        getPartitionPipeline(options, /*sequenceParallel=*/seed % 10 == 3, pipeline.schedule, largestValue);
    partition.insert(partition.find("par-differentiate"), pipeline.getCut());
    std::optional<Outcome> all = test.run(partition);
    if (!all && (StringRef(test.error).contains("chunks need as many units") ||
                 (pipeline.cutsEarly && StringRef(test.error).contains("is no unit behind"))))
      return Verdict::TooSmall;
    difference = all ? compareOutcomes(*one, *all, 1e-10) : test.error;
    if (!difference.empty()) {
      difference = "graph: " + difference;
      return Verdict::Wrong;
    }
    if (pipeline.startsCollectives)
      partition = getOverlapPipeline(partition, pipeline.microBatches, seed);
    std::string lower = getLowerPipeline(partition, pipeline.microBatches, largestValue);
    lower.insert(lower.rfind("largest-value"), "schedule=" + pipeline.schedule + " ");
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
  for (auto [seed, schedule, microBatches] : {std::tuple{440, "gpipe", 3}, {460, "zb-h2", 2}}) {
    Pipeline pipeline(seed);
    pipeline.schedule = schedule;
    pipeline.stages = 3, pipeline.chunks = 1, pipeline.microBatches = microBatches;
    pipeline.isSplit = true, pipeline.startsCollectives = pipeline.cutsEarly = false;
    std::string difference;
    check(writeRandomGraph(seed), seed, pipeline, difference);
    EXPECT_EQ(difference, "") << "graph " << seed;
  }
  // Some graphs have fewer ops than chunks.
  EXPECT_GT(equal, cases * 3 / 4);
}

} // namespace
