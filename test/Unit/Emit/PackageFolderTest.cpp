//===- PackageFolderTest.cpp - one package takes the place of another -------------------------------===//
#include "par/Emit/PackageFolder.h"
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

using namespace mlir::par;
namespace fs = std::filesystem;

namespace {
class PackageFolderTest : public testing::Test {
protected:
  PackageFolderTest() {
    std::string name = (fs::temp_directory_path() / "par-package-XXXXXX").string();
    root = mkdtemp(name.data());
  }
  ~PackageFolderTest() override { fs::remove_all(root); }

  void write(const std::string &file, const std::string &text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  std::string read(const std::string &file) {
    std::ifstream stream(root / file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// With `mark` in its only file.
  void makePackage(const std::string &name, const std::string &mark) {
    std::string hash(64, '0');
    write(name + "/manifest.json", R"({"format_version": 1, "fingerprint": ")" + hash +
                                       R"(", "files": {"program0.so": ")" + hash + R"("}})");
    write(name + "/program0.so", mark);
  }
  std::string at(const std::string &name) { return (root / name).string(); }
  std::set<std::string> names() {
    std::set<std::string> names;
    for (auto &entry : fs::directory_iterator(root))
      names.insert(entry.path().filename());
    return names;
  }

  fs::path root;
};

TEST_F(PackageFolderTest, ExchangeWithAndWithoutTheSystemsHelp) {
  for (bool atOnce : {true, false}) {
    write("a/file", "first");
    write("b/file", "second");
    ASSERT_FALSE(exchangeFolders(at("a"), at("b"), atOnce));
    EXPECT_EQ(read("a/file"), "second");
    EXPECT_EQ(read("b/file"), "first");
    EXPECT_EQ(names(), (std::set<std::string>{"a", "b"}));
  }
}

TEST_F(PackageFolderTest, ExchangeThatFailsChangesNothing) {
  write("b/file", "second");
  for (bool atOnce : {true, false}) {
    EXPECT_TRUE(exchangeFolders(at("absent"), at("b"), atOnce));
    EXPECT_TRUE(exchangeFolders(at("b"), at("absent"), atOnce));
    EXPECT_EQ(names(), std::set<std::string>{"b"});
    EXPECT_EQ(read("b/file"), "second");
  }
}

TEST_F(PackageFolderTest, MovesToAFreePlaceAndOverAPackage) {
  makePackage("new", "1");
  ASSERT_EQ(llvm::toString(movePackage(at("new"), at("out.par"))), "");
  EXPECT_EQ(read("out.par/program0.so"), "1");
  makePackage("new", "2");
  ASSERT_EQ(llvm::toString(movePackage(at("new"), at("out.par"))), "");
  EXPECT_EQ(read("out.par/program0.so"), "2");
  EXPECT_EQ(names(), std::set<std::string>{"out.par"});
}

TEST_F(PackageFolderTest, WhatIsNoPackageStays) {
  makePackage("new", "1");
  write("foreign/file", "precious");
  EXPECT_NE(llvm::toString(movePackage(at("new"), at("foreign"))).find("no package"), std::string::npos);
  fs::create_directories(root / "empty");
  EXPECT_NE(llvm::toString(movePackage(at("new"), at("empty"))).find("no package"), std::string::npos);
  EXPECT_EQ(read("foreign/file"), "precious");
  EXPECT_EQ(read("new/program0.so"), "1");
}

TEST_F(PackageFolderTest, WhatIsAddedAfterTheLookStays) {
  makePackage("old", "1");
  auto folder = PackageFolder::open(at("old"), "old");
  ASSERT_TRUE(static_cast<bool>(folder)) << llvm::toString(folder.takeError());
  write("old/notes.txt", "precious");
  write("old/ck/state", "precious, too");
  EXPECT_NE(llvm::toString((*folder)->remove(at("old"))).find("cannot be removed"), std::string::npos);
  EXPECT_EQ(read("old/notes.txt"), "precious");
  EXPECT_EQ(read("old/ck/state"), "precious, too");
  EXPECT_FALSE(fs::exists(root / "old/program0.so"));
}
} // namespace
