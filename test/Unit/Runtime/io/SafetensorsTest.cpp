// Safetensors and weights: what is written is read, every type converts, every damage is named.
#include "SafetensorsFiles.h"
#include "TinyPackage.h"
#include "par/io/Weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace par::io;
using namespace par::test;

namespace {

/// The message of opening a file with this content.
std::string messageOf(const std::string &content) {
  TemporaryFolder folder;
  writeText(folder / "x.safetensors", content);
  SafetensorsReader reader;
  return reader.open(folder / "x.safetensors").message();
}

template <typename T>
std::string bytesOf(std::vector<T> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

const std::string oneTensor = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

} // namespace

TEST(Safetensors, RoundTrip) {
  TemporaryFolder folder;
  writeTensors(folder / "x",
               {{{"b", {2, 3}}, {1, 2, 3, 4, 5, 6}}, {{"a", {}}, {7}}, {{"empty", {0, 4}}, {}}});
  SafetensorsReader reader;
  ASSERT_TRUE(reader.open(folder / "x").ok());
  ASSERT_EQ(reader.entries().size(), 3u);
  EXPECT_EQ(reader.find("b")->shape, (Shape{2, 3}));
  float column[2];
  reader.read(*reader.find("b"), 1, 3, 2, column);
  EXPECT_EQ(column[0], 2);
  EXPECT_EQ(column[1], 5);
  EXPECT_EQ(reader.find("c"), nullptr);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"x"});
}

TEST(Safetensors, TypesBecomeFloats) {
  std::string header =
      R"({"h":{"dtype":"F16","shape":[6],"data_offsets":[0,12]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[12,16]},)"
      R"("d":{"dtype":"F64","shape":[2],"data_offsets":[16,32]},"i":{"dtype":"I64","shape":[1],"data_offsets":[32,40]}})";
  std::string data = bytesOf<uint16_t>({0x3C00, 0xC000, 0x0001, 0x7C00, 0x7BFF, 0x8000}) +
                     bytesOf<uint16_t>({0x3F80, 0xC049}) + bytesOf<double>({0.1, -2}) + bytesOf<int64_t>({3});
  TemporaryFolder folder;
  writeText(folder / "x", withLength(header, data));
  SafetensorsReader reader;
  Status status = reader.open(folder / "x");
  ASSERT_TRUE(status.ok()) << status.message();
  float h[6], b[2], d[2];
  reader.read(*reader.find("h"), 0, 1, 6, h);
  EXPECT_EQ(h[0], 1);
  EXPECT_EQ(h[1], -2);
  EXPECT_EQ(h[2], std::ldexp(1.0f, -24)); // the smallest subnormal
  EXPECT_TRUE(std::isinf(h[3]));
  EXPECT_EQ(h[4], 65504);
  EXPECT_TRUE(h[5] == 0 && std::signbit(h[5]));
  reader.read(*reader.find("b"), 0, 1, 2, b);
  EXPECT_EQ(b[0], 1);
  EXPECT_EQ(b[1], -3.140625f);
  reader.read(*reader.find("d"), 0, 1, 2, d);
  EXPECT_EQ(d[0], 0.1f);
  EXPECT_EQ(d[1], -2);
  EXPECT_EQ(reader.find("i")->type, FileType::other);
}

