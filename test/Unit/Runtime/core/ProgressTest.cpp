// Who waits for whom: the rank that a report names.
#include "core/Progress.h"

#include <gtest/gtest.h>

using namespace par::rt;

namespace {

/// A pipeline of stages with two ranks each: dp outside, so that rank = 2 * stage + coordinate is not given.
class Waiting : public testing::Test {
protected:
  static constexpr int stages = 4;

  void SetUp() override {
    manifest.worldSize = 2 * stages;
    manifest.axes = {{"dp", 2, "dp"}, {"pp", stages, "pp"}};
    for (int stage = 0; stage < stages; ++stage) {
      Program &program = manifest.programs.emplace_back();
      program.ranks = {{1, {stage}}};
      program.actions = {{"forward", stage, 0}, {"backward", stage, 0}};
      program.messages = {{false, stage - 1, {4}, "activation", 1}, {false, stage + 1, {4}, "gradient", 1}};
      program.collectives.resize(2);
      program.collectives[0].members.axes = {0};
      program.collectives[1].members.groups = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    }
    board = std::make_unique<ProgressBoard>(manifest);
    for (int rank = 0; rank < board->size(); ++rank)
      (*board)[rank].step = 1;
  }
  RankProgress &at(int rank) { return (*board)[rank]; }
  void awaitBefore(int rank) { at(rank).message = 0; }
  void awaitBehind(int rank) { at(rank).message = 1; }

  Manifest manifest;
  std::unique_ptr<ProgressBoard> board;
};

} // namespace

TEST_F(Waiting, PlacesBeforeTheFirstStep) {
  at(0).step = 0;
  EXPECT_EQ(board->whereabouts(0), "before step 1");
  at(0).preparation = Preparation::products;
  EXPECT_EQ(board->whereabouts(0), "before step 1, while it measured its products");
  at(0).step = 7; // of a checkpoint
  EXPECT_EQ(board->whereabouts(0), "before step 8, while it measured its products");
  at(0).preparation = Preparation::none;
  EXPECT_EQ(board->whereabouts(0), "in step 7, between actions");
  ProgressBoard ofTokens(manifest, -1, "token");
  ofTokens[1].step = 3;
  EXPECT_EQ(ofTokens.whereabouts(1), "in token 3, between actions");
}

/// Who waits for all others is no stall while one of them still prepares.
TEST_F(Waiting, ARankThatWaitsForAllLeadsToOneThatHasNotCome) {
  std::vector<std::unique_ptr<WaitForAll>> waits;
  for (int rank : {0, 1, 2, 4, 5, 6, 7})
    waits.push_back(std::make_unique<WaitForAll>(at(rank)));
  EXPECT_EQ(board->awaitedBy(0), 3);
  waits.clear();
  EXPECT_EQ(board->awaitedBy(0), 0);
}

TEST_F(Waiting, WhoWaitsForNobodyIsNamed) {
  for (int rank = 0; rank < board->size(); ++rank)
    EXPECT_EQ(board->awaitedBy(rank), rank);
}

/// Stage 3 waits for 2, that for 1, that for 0, which works; on the other coordinate of dp nobody waits.
TEST_F(Waiting, MessagesLeadToTheStageThatWorks) {
  awaitBefore(3), awaitBefore(2), awaitBefore(1);
  at(0).actions = 100; // it has done more than all others
  EXPECT_EQ(board->awaitedBy(3), 0);
  EXPECT_EQ(board->awaitedBy(2), 0);
  awaitBefore(7);
  EXPECT_EQ(board->awaitedBy(7), 6);
}

TEST_F(Waiting, ACollectiveLeadsToAMemberThatHasNotCome) {
  at(1).collective = 0; // over dp, with rank 5
  EXPECT_EQ(board->awaitedBy(1), 5);
  awaitBehind(5);
  EXPECT_EQ(board->awaitedBy(1), 6);
  at(6).collective = 1; // over stages, with ranks 4, 5 and 7: those that wait come behind those that do not
  at(4).actions = 3, at(7).actions = 2;
  EXPECT_EQ(board->awaitedBy(1), 7);
  at(7).collective = at(4).collective = 1;
  // Ranks 5 and 6 wait for each other.
  at(5).actions = 1;
  EXPECT_EQ(board->awaitedBy(1), 6);
}

/// All have come, so it is the last one's own transport that is late.
TEST_F(Waiting, AMemberOfACollectiveThatAllAreInIsNotHeldUp) {
  at(1).collective = at(5).collective = 0;
  EXPECT_EQ(board->awaitedBy(1), 1);
  EXPECT_EQ(board->awaitedBy(5), 5);
}

TEST_F(Waiting, TheEndOfAStepWaitsForThoseThatHaveNotDoneIt) {
  for (int rank = 0; rank < board->size(); ++rank)
    at(rank).collective = -2;
  EXPECT_EQ(board->awaitedBy(3), 3);
  at(6).collective = -1;
  EXPECT_EQ(board->awaitedBy(3), 6);
  at(5).collective = -1, awaitBehind(5);
  EXPECT_EQ(board->awaitedBy(0), 6);
}

/// What is known of another process may be some steps old: rank 5 was stopped before it told more.
TEST_F(Waiting, WhoWaitedInAnEarlierStepDoesNotWait) {
  for (int rank = 0; rank < board->size(); ++rank)
    at(rank).step = 14, at(rank).collective = -2;
  at(1).collective = 0; // over dp, with rank 5
  at(5).step = 4;
  EXPECT_EQ(board->awaitedBy(1), 5);
  EXPECT_EQ(board->awaitedBy(0), 5);
  EXPECT_EQ(board->awaitedBy(5), 5);
  at(5).collective = 0;
  EXPECT_EQ(board->awaitedBy(1), 5);
  EXPECT_EQ(board->awaitedBy(5), 5);
}

TEST_F(Waiting, OfACircleTheOneThatHasDoneLeastIsNamed) {
  awaitBehind(0), awaitBehind(1), awaitBefore(2);
  at(0).actions = 1, at(1).actions = 9, at(2).actions = 4;
  EXPECT_EQ(board->awaitedBy(0), 2);
  EXPECT_EQ(board->awaitedBy(1), 2);
}
