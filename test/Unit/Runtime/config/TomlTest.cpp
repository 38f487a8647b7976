#include "par/config/Toml.h"
#include "par/config/Message.h"

#include <gtest/gtest.h>

using namespace par::config;

namespace {

std::vector<Entry> read(const std::string &text) {
  std::vector<Entry> entries;
  par::io::Status status = parseToml(text, "f", entries);
  EXPECT_TRUE(status.ok()) << status.message();
  return entries;
}

/// "kind:text" of the only value.
std::string valueOf(const std::string &written) {
  std::vector<Entry> entries = read("k = " + written);
  if (entries.size() != 1)
    return "";
  static const char *const kinds[] = {"text", "integer", "number", "boolean", "list"};
  const Value &value = entries[0].value;
  std::string text = kinds[int(value.kind)];
  return text + ":" + (value.kind == Kind::list ? quote(value) : value.text);
}

/// The only line of what is said of it.
std::string failureOf(const std::string &text) {
  std::vector<Entry> entries;
  par::io::Status status = parseToml(text, "f", entries);
  EXPECT_FALSE(status.ok()) << text;
  EXPECT_TRUE(entries.empty()) << text;
  EXPECT_EQ(visible(status.message()), status.message());
  return status.message();
}

const char *const remedy =
    "; write KEY = VALUE, texts in quotes, numbers in decimal, and each KEY and [TOOL] once";

/// Between place and remedy the library says what is wrong, each version in its own words.
bool isMalformed(const std::string &failure, int line) {
  size_t at = failure.find(remedy);
  return failure.rfind("f:" + std::to_string(line) + ": ", 0) == 0 && at != std::string::npos && at > 10 &&
         at + std::string(remedy).size() == failure.size();
}

TEST(Toml, texts) {
  EXPECT_EQ(valueOf("\"a b # c\" # d"), "text:a b # c");
  EXPECT_EQ(valueOf("'C:\\x'"), "text:C:\\x");
  EXPECT_EQ(valueOf(R"("\t\"\\\u00e9\U0001F600")"), "text:\t\"\\\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(valueOf("\"\"\"\nOnce\nupon\"\"\""), "text:Once\nupon");
  EXPECT_EQ(valueOf("''"), "text:");
}

TEST(Toml, bytesBeyondAscii) {
  EXPECT_EQ(valueOf("'\xc3\xa9 \xf0\x9f\x98\x80 \xf4\x8f\xa2\x80'"),
            "text:\xc3\xa9 \xf0\x9f\x98\x80 \xf4\x8f\xa2\x80");
  EXPECT_EQ(valueOf("\"\"\"\\\n \xc2\xa7\"\"\""), "text:\xc2\xa7");
  EXPECT_EQ(valueOf("'\xff'"), "text:\xff") << "a path need not be UTF-8";
  EXPECT_EQ(read("# \xe2\x80\xa8\n'\xc3\xa9' = 1")[0].key, "\xc3\xa9");
  EXPECT_EQ(read("['\xc3\xa9']\na = 1")[0].table, "\xc3\xa9");
  for (const char *text : {"\xcc\xa0",
                           "a = \xcc\xa0"
                           "1",
                           "a =\xc2\xa0"
                           "1",
                           "a = 1\xe2\x80\xa8"
                           "b = 2"})
    EXPECT_TRUE(isMalformed(failureOf(text), 1)) << text;
  EXPECT_NE(failureOf("a = 1\xc3\xa9").find("'\\xc3"), std::string::npos);
  EXPECT_EQ(failureOf("\na = \"\\U0010F8C3\""), "f:2: \\U0010F... is not built; write the character itself");
}

TEST(Toml, integers) {
  EXPECT_EQ(valueOf("12"), "integer:12");
  EXPECT_EQ(valueOf("-1_000"), "integer:-1000");
  EXPECT_EQ(valueOf("+0"), "integer:0");
  EXPECT_EQ(valueOf("9223372036854775807"), "integer:9223372036854775807");
  EXPECT_EQ(valueOf("0x10"), "integer:16");
}

/// Digits are those of the file; no number becomes an integer.
TEST(Toml, numbers) {
  for (const char *written : {"0.01", "1.2345678901234567", "-0.0", "100.0", "1e-05", "1e+22", "5e-324"})
    EXPECT_EQ(valueOf(written), std::string("number:") + written);
  EXPECT_EQ(valueOf("3e-4"), "number:3e-04");
  EXPECT_EQ(valueOf("1_0.2_5E+2"), "number:1025.0");
  EXPECT_EQ(valueOf("+0.5"), "number:0.5");
}

TEST(Toml, otherValues) {
  EXPECT_EQ(valueOf("true"), "boolean:true");
  EXPECT_EQ(valueOf("false"), "boolean:false");
  EXPECT_EQ(valueOf("[]"), "list:[]");
  EXPECT_EQ(valueOf("[1, # one\n 'a',\r\n]"), "list:[1, \"a\"]");
}

TEST(Toml, placesAndTables) {
  std::vector<Entry> entries = read("\xEF\xBB\xBF# top\r\nz=1\n\n [ \"t-1\" ] # heading\n'b' = [\n1]\na = 2");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].table + "/" + entries[0].key, "/z");
  EXPECT_EQ(entries[0].line, 2);
  EXPECT_EQ(entries[1].table + "/" + entries[1].key, "t-1/b");
  EXPECT_EQ(entries[1].line, 5);
  EXPECT_EQ(entries[2].table + "/" + entries[2].key, "t-1/a");
  EXPECT_EQ(entries[2].line, 7);
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("  \n# only").empty());
}