TEST(Safetensors, DamageIsNamed) {
  auto expectMessage = [](const std::string &content, const std::string &part) {
    std::string message = messageOf(content);
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
    EXPECT_NE(message.find("x.safetensors: "), std::string::npos) << message;
  };
  std::string eight(8, 'x');
  EXPECT_EQ(messageOf(withLength(oneTensor, eight)), "");
  expectMessage("", "0 bytes");
  expectMessage("short", "5 bytes");
  expectMessage(withLength(oneTensor, eight).substr(0, 30), "goes beyond the file of 30 bytes");
  expectMessage(std::string(8, '\xFF') + eight, "goes beyond the file");
  expectMessage(withLength(oneTensor, eight.substr(1)), "the file has only 7; the file is truncated");
  expectMessage(withLength("[1]", eight), "no JSON object");
  expectMessage(withLength("{\"a\":", eight), "no JSON object");
  expectMessage(withLength(R"({"a":{"dtype":"F32","shape":[2]}})", eight),
                "lacks dtype, shape or data_offsets");
  expectMessage(withLength(R"({"a":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}})", eight),
                "lacks dtype");
  expectMessage(withLength(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", eight),
                "do not hold the 12 bytes");
  expectMessage(withLength(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", eight),
                "do not hold");
  expectMessage(withLength(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", eight),
                "cannot represent");
  expectMessage(
      withLength(R"({"a":{"dtype":"F32","shape":[4611686018427387904,8],"data_offsets":[0,8]}})", eight),
      "cannot represent");
  expectMessage(withLength(R"({"a":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}})", eight), "dtype F99");
  expectMessage(
      withLength(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
          eight),
      "\"a\" and \"b\" overlap");
}

/// What the format's own reader refuses, too.
TEST(Safetensors, WhatTheFormatForbidsIsRefused) {
  auto expectMessage = [](const std::string &content, const std::string &part) {
    std::string message = messageOf(content);
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
  };
  std::string eight(8, 'x'), entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})",
                             next = R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})";
  EXPECT_EQ(messageOf(withLength(R"({"a":)" + entry + R"(,"b":)" + next + "}   ", eight)), "");
  expectMessage(withLength(oneTensor, eight + "y"), "has 1 bytes behind its tensors");
  expectMessage(withLength("{}", "y"), "has 1 bytes behind its tensors");
  expectMessage(withLength(R"({"b":)" + next + "}", eight), "bytes 0 to 4 of the data belong to no tensor");
  expectMessage(withLength(R"({"a":)" + entry + R"(,"a":)" + next + "}", eight),
                "the header has \"a\" twice");
  expectMessage(withLength(R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", eight),
                "the header has \"dtype\" twice");
  for (const char *metadata : {"[]", "{\"format\":1}", "\"pt\""})
    expectMessage(withLength(R"({"__metadata__":)" + std::string(metadata) + R"(,"a":)" + entry + R"(,"b":)" +
                                 next + "}",
                             eight),
                  "__metadata__ of the header is no object of strings");
  // Spaces are as long as any header, and a file with a hole costs no disk.
  TemporaryFolder folder;
  writeText(folder / "x", std::string("\x01\xE1\xF5\x05\0\0\0\0", 8)); // 100,000,001
  std::filesystem::resize_file(folder / "x", 8 + 100'000'001);
  SafetensorsReader reader;
  std::string message = reader.open(folder / "x").message();
  EXPECT_NE(message.find("length is 100000001, but the format allows"), std::string::npos) << message;
}

TEST(Safetensors, WriterNeverLeavesPartialFiles) {
  TemporaryFolder folder;
  {
    SafetensorsWriter writer;
    ASSERT_TRUE(writer.create(folder / "x", {{"a", {2}}}).ok());
    EXPECT_FALSE(std::filesystem::exists(folder / "x"));
    float value = 1;
    ASSERT_TRUE(writer.append(&value, 1).ok());
    EXPECT_NE(writer.commit().message().find("1 elements"), std::string::npos);
  }
  EXPECT_TRUE(folder.files().empty());
  SafetensorsWriter writer;
  EXPECT_NE(writer.create(folder / "no/x", {}).message().find("no/x: cannot be written"), std::string::npos);
}

TEST(Weights, NamesWithAndWithoutPrefix) {
  TemporaryFolder folder;
  writeTensors(
      folder / "short",
      {{{"h.0.w", {2}}, {1, 2}}, {{"h.0.attn.bias", {1}}, {0}}, {{"h.0.attn.masked_bias", {1}}, {0}}});
  writeTensors(folder / "long", {{{"transformer.h.0.w", {2}}, {1, 2}}});
  for (const char *file : {"short", "long"})
    for (const char *wanted : {"transformer.h.0.w", "h.0.w"}) {
      Weights weights;
      ASSERT_TRUE(weights.open(folder / file).ok());
      Status status = weights.match({{wanted, {2}}});
      ASSERT_TRUE(status.ok()) << status.message();
      float value;
      weights.read(wanted, 1, 1, 1, &value);
      EXPECT_EQ(value, 2);
    }
}

