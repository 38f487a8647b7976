// An answer as it grows: it ends before the text that ends answers, of which nothing is shown on the way.
#include "generate/AnswerText.h"

#include <gtest/gtest.h>

#include <vector>

using par::generating::AnswerText;

namespace {
/// What is shown after each part; "." where the answer ends, and the rest behind it.
std::vector<std::string> shown(AnswerText &answer, const std::vector<std::string> &parts) {
  std::vector<std::string> all;
  std::string_view certain;
  for (const std::string &part : parts) {
    bool goesOn = answer.add(part, certain);
    all.push_back(std::string(certain));
    if (!goesOn) {
      all.push_back(".");
      break;
    }
  }
  all.push_back(std::string(answer.rest()));
  return all;
}
using Parts = std::vector<std::string>;
} // namespace

TEST(AnswerText, EndsBeforeItsStop) {
  AnswerText within("\n\n");
  EXPECT_EQ(shown(within, {"a", "b\n\nc", "d"}), (Parts{"a", "b", ".", ""}));
  EXPECT_EQ(within.text(), "ab");
  AnswerText across("END");
  EXPECT_EQ(shown(across, {"aE", "N", "E", "ND", "x"}), (Parts{"a", "", "EN", "", ".", ""}));
  EXPECT_EQ(across.text(), "aEN");
  AnswerText atOnce("\n");
  EXPECT_EQ(shown(atOnce, {"\n"}), (Parts{"", ".", ""}));
}

TEST(AnswerText, WhatBeganLikeItsStopIsShownAtTheEnd) {
  AnswerText answer("END");
  EXPECT_EQ(shown(answer, {"a", "EN"}), (Parts{"a", "", "EN"}));
  EXPECT_EQ(answer.text(), "aEN");
}

TEST(AnswerText, WithoutAStopAllIsShown) {
  AnswerText answer;
  EXPECT_EQ(shown(answer, {" a", "", "\n"}), (Parts{" a", "", "\n", ""}));
}

TEST(AnswerText, SpacesOfTheFormatAreNoneOfIt) {
  AnswerText split("", 2);
  EXPECT_EQ(shown(split, {" ", "", "  a ", " b"}), (Parts{"", "", " a ", " b", ""}));
  EXPECT_EQ(split.text(), " a  b");
  AnswerText none("", 1);
  EXPECT_EQ(shown(none, {"a", " b"}), (Parts{"a", " b", ""}));
}
