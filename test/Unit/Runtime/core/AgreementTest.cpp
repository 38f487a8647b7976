// What ranks compare before the first step.
#include "core/Agreement.h"
#include "TinyPackage.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

using namespace par::rt;

TEST(Agreement, EveryFlagIsComparedOrSaidToBeLocal) {
  std::string help = par::test::parRun("--help").output;
  std::set<std::string> shown, listed;
  std::regex flag("\\n  (?:-\\w,)?(--[a-z0-9-]+)");
  for (std::sregex_iterator at(help.begin(), help.end(), flag), end; at != end; ++at)
    shown.insert((*at)[1]);
  shown.erase("--help");
  shown.erase("--version");
  ASSERT_GT(shown.size(), 20u) << help;
  for (const RankOption &option : rankOptions())
    EXPECT_TRUE(listed.insert(option.flag).second) << option.flag;
  for (const std::string &name : shown)
    EXPECT_TRUE(listed.count(name)) << name
                                    << " is new: say in Agreement.cpp whether ranks must have it alike";
  for (const std::string &name : listed)
    EXPECT_TRUE(shown.count(name)) << name << " is no flag any more";
}

TEST(Agreement, TheFirstDifferenceIsNamedWithBothValues) {
  RunOptions options;
  Loaded loaded;
  options.data.sources = {"random"};
  ASSERT_TRUE(loaded.data.open(options.data, 4, 10, 0).ok());
  std::vector<std::string> own = agreedValues(options, loaded);
  EXPECT_EQ(disagreement(own, own, "rank 0", "rank 1"), "");
  options.hyper.lr = 0.1, options.hyper.clip = 2;
  std::vector<std::string> other = agreedValues(options, loaded);
  EXPECT_EQ(disagreement(own, other, "rank 0 on a", "rank 1 on b"),
            "--lr: rank 1 on b has 0.1, rank 0 on a has 0.0003; give every process the same flags");
  options = RunOptions(), options.data.documentEnd = 0;
  EXPECT_EQ(disagreement(own, agreedValues(options, loaded), "rank 0", "rank 1"),
            "--document-end: rank 1 has 0, rank 0 has none; give every process the same flags");
  own.pop_back();
  EXPECT_NE(disagreement(own, own, "rank 0", "rank 1").find("another version of par"), std::string::npos);
}