/// As GPT-2's, files of a model that was saved without its head.
TEST(Weights, NamesOfABareModel) {
  TemporaryFolder folder;
  writeTensors(folder / "bare", {{{"layers.0.w", {2}}, {1, 2}}, {{"rotary_emb.inv_freq", {1}}, {0}}});
  writeTensors(folder / "whole", {{{"model.layers.0.w", {2}}, {1, 2}}});
  writeTensors(folder / "twice", {{{"model.layers.0.w", {2}}, {1, 2}}, {{"layers.0.w", {2}}, {1, 2}}});
  for (const char *file : {"bare", "whole"}) {
    Weights weights;
    ASSERT_TRUE(weights.open(folder / file).ok());
    EXPECT_EQ(weights.match({{"model.layers.0.w", {2}}}).message(), "");
    float value = 0;
    weights.read("model.layers.0.w", 1, 1, 1, &value);
    EXPECT_EQ(value, 2);
  }
  Weights twice;
  EXPECT_NE(twice.open(folder / "twice").message().find("is there twice"), std::string::npos);
}

TEST(Weights, PickledFoldersAreNamed) {
  for (const char *name : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    TemporaryFolder folder;
    writeText(folder / name, "");
    std::string message = Weights().open(folder.root()).message();
    EXPECT_NE(message.find(std::string("has its weights as ") + name), std::string::npos) << message;
    EXPECT_NE(message.find("save_pretrained"), std::string::npos) << message;
  }
}

TEST(Weights, DisagreementsAreNamed) {
  TemporaryFolder folder;
  writeTensors(folder / "x", {{{"a", {2}}, {1, 2}}, {{"h.0.attn.c_attn.bias", {1}}, {0}}});
  auto message = [&](const std::vector<NamedShape> &wanted) {
    Weights weights;
    EXPECT_TRUE(weights.open(folder / "x").ok());
    return weights.match(wanted).message();
  };
  EXPECT_NE(message({{"a", {2}}, {"b", {2}}}).find("\"b\" of the model is missing"), std::string::npos);
  EXPECT_NE(message({{"a", {1, 2}}}).find("has shape [2], but the package was compiled for [1, 2]"),
            std::string::npos);
  EXPECT_NE(message({{"a", {2}}}).find("\"h.0.attn.c_attn.bias\" is not one of the model"),
            std::string::npos);
  EXPECT_EQ(message({{"a", {2}}, {"transformer.h.0.attn.c_attn.bias", {1}}}), "");
}

TEST(Weights, TiedHeadMustBeEqual) {
  TemporaryFolder folder;
  writeTensors(folder / "same", {{{"wte.weight", {2}}, {1, 2}}, {{"lm_head.weight", {2}}, {1, 2}}});
  writeTensors(folder / "other", {{{"wte.weight", {2}}, {1, 2}}, {{"lm_head.weight", {2}}, {1, 3}}});
  Weights same, other, untied;
  ASSERT_TRUE(same.open(folder / "same").ok() && other.open(folder / "other").ok() &&
              untied.open(folder / "other").ok());
  EXPECT_EQ(same.match({{"transformer.wte.weight", {2}}}).message(), "");
  EXPECT_NE(other.match({{"transformer.wte.weight", {2}}}).message().find("differs from it at element 1"),
            std::string::npos);
  EXPECT_EQ(untied.match({{"transformer.wte.weight", {2}}, {"lm_head.weight", {2}}}).message(), "");
}

TEST(Weights, FoldersWithOneFileOrAnIndex) {
  TemporaryFolder folder;
  writeTensors(folder / "1.safetensors", {{{"a", {1}}, {1}}});
  writeTensors(folder / "2.safetensors", {{{"b", {1}}, {2}}});
  Weights none;
  EXPECT_NE(none.open(folder.root()).message().find("no model.safetensors.index.json"), std::string::npos);
  writeText(folder / "model.safetensors.index.json",
            R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  Weights indexed;
  ASSERT_TRUE(indexed.open(folder.root()).ok());
  ASSERT_TRUE(indexed.match({{"a", {1}}, {"b", {1}}}).ok());
  float value;
  indexed.read("b", 0, 1, 1, &value);
  EXPECT_EQ(value, 2);
  writeText(folder / "model.safetensors.index.json",
            R"({"weight_map":{"a":"1.safetensors","c":"2.safetensors"}})");
  Weights wrong;
  EXPECT_NE(wrong.open(folder.root()).message().find("weight_map has \"c\""), std::string::npos);
  writeTensors(folder / "model.safetensors", {{{"a", {1}}, {1}}});
  Weights indexedBesideOne, single;
  EXPECT_NE(indexedBesideOne.open(folder.root()).message().find("or remove the index if"), std::string::npos);
  std::filesystem::remove(folder / "model.safetensors.index.json");
  ASSERT_TRUE(single.open(folder.root()).ok());
  EXPECT_TRUE(single.match({{"a", {1}}}).ok());
}
