// Which units multiply bf16 numbers, and that ranks agree on it.
#include "core/Bf16Choice.h"
#include "UnitsEmulator.h"
#include "core/Agreement.h"
#include "core/Error.h"
#include "cpu/DotRate.h"

#include <gtest/gtest.h>

using namespace par::rt;
using par::cpu::Bf16Units;
using par::cpu::quickerUnits;

namespace {

struct Bf16Choice : testing::Test {
  RunOptions options;
  Manifest manifest;
  par::test::WithBf16Units restored{Bf16Units::none};

  Bf16Choice() { manifest.path = "m.par/manifest.json", manifest.dtype = "bf16", manifest.target = "cpu"; }
  std::string problem() {
    try {
      chooseBf16Units(options, manifest);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
};

} // namespace

TEST_F(Bf16Choice, IsTheProcessorsUnlessTold) {
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(bf16UnitsOf(manifest), nameOf(par::cpu::fastestBf16Units()));
  options.bf16Units = Bf16Units::none;
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(bf16UnitsOf(manifest), "none");
}

// Emerald Rapids without AMX computes a dot product of pairs in the time of four f32 multiplications.
TEST(QuickerUnits, AreDotProductsOnlyWhereTheyAreQuick) {
  EXPECT_EQ(quickerUnits(Bf16Units::dot, 0.25), Bf16Units::none);
  EXPECT_EQ(quickerUnits(Bf16Units::dot, 0.5), Bf16Units::none);
  EXPECT_EQ(quickerUnits(Bf16Units::dot, 1), Bf16Units::dot);
  EXPECT_EQ(quickerUnits(Bf16Units::tiles, 0.25), Bf16Units::tiles);
  EXPECT_EQ(quickerUnits(Bf16Units::none, 1), Bf16Units::none);
}

// Every process of a run measures for itself, and all must choose alike.
TEST(QuickerUnits, AreTheSameAtEveryMeasurement) {
  if (par::cpu::supportedBf16Units() == Bf16Units::none)
    GTEST_SKIP() << "this processor has no dot products";
  double first = par::cpu::dotsPerMultiplication();
  EXPECT_GT(first, 0.1);
  EXPECT_LT(first, 2.5);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(quickerUnits(Bf16Units::dot, par::cpu::dotsPerMultiplication()),
              quickerUnits(Bf16Units::dot, first));
}

TEST(Bf16Reason, SaysWhatTheProcessorHasBeside) {
  EXPECT_EQ(reasonFor(Bf16Units::tiles, Bf16Units::tiles), "the most that this processor has");
  EXPECT_EQ(reasonFor(Bf16Units::none, Bf16Units::none), "the most that this processor has");
  EXPECT_EQ(reasonFor(Bf16Units::none, Bf16Units::dot), "which is faster here than dot");
}

TEST_F(Bf16Choice, IsRefusedWhereNothingIsBf16) {
  options.bf16Units = Bf16Units::none;
  manifest.dtype = "f32";
  EXPECT_EQ(problem(),
            "--bf16-units is about products of bf16 numbers on CPUs, of which m.par/manifest.json has "
            "none (its numbers are f32, its target is cpu); leave the flag out");
  EXPECT_EQ(bf16UnitsOf(manifest), "");
}

TEST_F(Bf16Choice, NamesWhatTheProcessorHas) {
  Bf16Units supported = par::cpu::supportedBf16Units();
  if (supported == Bf16Units::tiles)
    GTEST_SKIP() << "this processor has all units";
  options.bf16Units = Bf16Units::tiles;
  std::string has = supported == Bf16Units::none ? "has no units for bf16" : "has at most dot";
  EXPECT_EQ(problem(), "--bf16-units tiles: this processor, or its operating system, " + has +
                           "; give --bf16-units " + nameOf(supported) + ", or leave the flag out");
}

// Two machines, one of which has AMX.
TEST_F(Bf16Choice, RanksMustHaveItAlike) {
  Loaded loaded;
  loaded.manifest = manifest;
  options.data.sources = {"random"};
  ASSERT_TRUE(loaded.data.open(options.data, 4, 10, 0).ok());
  std::vector<std::string> first = agreedValues(options, loaded);
  par::cpu::useBf16Units(Bf16Units::dot);
  EXPECT_EQ(
      disagreement(first, agreedValues(options, loaded), "rank 0", "rank 1"),
      "--bf16-units: rank 1 has dot, rank 0 has none; give all processes the one that every processor has");
}
