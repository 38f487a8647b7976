//===- StagePlacesTest.cpp - bounds of what stages hold ----------------------------------------*- C++
//-*-===//
#include "par/Planner/StagePlaces.h"
#include "par/Schedule/ScheduleKind.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir::par;

namespace {
ChunkTables drawChunks(int64_t number, std::mt19937 &random) {
  std::uniform_real_distribution<double> bytes(0, 100);
  ChunkTables chunks;
  for (int64_t at = 0; at < number; ++at) {
    ChunkTable chunk;
    for (double *each : {&chunk.saved, &chunk.savedForWeight, &chunk.handed, &chunk.input, &chunk.handedOn,
                         &chunk.handedBack, &chunk.received})
      *each = bytes(random);
    chunks.add(chunk);
  }
  return chunks;
}

PipelineSchedule build(llvm::StringRef name, const PipelineShape &shape, bool hasMessages) {
  auto schedule = buildSchedule(name, shape);
  if (!schedule) { // the shape is none of this schedule
    llvm::consumeError(schedule.takeError());
    return {};
  }
  StepParts parts;
  parts.updates = false;
  return hasMessages ? completeStep(std::move(*schedule), parts) : std::move(*schedule);
}

/// The search leaves out a stage that holds no more than another one by its bound.
TEST(StagePlaces, theBoundIsNeverLess) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> bytes(0, 300);
  int64_t compared = 0, exact = 0;
  for (llvm::StringRef name : getNames(ScheduleKind()))
    for (int64_t chunks : {1, 2, 3})
      for (bool hasMessages : {false, true}) {
        PipelineSchedule schedule = build(name, {/*stages=*/4, /*microBatches=*/8, chunks}, hasMessages);
        for (size_t number = 0; number < schedule.stages.size(); ++number) {
          StageMoments stage = listPlaces(schedule, number);
          ChunkTables tables = drawChunks(schedule.getNumChunks(), random);
          std::vector<double> whole(stage.ceiling.size());
          for (double &each : whole)
            each = bytes(random);
          double most = findMostBytes(stage, tables, whole), bound = boundMostBytes(stage, tables, whole);
          EXPECT_LE(most, bound * (1 + 1e-12))
              << name.str() << ", " << chunks << " chunks, messages " << hasMessages;
          ++compared;
          exact += bound <= most * (1 + 1e-12);
        }
      }
  EXPECT_GT(compared, 60);
  // Where one moment has the most of all, as with one chunk and no messages, the bound is what is held.
  EXPECT_GT(exact, 15);
}
} // namespace
