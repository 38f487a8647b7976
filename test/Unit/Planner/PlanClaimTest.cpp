//===- PlanClaimTest.cpp - what is said of errors -------------------------------------------------------===//
#include "par/Planner/PlanClaim.h"
#include "par/Cost/ClusterFile.h"
#include "gtest/gtest.h"

using namespace mlir::par;

namespace {

PlanClaim claim(const std::string &cluster, int64_t ranks, FloatKind type = FloatKind::BF16) {
  return PlanClaim(cantFail(readCluster(PAR_CLUSTERS + cluster + ".json")), type, ranks);
}

std::string print(const PlanClaim &claim) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printClaim(claim, os);
  return os.str();
}

// par's own steps were measured on one GPU. With more, the error is at least that of published steps.
TEST(PlanClaim, OwnStepsAreOfOneGpu) {
  EXPECT_TRUE(claim("hgx-h200", 1).isMeasured());
  EXPECT_EQ(claim("hgx-h200", 1).getStepError(), claim("hgx-h200", 1).own.error);
  PlanClaim eight = claim("hgx-h200", 8);
  EXPECT_FALSE(eight.isMeasured());
  EXPECT_GE(eight.getStepError(), getPublishedErrors().described.error);
  EXPECT_NE(print(eight).find("8 ranks are not measured yet"), std::string::npos);
  EXPECT_EQ(print(claim("hgx-h200", 1)).find("not measured yet"), std::string::npos);
}

// A chip that was never measured is not measured on one rank either, and says whose factor it has.
TEST(PlanClaim, TheNearestIsNotTheChipItself) {
  PlanClaim one = claim("dgx-a100-80", 1);
  EXPECT_FALSE(one.isMeasured());
  EXPECT_GE(one.getStepError(), getPublishedErrors().described.error);
  EXPECT_NE(print(one).find("on one H100"), std::string::npos);
  EXPECT_NE(print(one).find("dgx-a100-80 is not measured yet, and this the nearest"), std::string::npos);
}

// Of processors up to as many ranks as were run on one machine.
TEST(PlanClaim, HostsAreMeasuredOnOneMachine) {
  PlanClaim four = claim("cpu", 4, FloatKind::F32), many = claim("cpu", 64, FloatKind::F32);
  EXPECT_TRUE(four.isMeasured());
  EXPECT_FALSE(many.isMeasured());
  EXPECT_LT(four.getStepError(), many.getStepError());
  EXPECT_FALSE(describeClaim(four).get("without_stack_file"));
}

// Two plans of one model are off alike.
TEST(PlanClaim, AComparisonIsCloserThanAStep) {
  for (const PlanClaim &one : {claim("dgx-h100", 64), claim("cpu", 4, FloatKind::F32)})
    EXPECT_LT(one.getComparisonError(), one.getStepError());
}

} // namespace
