//===- FoldedTrafficTest.cpp - rows of what ranks send --------------------------------------------------===//
#include "par/Emit/FoldedTraffic.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir::par;
namespace json = llvm::json;

namespace {
json::Value entry(llvm::StringRef cause, int64_t bytes, int64_t count, int64_t stage = 0,
                  llvm::StringRef axis = "dp") {
  return json::Object{{"kind", "all_gather"}, {"axes", json::Array{axis.str()}},
                      {"bytes", bytes},       {"count", count},
                      {"cause", cause.str()}, {"stage", stage}};
}

/// Rows as "stage axes: cause, layers, bytes, calls".
std::vector<std::string> print(const std::vector<TrafficRow> &rows) {
  std::vector<std::string> lines;
  for (const TrafficRow &row : rows)
    lines.push_back(std::to_string(row.stage) + " " + row.axes + ": " + row.cause + ", " +
                    std::to_string(row.layers) + ", " + std::to_string(row.bytes) + ", " +
                    std::to_string(row.calls));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(FoldedTrafficTest, LayersThatSendTheSameAreOneRow) {
  json::Array traffic{entry("@h.0.w", 8, 1), entry("@h.1.w", 4, 1), entry("@h.1.w", 4, 1),
                      entry("@h.2.w", 8, 2), entry("@h.3.w", 8, 2), entry("@head.w", 8, 2)};
  EXPECT_EQ(print(foldTraffic(traffic, true)),
            (Lines{"0 dp: @h.*.w, 3, 24, 6", "0 dp: @h.0.w, 0, 8, 1", "0 dp: @head.w, 0, 8, 2"}));
  EXPECT_EQ(print(foldTraffic(traffic, false)), (Lines{"0 dp: , 0, 40, 9"}));
}

/// Of a function that `layers` share.
json::Value shared(llvm::StringRef cause, int64_t bytes, int64_t count, const std::set<int64_t> &layers,
                   int64_t stage = 0) {
  json::Value value = entry(cause, bytes, count, stage);
  (*value.getAsObject())["layers"] = json::Array(layers);
  return value;
}

TEST(FoldedTrafficTest, LayersOfASharedFunctionAreCountedOnce) {
  json::Array traffic{shared("@h.*.w", 24, 3, {0, 1, 2}), // forward, and again in the backward pass
                      shared("@h.*.w", 24, 3, {0, 1, 2}),
                      shared("@h.*.w", 8, 2, {3, 4}), // another kind of layer
                      shared("par.constrain", 6, 2, {0, 1}), entry("par.constrain", 3, 1)};
  EXPECT_EQ(
      print(foldTraffic(traffic, true)),
      (Lines{"0 dp: @h.*.w, 5, 56, 8", "0 dp: par.constrain, 2, 6, 2", "0 dp: par.constrain, 0, 3, 1"}));
  EXPECT_EQ(print(foldTraffic(traffic, false)), (Lines{"0 dp: , 0, 65, 11"}));
}

TEST(FoldedTrafficTest, AStageOfOneLayerSaysTheSameAsOneOfSeveral) {
  json::Array traffic{entry("@h.0.w", 8, 1), shared("@h.*.w", 16, 2, {1, 2}, 1)};
  EXPECT_EQ(print(takeLargestStages(foldTraffic(traffic, true))), (Lines{"1 dp: @h.*.w, 2, 16, 2"}));
}

TEST(FoldedTrafficTest, AxesAndStagesStayApart) {
  json::Array traffic{entry("@h.0.w", 8, 1), entry("@h.1.w", 8, 1, 1), entry("@h.2.w", 8, 1, 1),
                      entry("@h.3.w", 8, 1, 0, "tp")};
  EXPECT_EQ(print(foldTraffic(traffic, true)),
            (Lines{"1 dp: @h.*.w, 2, 16, 2", "0 dp: @h.0.w, 0, 8, 1", "0 tp: @h.3.w, 0, 8, 1"}));
  EXPECT_EQ(print(takeLargestStages(foldTraffic(traffic, false))),
            (Lines{"1 dp: , 0, 16, 2", "0 tp: , 0, 8, 1"}));
}

TEST(FoldedTrafficTest, AllRowsOfTheLargestStage) {
  json::Array traffic; // layers of two sizes on each of two stages
  for (int64_t layer = 0; layer < 8; ++layer)
    traffic.push_back(
        entry("@h." + std::to_string(layer) + ".w", layer % 4 < 2 ? 8 : 16 + layer, 1, layer / 4));
  for (int64_t layer = 8; layer < 10; ++layer)
    traffic.push_back(entry("@h." + std::to_string(layer) + ".w", 100, 1, 1));
  std::vector<TrafficRow> rows = takeLargestStages(foldTraffic(traffic, true));
  EXPECT_EQ(print(rows)[0], "1 dp: @h.*.w, 2, 200, 2");
  EXPECT_EQ(print(rows).back(), "1 dp: @h.*.w, 2, 16, 2");
}
} // namespace