TEST(Toml, dottedKeysAreKeysBelowAHeading) {
  std::vector<Entry> entries = read("\npar-run.steps = 3");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].table, "par-run");
  EXPECT_EQ(entries[0].key, "steps");
  EXPECT_EQ(entries[0].line, 2);
}

TEST(Toml, numbersThatAreNone) {
  for (const char *written : {"01", "1_", "_1", "1__0", "1.", ".5", "1e", "--1", "1.e2", "1.2.3", "tru",
                              "True", "four", "9223372036854775808", "1e400", "0x"}) {
    std::string failure = failureOf("k = " + std::string(written));
    EXPECT_TRUE(isMalformed(failure, 1)) << failure;
  }
}

TEST(Toml, whatNoFlagTakes) {
  const std::string table =
      " is a table, which no flag takes; write a text, as on the command line, and headings as [par-run]";
  EXPECT_EQ(failureOf("\n[[a]]"), "f:2: a value of 'a'" + table);
  EXPECT_EQ(failureOf("z = 1\n[a.b]\nc = 1"), "f:2: 'b'" + table);
  EXPECT_EQ(failureOf("[a]\nb.c = 1"), "f:2: 'b'" + table);
  EXPECT_EQ(failureOf("a = {b = 1}"), "f:1: 'a'" + table);
  EXPECT_EQ(failureOf("a = [\n1,\n[1]]"),
            "f:3: a value of 'a' is a list, which no flag takes; write one list of texts or numbers");
  for (const char *written : {"2020-01-01", "12:00:00", "2020-01-01T12:00:00Z"})
    EXPECT_EQ(failureOf("a = " + std::string(written)),
              "f:1: 'a' is a date or time, which no flag takes; write a text in quotes");
  for (const char *written : {"inf", "-inf", "nan"})
    EXPECT_EQ(failureOf("a = " + std::string(written)),
              "f:1: 'a' is inf or nan, which no flag takes; write a number in decimal, as 3e-4");
  EXPECT_EQ(failureOf("a = \"\\u0000\""),
            "f:1: 'a' is a text with a NUL, which no flag takes; write it without");
}

TEST(Toml, keysThatAreNoNames) {
  for (const char *text : {"\"a\\n\" = 1", "[\"a\\n\"]\nb = 1", "[b]\n\"a\\u007f\" = 1"})
    EXPECT_NE(
        failureOf(text).find(": a key holds a control character; keys are names of flags, as steps = 100"),
        std::string::npos);
  for (const char *text : {"\"\" = 1", "[\"\"]\nb = 1", "[b]\n'' = 1"})
    EXPECT_NE(failureOf(text).find(": a key is empty; keys are names of flags, as steps = 100"),
              std::string::npos);
}

TEST(Toml, malformedFiles) {
  for (const char *text :
       {"a = \n", "a = 'x", "a = \"\\", "a = \"\\uD800\"", "a = [1,2", "a = 1 b = 2", "[a\nb=1", "= 1",
        "a = \"\x01\"", "[[[a]]]", "[=]", "[", "a", "a = [,]", "a = '\n'"})
    EXPECT_TRUE(isMalformed(failureOf(text), 1)) << failureOf(text);
  for (const char *text : {"\na 4", "a = [1\n2]", "a = 1\r\nb", "a='''\n'''x"})
    EXPECT_TRUE(isMalformed(failureOf(text), 2)) << failureOf(text);
  EXPECT_TRUE(isMalformed(failureOf(std::string("a = \"\0\"", 7)), 1));
  EXPECT_TRUE(isMalformed(failureOf("a = " + std::string(100000, '[')), 1));
}

TEST(Toml, whatIsThereTwice) {
  for (const char *text :
       {"[a]\n[b]\n[a]", "[a]\nb=1\nb=2", "a = 1\n\n'a' = 1", "par-run.a=1\n\n[par-run]\nb=2"})
    EXPECT_TRUE(isMalformed(failureOf(text), 3)) << failureOf(text);
}

/// What the library would visit by a recursion that no stack holds.
TEST(Toml, deepKeys) {
  std::string deep;
  for (int i = 0; i < 300000; ++i)
    deep += "a.";
  for (const std::string &text :
       {"z = 1\n" + deep + "a = 1", "z = 1\n[" + deep + "a]\nb = 1", "z = [\n{" + deep + "a = 1}]"})
    EXPECT_EQ(failureOf(text),
              "f:2: the line has more than 1000 dots; break it: a text between \"\"\" may go over lines");
  EXPECT_NE(failureOf("z = 1\n" + deep.substr(0, 2000) + "a = 1").find("f:2: 'a' is a table"),
            std::string::npos);
  EXPECT_EQ(read("a = \"" + std::string(1000, '.') + "\"\nb = '.'").size(), 2u);
}

TEST(Toml, quotesAreShortLines) {
  EXPECT_EQ(quote(read("a = [\"x\\ny\", 1.0, true]")[0].value), "[\"x\\ny\", 1.0, true]");
  EXPECT_EQ(quote(read("a = '" + std::string(1000, 'x') + "'")[0].value).size(), 101u);
}

} // namespace
