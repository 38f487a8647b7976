//===- WithoutCbcTest.cpp - what a compiler says that was built without a solver ------------------------===//
#include "Graphs.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

TEST(WithoutCbc, namesThePackage) {
  TestContext context;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(writeOddGraph(2), &context);
  FailureOr<ShardingProblem> problem = describeProblem(*module, StringAttr::get(&context, "tp"));
  ASSERT_TRUE(succeeded(problem));
  llvm::Expected<FoundShardings> found = searchShardings(*problem, {1e9, 1e10, 1e9, 1e-7}, {});
  ASSERT_FALSE(static_cast<bool>(found));
  EXPECT_EQ(llvm::toString(found.takeError()), "a search of shardings needs COIN-OR CBC, which was absent "
                                               "when par was built; install the Debian package "
                                               "coinor-libcbc-dev and build again");
}
