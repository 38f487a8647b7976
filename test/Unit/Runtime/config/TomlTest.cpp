#include "par/config/Toml.h"

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

std::string failureOf(const std::string &text) {
  std::vector<Entry> entries;
  par::io::Status status = parseToml(text, "f", entries);
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  return status.message();
}

TEST(Toml, values) {
  EXPECT_EQ(valueOf("12"), "integer:12");
  EXPECT_EQ(valueOf("-1_000"), "integer:-1000");
  EXPECT_EQ(valueOf("+0"), "integer:0");
  EXPECT_EQ(valueOf("3e-4"), "number:3e-4");
  EXPECT_EQ(valueOf("1_0.2_5E+2"), "number:10.25E2");
  EXPECT_EQ(valueOf("true"), "boolean:true");
  EXPECT_EQ(valueOf("\"a b # c\" # d"), "text:a b # c");
  EXPECT_EQ(valueOf("'C:\\x'"), "text:C:\\x");
  EXPECT_EQ(valueOf(R"("\t\"\\\u00e9\U0001F600")"), "text:\t\"\\\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(valueOf("[]"), "list:[]");
  EXPECT_EQ(valueOf("[1, # one\n 'a',\r\n]"), "list:[1, \"a\"]");
}

TEST(Toml, placesAndTables) {
  std::vector<Entry> entries = read("\xEF\xBB\xBF# top\r\na=1\n\n [ \"t-1\" ] # heading\n'b' = [\n1]\nc = 2");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].table + "/" + entries[0].key, "/a");
  EXPECT_EQ(entries[0].line, 2);
  EXPECT_EQ(entries[1].table + "/" + entries[1].key, "t-1/b");
  EXPECT_EQ(entries[1].line, 5);
  EXPECT_EQ(entries[2].line, 7);
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("  \n# only").empty());
}

TEST(Toml, numbersThatAreNone) {
  for (const char *written : {"01", "1_", "_1", "1__0", "1.", ".5", "1e", "--1", "0x10", "inf", "1.e2",
                              "2020-01-01", "12:00", "1.2.3", "tru", "True"})
    EXPECT_NE(failureOf("k = " + std::string(written)).find("which is no number, true or false"),
              std::string::npos)
        << written;
}

TEST(Toml, formsThatAreNotBuilt) {
  EXPECT_NE(failureOf("[[a]]").find("[[...]] is not built"), std::string::npos);
  EXPECT_NE(failureOf("[a.b]").find("dotted key"), std::string::npos);
  EXPECT_NE(failureOf("a.b = 1").find("dotted key"), std::string::npos);
  EXPECT_NE(failureOf("a = {b = 1}").find("is a table"), std::string::npos);
  EXPECT_NE(failureOf("a = [[1]]").find("list of lists"), std::string::npos);
  EXPECT_NE(failureOf("a = \"\"\"x\"\"\"").find("several lines"), std::string::npos);
}

TEST(Toml, errorsHaveTheirLine) {
  EXPECT_EQ(failureOf("a = 1\nb\n"), "f:2: 'b' is not followed by = and a value; write b = VALUE");
  EXPECT_EQ(failureOf("\na = \n"), "f:2: 'a' has no value; write a = VALUE");
  EXPECT_EQ(failureOf("a = 'x"), "f:1: the text of 'a' is not closed; end it with '");
  EXPECT_EQ(failureOf("a = \"\\"),
            "f:1: the text of 'a' has a \\ that begins no escape of TOML; write \\\\, or "
            "quote with '");
  EXPECT_EQ(failureOf("a = \"\\uD800\"").find("f:1: the text of 'a' has a \\"), 0u);
  EXPECT_EQ(failureOf("a = [1,\n2"), "f:2: the list of 'a' is not closed; end it with ]");
  EXPECT_EQ(failureOf("a = [1\n2]"), "f:2: the list of 'a' has no comma or ] after a value; add it");
  EXPECT_EQ(failureOf("a = 1 b = 2"),
            "f:1: unexpected text after the value of 'a'; end the line there, or begin a comment with #");
  EXPECT_EQ(failureOf("[a]\n[b]\n[a]"), "f:3: [a] is there already; write what is below it there");
  EXPECT_EQ(failureOf("[a]\nb=1\nb=2"), "f:3: 'b' is set twice; set it once");
  EXPECT_EQ(failureOf("[a\nb=1"), "f:1: the heading of a table is not closed; write [a]");
  EXPECT_EQ(failureOf(std::string("a = \"\0\"", 7)), "f:1: the text of 'a' holds a NUL byte; take it out");
  EXPECT_EQ(failureOf("= 1").find("f:1: expected a key"), 0u);
  EXPECT_EQ(failureOf("\"a\\n\" = 1"), "f:1: a key holds a control character; keys are names of flags");
}

} // namespace
