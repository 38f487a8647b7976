// Rows and values of inputs with names of a graph's own, from safetensors files.
#include "par/io/RowData.h"
#include "SafetensorsFiles.h"
#include "TinyPackage.h"
#include "par/io/TokenData.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace par::io;
using namespace par::test;

namespace {
/// A file of one tensor.
void writeOne(const std::string &path, const std::string &name, const std::string &dtype,
              const std::string &shape, const std::string &bytes) {
  writeText(path, withLength("{\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
                                 ",\"data_offsets\":[0," + std::to_string(bytes.size()) + "]}}",
                             bytes));
}

std::vector<float> floats(const RowData &rows, size_t input, int64_t number) {
  std::vector<float> values(size_t(rows.rowElements(input)));
  std::memcpy(values.data(), rows.row(input, number), values.size() * sizeof(float));
  return values;
}

const OpenInput x{"x", "f32", {4, 2}}, y{"y", "f32", {4}};
} // namespace

/// Rows follow each other over and over, of two files alike; the number of rows of a micro-batch is not
/// theirs.
TEST(RowData, RowsOfSeveralFilesFollowEachOther) {
  TemporaryFolder folder;
  writeTensors(folder / "x.safetensors", {{{"x", {3, 2}}, {1, 2, 3, 4, 5, 6}}});
  writeTensors(folder / "y.safetensors", {{{"other", {1}}, {0}}, {{"y", {3}}, {7, 8, 9}}});
  RowData rows;
  ASSERT_EQ(rows.open({folder / "x.safetensors", folder / "y.safetensors"}, {x, y}, false, 0).message(), "");
  EXPECT_EQ(rows.rowCount(), 3);
  EXPECT_EQ(floats(rows, 0, 1), (std::vector<float>{3, 4}));
  EXPECT_EQ(floats(rows, 0, 3), (std::vector<float>{1, 2}));
  EXPECT_EQ(floats(rows, 1, 3000002), (std::vector<float>{9}));
}

/// Row i goes where window i of tokens goes, whatever the order of a pass is.
TEST(RowData, ShuffledRowsComeInTheOrderOfWindows) {
  TemporaryFolder folder;
  std::vector<float> numbers(20);
  std::string tokens;
  for (int i = 0; i < 20; ++i)
    numbers[size_t(i)] = float(i), tokens += std::string(3, char(i));
  writeTensors(folder / "y.safetensors", {{{"y", {20}}, numbers}});
  writeText(folder / "tokens.txt", tokens);
  DataOptions options;
  options.sources = {folder / "tokens.txt"}, options.shuffle = true;
  TokenData windows;
  RowData rows;
  ASSERT_EQ(windows.open(options, 2, 256, 5).message(), "");
  ASSERT_EQ(rows.open({folder / "y.safetensors"}, {y}, true, 5).message(), "");
  bool isMoved = false;
  for (int64_t number = 0; number < 60; ++number) {
    std::vector<int32_t> window(3);
    windows.window(number, window.data());
    EXPECT_EQ(floats(rows, 0, number)[0], float(window[0])) << number;
    isMoved |= window[0] != number % 20;
  }
  EXPECT_TRUE(isMoved);
}

