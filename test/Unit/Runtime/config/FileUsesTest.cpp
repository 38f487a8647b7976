#include "par/config/FileUses.h"
#include "TinyPackage.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace par;
using namespace par::test;

namespace {
std::string clash(const std::string &read, const std::string &written) {
  config::FileUses uses;
  uses.addRead("--cluster", read);
  uses.addWritten("--report", written);
  return uses.findClash();
}

TEST(FileUses, WhatIsReadIsNotWrittenByWhateverName) {
  TemporaryFolder folder;
  writeText(folder / "a", "x");
  std::filesystem::create_hard_link(folder / "a", folder / "hard");
  std::filesystem::create_symlink("a", folder / "link");
  std::filesystem::create_symlink(folder.root(), folder / "here");
  for (const char *name : {"a", "./a", "hard", "link", "here/a"})
    EXPECT_EQ(clash(folder / "a", folder / name),
              "--report " + (folder / name) + ": is also --cluster, which is read; give another name");
  EXPECT_EQ(clash(folder / "a", folder / "b"), "");
}

TEST(FileUses, AFolderThatIsReadKeepsTheFilesThatAreRead) {
  TemporaryFolder folder;
  for (const char *name :
       {"config.json", "tokenizer.json", "model-00001-of-00002.safetensors", "report.html"})
    writeText(folder / name, "x");
  EXPECT_EQ(clash(folder.root(), folder / "config.json"), "--report " + (folder / "config.json") +
                                                              ": is a file of --cluster " + folder.root() +
                                                              ", which is read; give another name");
  EXPECT_NE(clash(folder.root() + "/", folder / "tokenizer.json"), "");
  EXPECT_NE(clash(folder.root(), folder / "model-00001-of-00002.safetensors"), "");
  EXPECT_EQ(clash(folder.root(), folder / "report.html"), "");
  EXPECT_EQ(clash(folder.root(), folder / "vocab.json"), ""); // not there, so nobody reads it
}

TEST(FileUses, TwoOutputsAreTwoFiles) {
  TemporaryFolder folder;
  config::FileUses uses;
  uses.addWritten("--report", folder / "new");
  uses.addWritten("--timeline", folder / "./new");
  EXPECT_EQ(uses.findClash(),
            "--timeline " + (folder / "./new") + ": is also what --report writes; give each its own name");
}

// "link/.." is where the folder lies that the link leads to, not where the link does.
TEST(FileUses, NewFilesHaveOneNameWhateverLinksLeadThere) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "far/away");
  std::filesystem::create_symlink(folder / "far/away", folder / "link");
  EXPECT_TRUE(config::isSameFile(folder / "link/new", folder / "far/away/new"));
  EXPECT_TRUE(config::isSameFile(folder / "link/../new", folder / "far/new"));
  EXPECT_FALSE(config::isSameFile(folder / "link/../new", folder / "new"));
}

TEST(FileUses, StandardStreamsAndDevicesAreNoFiles) {
  EXPECT_EQ(clash("-", "-"), "");
  EXPECT_EQ(clash("", ""), "");
  EXPECT_EQ(clash("/dev/null", "/dev/null"), "");
}
} // namespace
