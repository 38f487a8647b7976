//===- StageKindsTest.cpp - stages of a pipeline that are alike -----------------------------------------===//
#include "par/Emit/StageKinds.h"
#include <gtest/gtest.h>

using namespace mlir::par;
namespace json = llvm::json;

namespace {

std::vector<std::string> print(const std::vector<StageKind> &kinds) {
  std::vector<std::string> texts;
  for (const StageKind &kind : kinds)
    texts.push_back(kind.print());
  return texts;
}

json::Object makeStage(int64_t activations, int64_t peak, int64_t host) {
  return json::Object{{"program", 0},
                      {"arena_bytes", json::Object{{"activations", activations}}},
                      {"peak_bytes", peak},
                      {"host_peak_bytes", host}};
}

// Stages of a kind need not be neighbours.
TEST(StageKinds, NumbersAreRanges) {
  auto isLike = [](int64_t one, int64_t other) { return (one % 5 == 1) == (other % 5 == 1); };
  EXPECT_EQ(print(groupStages(8, isLike)), (std::vector<std::string>{"0, 2-5, 7", "1, 6"}));
}

// The sizes of every category, of the whole and of the host's memory count; nothing else does.
TEST(StageKinds, WhatIsHeldMakesAKind) {
  json::Array memory{makeStage(1, 9, 0), makeStage(1, 9, 0), makeStage(2, 9, 0),
                     makeStage(1, 8, 0), makeStage(1, 9, 3), makeStage(1, 9, 0)};
  (*memory[1].getAsObject())["program"] = 1;
  EXPECT_EQ(print(findMemoryKinds(memory)), (std::vector<std::string>{"0-1, 5", "2", "3", "4"}));
}

} // namespace
