//===- NestingTest.cpp - how deep a text asks its parser to go --------------------------------------===//
#include "par/Support/Nesting.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {
bool isDeeper(llvm::StringRef text, unsigned limit) { return findDeepNesting(text, limit).has_value(); }

/// Exactly `depth` levels.
void expectDepth(llvm::StringRef text, unsigned depth) {
  EXPECT_TRUE(depth == 0 || isDeeper(text, depth - 1)) << text.str();
  EXPECT_FALSE(isDeeper(text, depth)) << text.str();
}

TEST(NestingTest, Brackets) {
  expectDepth("", 0);
  expectDepth("module { func.func @f(%x: tensor<2xf32>) { return } }", 3);
  expectDepth("[[], {}, (()), <>]", 3);
  expectDepth("]])>[", 1);
}

TEST(NestingTest, ArrowsAndRelationsCloseNothing) {
  expectDepth("(() -> (() -> (i32)))", 3);
  expectDepth("< >= <", 2);
}

TEST(NestingTest, StringsAndComments) {
  expectDepth(R"({a = "[[[\"[[[", b = 1})", 1);
  expectDepth("// [[[[\n[]", 1);
  expectDepth("[ \"open", 1);
  expectDepth("\"\\", 0);
}

TEST(NestingTest, OperatorsOfAnExpression) {
  expectDepth("affine_map<(d0) -> (d0 + d0 * 2 - - 1)>", 6);
  expectDepth("[-1, -2, -3, -4]", 2);
  expectDepth("%0 = a -1.0\n%1 = a -1.0\n%2 = a -1.0", 1);
}

TEST(NestingTest, Aliases) {
  expectDepth("!a = tuple<i32>\n!b = tuple<!a>\n!c = tuple<tuple<!b>>\n", 4);
  expectDepth("#a = [[]]\n#b = [#a, #a]\n#c = #b\nmodule attributes {x.y = #c} {}", 4);
  // On both sides of a line's end, and not of another kind.
  expectDepth("!a =\n tuple<i32>\n!b = ()\n -> tuple<!a>", 2);
  expectDepth("!a = tuple<tuple<i32>>\n#a = [unit]\n#b = [#a]", 2);
}

TEST(NestingTest, WhatFollowsAnAliasIsNotInIt) {
  for (const char *operation :
       {"module { #map }", "\"a.b\"() ({ #map })", "func.func @f() { #map }", "%0 = if { #map }"}) {
    std::string text = "#map = [unit]\n";
    for (int i = 0; i < 5; ++i)
      text += std::string(operation) + "\n";
    EXPECT_FALSE(isDeeper(text, 4)) << operation;
  }
}

TEST(NestingTest, Place) {
  std::optional<TextPlace> place = findDeepNesting("{\n  [\n    (", 2);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->line, 3u);
  EXPECT_EQ(place->column, 5u);
}
} // namespace
