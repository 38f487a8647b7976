// How --help lays out what a tool takes.
#include "par/config/HelpText.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

using namespace par::config;

static HelpPage somePage() {
  HelpPage page;
  page.overview = "Does this and that.";
  page.usage = "tool DIR [flags] | tool --measure";
  page.operands = {{"DIR", "", "a folder", ""}};
  page.flags = {
      {"--rate", "X", "how quickly", "Sizes"},
      {"-o,--output", "FILE", "what is written", "Files"},
      {"--kind", "one|other|a-kind-that-is-long", "which of them is meant by all of this", "Files"}};
  page.first = {"--output"};
  return page;
}

static std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

// Usages below each other; what matters most before the sections, and only there; what all tools have behind
// them.
TEST(HelpText, SectionsFollowWhatMattersMost) {
  EXPECT_EQ(printHelp(somePage(), 60), R"(Does this and that.

usage: tool DIR [flags]
       tool --measure

  DIR               a folder

Most used:
  -o,--output FILE  what is written

Sizes:
  --rate X          how quickly

Files:
  --kind one|other|a-kind-that-is-long
                    which of them is meant by all of this

Of all tools:
  --config FILE.toml
                    reads flags from a file: lines as steps
                    = 100, or below [par-run] for one tool;
                    flags of the command line win
  -h,--help         prints this
  --version         prints the version
)");
}

// A tool may have no flags of its own.
TEST(HelpText, BlocksHaveOneBlankLineBetweenThem) {
  HelpPage page;
  page.overview = "Does this.", page.usage = "tool DIR";
  EXPECT_EQ(printHelp(page, 80).find("Does this.\n\nusage: tool DIR\n\nOf all tools:\n  --config"), 0u);
  page.operands = {{"DIR", "", "a folder", ""}};
  page.flags = {{"--rate", "X", "how quickly", ""}};
  EXPECT_NE(printHelp(page, 80).find("tool DIR\n\n  DIR                     a folder\n  --rate X"),
            std::string::npos);
}

// Further lines of a help text stand below its first one.
TEST(HelpText, LinesHangBelowEachOther) {
  std::string text = printHelp(somePage(), 44);
  EXPECT_NE(text.find("\n              which of them is meant by all\n              of this\n"),
            std::string::npos)
      << text;
}

// Words stay whole, but for those that no line holds: they go on behind a sign.
TEST(HelpText, LongWordsAreCutBehindSigns) {
  std::string text = printHelp(somePage(), 24);
  EXPECT_NE(text.find("  --kind\n      one|other|\n      a-kind-that-is-long\n"), std::string::npos) << text;
}

// At any width from the least one no line is longer than that.
TEST(HelpText, NoLineIsTooLong) {
  for (size_t columns = 40; columns <= 130; ++columns)
    for (const std::string &line : linesOf(printHelp(somePage(), columns)))
      EXPECT_LE(line.size(), columns) << line;
}

// COLUMNS counts for more than the terminal; what is no number of columns does not count.
TEST(HelpText, ColumnsAreTheVariables) {
  auto columnsOf = [](const char *text) {
    setenv("COLUMNS", text, 1);
    size_t columns = helpColumns();
    unsetenv("COLUMNS");
    return columns;
  };
  EXPECT_EQ(columnsOf("100"), 100u);
  EXPECT_EQ(columnsOf("400"), 400u);
  EXPECT_EQ(columnsOf("3"), 40u);
  unsetenv("COLUMNS");
  size_t other = helpColumns();
  for (const char *text : {"", "0", "-5", "wide", "99999999999999999999999"})
    EXPECT_EQ(columnsOf(text), other) << text;
}