/// Bytes of each type are the numbers that par means.
TEST(RowData, ElementsOfEveryType) {
  EXPECT_EQ(bytesOfInput("f64"), 0);
  const unsigned char half[] = {0xC0, 0x3F}, minus[] = {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  EXPECT_EQ(inputElement("bf16", half), 1.5);
  EXPECT_EQ(inputElement("i32", minus), -2);
  EXPECT_EQ(inputElement("i64", minus), -2);
  EXPECT_EQ(inputElement("i1", half + 1), 63); // `open` refuses such a byte
  EXPECT_EQ(bytesOfInput("i64"), 8);
  EXPECT_EQ(bytesOfInput("i1"), 1);
}

/// Each problem is one line that names the file, what is there and what is wanted.
TEST(RowData, WhatDoesNotFitIsRefused) {
  TemporaryFolder folder;
  auto open = [&](const std::string &file, const OpenInput &input) {
    RowData rows;
    std::string message = rows.open({folder / file}, {input}, false, 0).message();
    return message.substr(0, (folder / "").size()) == folder / "" ? message.substr((folder / "").size())
                                                                  : message;
  };
  writeTensors(folder / "x.safetensors", {{{"x", {3, 3}}, std::vector<float>(9)}});
  EXPECT_EQ(open("x.safetensors", x),
            "x.safetensors: tensor \"x\" is F32 [3, 3], but the input \"x\" (f32 [4, 2]) "
            "needs F32 [rows, 2]; write it so");
  EXPECT_EQ(open("x.safetensors", {"x", "i64", {4, 3}}),
            "x.safetensors: tensor \"x\" is F32 [3, 3], but the input \"x\" (i64 [4, 3]) needs I64 [rows, "
            "3]; write "
            "it so");
  EXPECT_EQ(open("x.safetensors", y),
            "x.safetensors: no tensor has the name of the input \"y\" (f32 [4]); give a "
            "file that has it to --data");
  writeOne(folder / "none.safetensors", "y", "F32", "[0]", "");
  EXPECT_EQ(open("none.safetensors", y), "none.safetensors: tensor \"y\" has no rows; give some");
  writeOne(folder / "bool.safetensors", "k", "BOOL", "[3]", std::string("\1\0\2", 3));
  EXPECT_EQ(
      open("bool.safetensors", {"k", "i1", {4}}),
      "bool.safetensors: tensor \"k\": element 2 is the byte 2, but a BOOL is 0 or 1; the file is damaged");
}

/// Tensors that are given together belong together.
TEST(RowData, FilesThatContradictEachOtherAreRefused) {
  TemporaryFolder folder;
  writeTensors(folder / "x.safetensors", {{{"x", {3, 2}}, std::vector<float>(6)}});
  writeTensors(folder / "y.safetensors", {{{"y", {2}}, {7, 8}}});
  writeTensors(folder / "z.safetensors", {{{"z", {2}}, {7, 8}}});
  RowData rows, twice, idle;
  EXPECT_NE(
      rows.open({folder / "x.safetensors", folder / "y.safetensors"}, {x, y}, false, 0)
          .message()
          .find(
              "y.safetensors: tensor \"y\" has 2 rows, but \"x\" has 3; rows of one number belong together"),
      std::string::npos);
  EXPECT_NE(twice.open({folder / "x.safetensors", folder / "x.safetensors"}, {x}, false, 0)
                .message()
                .find("both have a tensor \"x\"; give one of them"),
            std::string::npos);
  EXPECT_NE(
      idle.open({folder / "x.safetensors", folder / "z.safetensors"}, {x}, false, 0)
          .message()
          .find("z.safetensors: no input is read from it; the inputs are \"x\" (f32 [4, 2]); leave it out"),
      std::string::npos);
}

/// Beside tokens there is a row for each window; random tokens have no end.
TEST(RowData, ThereIsARowForEachWindow) {
  TemporaryFolder folder;
  writeTensors(folder / "y.safetensors", {{{"y", {3}}, {7, 8, 9}}});
  RowData rows;
  ASSERT_TRUE(rows.open({folder / "y.safetensors"}, {y}, false, 0).ok());
  EXPECT_TRUE(rows.checkWindows(3).ok());
  EXPECT_TRUE(rows.checkWindows(0).ok());
  EXPECT_TRUE(RowData().checkWindows(5).ok());
  for (int64_t windows : {2, 4})
    EXPECT_EQ(rows.checkWindows(windows).message(),
              (folder / "y.safetensors") + ": has 3 rows, but the tokens have " + std::to_string(windows) +
                  " windows; give a row for each window");
}

/// What tells data apart: values and order, not the file's name.
TEST(RowData, SummariesTellDataApart) {
  TemporaryFolder folder;
  auto summary = [&](float last, bool shuffle) {
    writeTensors(folder / "y.safetensors", {{{"y", {3}}, {7, 8, last}}});
    RowData rows;
    EXPECT_TRUE(rows.open({folder / "y.safetensors"}, {y}, shuffle, 1).ok());
    return rows.summary();
  };
  EXPECT_EQ(summary(9, false).substr(0, 17), "3 rows with hash ");
  EXPECT_EQ(summary(9, false), summary(9, false));
  EXPECT_NE(summary(9, false), summary(10, false));
}

/// Scalars are written as numbers, all else is a tensor of a file.
TEST(StepValues, NumbersAndFiles) {
  TemporaryFolder folder;
  writeTensors(folder / "v.safetensors", {{{"v", {2}}, {1, 2}}});
  StepValues values;
  ASSERT_EQ(
      values
          .open({"n=-3", "w=0.5", "k=1", "h=1.5", "v=" + (folder / "v.safetensors")},
                {{"w", "f32", {}}, {"n", "i32", {}}, {"k", "i1", {}}, {"v", "f32", {2}}, {"h", "bf16", {}}})
          .message(),
      "");
  EXPECT_EQ(inputElement("f32", values.value(0).data()), 0.5);
  EXPECT_EQ(inputElement("i32", values.value(1).data()), -3);
  EXPECT_EQ(values.value(2), std::vector<unsigned char>{1});
  EXPECT_EQ(inputElement("f32", values.value(3).data() + 4), 2);
  EXPECT_EQ(inputElement("bf16", values.value(4).data()), 1.5);
}

TEST(StepValues, WhatDoesNotFitIsRefused) {
  const OpenInput w{"w", "f32", {}}, n{"n", "i32", {}}, v{"v", "f32", {2}};
  auto open = [](const std::vector<std::string> &given, const std::vector<OpenInput> &inputs) {
    StepValues values;
    return values.open(given, inputs).message();
  };
  EXPECT_EQ(open({"w"}, {w}), "--input w: expected NAME=VALUE or NAME=FILE.safetensors");
  EXPECT_EQ(open({"u=1"}, {w}),
            "--input u=1: the program takes no input \"u\" for each step; those that it takes "
            "are \"w\" (f32 [])");
  EXPECT_EQ(open({"u=1"}, {}), "--input u=1: the program takes no input \"u\" for each step; leave it out");
  EXPECT_EQ(open({"w=1", "w=2"}, {w}), "--input w=2: \"w\" has a value already; give one");
  for (const char *text : {"n=1.5", "n=3000000000", "n=", "w=nan", "w=1x"})
    EXPECT_NE(open({text}, {w, n}).find("is neither a number of the type of the input"), std::string::npos)
        << text;
  EXPECT_EQ(open({"v=1"}, {v}),
            "--input v=1: \"1\" is no file, and the input \"v\" (f32 [2]) is read from one");
  EXPECT_EQ(open({"w=1"}, {w, v, n}),
            "the program takes \"v\" (f32 [2]), \"n\" (i32 []) for each step; give --input "
            "NAME=VALUE, or =FILE.safetensors");
}
