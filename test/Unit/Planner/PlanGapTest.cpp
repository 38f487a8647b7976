//===- PlanGapTest.cpp
//------------------------------------------------------------------------------------===//
#include "par/Planner/PlanGap.h"
#include "gtest/gtest.h"

using namespace mlir::par;

namespace {

FoundPlan makePlan(TimeTerms terms) {
  FoundPlan plan;
  plan.terms = terms;
  plan.seconds = terms.sum();
  return plan;
}

TEST(PlanGap, SaysWhereAPlanIsBehind) {
  TimeTerms better, worse;
  better.products = 6, better.data = 1, better.pipeline = 2, better.kernels = 1;
  worse.products = 5.5, worse.data = 4, worse.pipeline = 2, worse.kernels = 1.2;
  PlanGap gap = findGap(makePlan(better), makePlan(worse));
  EXPECT_DOUBLE_EQ(gap.seconds, 2.7);
  EXPECT_DOUBLE_EQ(gap.share, 0.27);
  // The kernels' 0.2 s are less than a tenth of 3 s.
  ASSERT_EQ(gap.terms.size(), 2u);
  EXPECT_EQ(gap.terms[0].first, "data");
  EXPECT_DOUBLE_EQ(gap.terms[0].second, 3);
  EXPECT_EQ(gap.terms[1].first, "products");
  EXPECT_DOUBLE_EQ(gap.terms[1].second, -0.5);
}

TEST(PlanGap, EqualPlansDifferInNothing) {
  TimeTerms terms;
  terms.products = 1;
  EXPECT_TRUE(findGap(makePlan(terms), makePlan(terms)).terms.empty());
}

} // namespace
