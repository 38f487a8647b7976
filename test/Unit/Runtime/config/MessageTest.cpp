// What messages quote: a terminal obeys none of it, and none of it fills a screen.
#include "par/config/Message.h"

#include <gtest/gtest.h>

#include <chrono>

using par::config::asMessage;
using par::config::shortened;
using par::config::visible;

// Control characters of one byte and of two, marks that turn text, and bytes that are no UTF-8 are seen.
TEST(Message, WhatATerminalObeysIsShown) {
  EXPECT_EQ(visible("\x1b]0;x\x07"), "\\x1b]0;x\\x07");
  EXPECT_EQ(visible("a\nb\tc\r\x7f"), "a\\nb\\tc\\r\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "\\u009b31m");
  EXPECT_EQ(visible("a\xe2\x80\xae"
                    "b\xe2\x81\xa6"),
            "a\\u202eb\\u2066");
  EXPECT_EQ(visible("\xe2\x80\xa8\xef\xbb\xbf"), "\\u2028\\ufeff");
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(visible("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80"),
            "\\xc0\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80");
  EXPECT_EQ(visible("cut \xe2\x82"), "cut \\xe2\\x82");
}

TEST(Message, TextOfAnyLanguageStays) {
  for (const char *text : {"größer", "日本語", "🦜", "עברית", "a'b\"c\\d"})
    EXPECT_EQ(visible(text), text);
}

TEST(Message, ValuesAreCutAt80Characters) {
  std::string x80(80, 'x'), x81(81, 'x');
  EXPECT_EQ(shortened(x80), x80);
  EXPECT_EQ(shortened(x81), x80 + "... (81 characters)");
  std::string wide;
  for (int i = 0; i < 100; ++i)
    wide += "ß";
  EXPECT_EQ(shortened(wide), wide.substr(0, 160) + "... (100 characters)");
}

// In quotes, in brackets, as a word: whatever a message quotes is cut; the words of the message are not.
TEST(Message, WhatIsQuotedIsCut) {
  std::string x80(80, 'x'), x(1000, 'x');
  EXPECT_EQ(asMessage("a.json: \"type\" is \"" + x + "\", give it"),
            "a.json: \"type\" is \"" + x80 + "...\" (1000 characters), give it");
  EXPECT_EQ(asMessage("--lr is '" + x + "', expected"),
            "--lr is '" + x80 + "...' (1000 characters), expected");
  EXPECT_EQ(asMessage("model type " + x + " is none"), "model type " + x80 + "... (1000 characters) is none");
  std::string list = "[", object = "{";
  for (int i = 0; i < 300; ++i)
    list += (i ? ", " : "") + std::to_string(i), object += (i ? ", \"" : "\"") + std::to_string(i) + "\": 1";
  EXPECT_LT(asMessage("shape " + list + "] of x").size(), 130u);
  EXPECT_LT(asMessage("value " + object + "} of x").size(), 130u);
  std::string quotes = "a \"" + x + "\" b " + x; // and what the quotes of a value would hide
  EXPECT_LT(asMessage("is \"" + quotes + "\"").size(), 400u);
}

// A long sentence of short words is one, up to a bound.
TEST(Message, SentencesStayWhole) {
  std::string text = "the model's words, and par's own: ";
  for (int i = 0; i < 35; ++i)
    text += "don't give 'it' or \"that\" (nor these) but rather ";
  EXPECT_EQ(asMessage(text), text);
  std::string longer = text + text;
  EXPECT_LT(asMessage(longer).size(), 2100u);
  EXPECT_NE(asMessage(longer).find("characters)"), std::string::npos);
}

// Where a file lies is said in full, and so are the numbers of a flag to copy.
TEST(Message, PathsAndListsOfNumbersAreForCopying) {
  std::string path = "/" + std::string(150, 'p') + "/" + std::string(150, 'q');
  EXPECT_EQ(asMessage(path + ": cannot be read"), path + ": cannot be read");
  EXPECT_LT(asMessage("/" + std::string(5000, 'p')).size(), 120u);
  std::string cuts = "--cuts 1";
  for (int i = 2; i < 64; ++i)
    cuts += "," + std::to_string(i);
  EXPECT_EQ(asMessage(cuts), cuts);
}

// A message that is read again, as one of another process is, does not change.
TEST(Message, TwiceIsOnce) {
  for (const std::string &text :
       {std::string("a \"") + std::string(500, 'x') + "\"", std::string("\x1b[1m")}) {
    std::string once = asMessage(text);
    EXPECT_EQ(asMessage(once), once);
  }
}

// However brackets and quotes nest, the time is that of reading it once.
TEST(Message, BracketsTakeNoTime) {
  auto begin = std::chrono::steady_clock::now();
  for (const char *piece : {"[", "{", "[{", "\" ", "' '", "]"}) {
    std::string text;
    while (text.size() < 400000)
      text += piece;
    EXPECT_LT(asMessage(text).size(), 20000u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}
