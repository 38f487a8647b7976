// What processes say at the start, as bytes: nothing is believed that was not checked.
#include "comm/process/Wire.h"
#include "comm/process/Handshake.h"
#include "core/Introduction.h"

#include <gtest/gtest.h>

using namespace par::comm;

static std::string length(uint64_t bytes) { return std::string(reinterpret_cast<const char *>(&bytes), 8); }

TEST(Wire, ListsOfTexts) {
  std::vector<std::string> texts, sent = {"", "a", std::string(1000, 'b')};
  ASSERT_TRUE(splitTexts(joinTexts(sent), texts));
  EXPECT_EQ(texts, sent);
  EXPECT_TRUE(splitTexts("", texts));
  EXPECT_TRUE(texts.empty());
  // A length of 2^64 - 8 leads back to itself.
  for (const std::string &bytes : {length(uint64_t(-8)), length(uint64_t(-8)) + "12345678", length(1),
                                   length(5) + "1234", std::string("1234567"), joinTexts(sent) + "x"})
    EXPECT_FALSE(splitTexts(bytes, texts)) << bytes.size();
}

TEST(Wire, Places) {
  Place place;
  ASSERT_TRUE(readPlace("29500 127.0.0.1 ::1", place));
  EXPECT_EQ(place.port, 29500);
  EXPECT_EQ(place.addresses, (std::vector<std::string>{"127.0.0.1", "::1"}));
  EXPECT_EQ(place.text(), "29500 127.0.0.1 ::1");
  for (const char *text :
       {"", " ", "29500", "29500 ", "0 127.0.0.1", "-1 127.0.0.1", "65536 127.0.0.1", "99999999999 127.0.0.1",
        "x 127.0.0.1", "29500 host", "29500  127.0.0.1", "29500 127.0.0.1 x"})
    EXPECT_FALSE(readPlace(text, place)) << text;
  std::string many = "1";
  for (int i = 0; i < 1000; ++i)
    many += " 127.0.0.1";
  EXPECT_FALSE(readPlace(many, place));
}

TEST(Wire, Frames) {
  std::string buffer = Frame{Frame::Kind::beat, "abc"}.bytes() + Frame{Frame::Kind::goodbye, ""}.bytes(),
              rest = "\1";
  Frame frame;
  buffer += rest;
  ASSERT_EQ(takeFrame(buffer, frame), FrameState::whole);
  EXPECT_EQ(frame.text, "abc");
  ASSERT_EQ(takeFrame(buffer, frame), FrameState::whole);
  EXPECT_EQ(frame.kind, Frame::Kind::goodbye);
  EXPECT_EQ(takeFrame(buffer, frame), FrameState::partial);
  EXPECT_EQ(buffer, rest);
  buffer = std::string("\7\0\0\0\0\0\0\0", 8); // a kind that there is not
  EXPECT_EQ(takeFrame(buffer, frame), FrameState::malformed);
  buffer = std::string("\0\0\0\0\xff\xff\xff\xff", 8);
  EXPECT_EQ(takeFrame(buffer, frame), FrameState::malformed);
}

TEST(Wire, BeatsAndReports) {
  Beat beat{3, 4, 5, -1, -2}, got{};
  ASSERT_TRUE(readBeat(textOf(beat), got));
  EXPECT_EQ(got.collective, -2);
  EXPECT_FALSE(readBeat("", got));
  EXPECT_FALSE(readBeat(textOf(beat) + "x", got));
  EXPECT_FALSE(readBeat(textOf(Beat{3, 4, 5, -2, 0}), got));
  EXPECT_FALSE(readBeat(textOf(Beat{3, 4, 5, 0, -3}), got));
  Report report;
  ASSERT_TRUE(readReport(textOf(Report{2, "a\033[31m\nb"}), report));
  EXPECT_EQ(report.message, "a [31m b");
  EXPECT_FALSE(readReport("abc", report));
  EXPECT_FALSE(readReport(textOf(Report{-5, "x"}), report));
}

TEST(Wire, Introductions) {
  par::rt::Introduction own = par::rt::Introduction::own(), got;
  own.agreed = {"1", "", "3"}, own.worldSize = 4;
  ASSERT_TRUE(par::rt::readIntroduction(own.text(), got));
  EXPECT_EQ(got.text(), own.text());
  EXPECT_EQ(got.agreed, own.agreed);
  std::string text = own.text();
  EXPECT_FALSE(par::rt::readIntroduction("", got));
  EXPECT_FALSE(par::rt::readIntroduction(text.substr(0, text.size() - 1), got));
  EXPECT_FALSE(par::rt::readIntroduction(joinTexts({"", "", "", "", "-1", "1", "1", ""}), got));
  EXPECT_FALSE(par::rt::readIntroduction(joinTexts({"", "", "", "", "1", "1", "99999999999", ""}), got));
}

TEST(Handshake, ProofsHoldForOneConversationOnly) {
  Door door{std::string(32, 'k'), "control", 0};
  Hello hello{1, 4, std::string(nonceBytes, 'n')};
  std::string challenge(nonceBytes, 'c'), proof = guestProof(door, hello, challenge);
  Hello otherRank = hello, otherSize = hello, otherNonce = hello, read;
  otherRank.rank = 2, otherSize.size = 5, otherNonce.nonce[0] = 'm';
  Door otherKey{std::string(32, 'l'), "control", 0}, data{door.key, "data", 0},
      otherHost{door.key, "control", 1};
  EXPECT_NE(guestProof(door, otherRank, challenge), proof);
  EXPECT_NE(guestProof(door, otherSize, challenge), proof);
  EXPECT_NE(guestProof(door, otherNonce, challenge), proof);
  EXPECT_NE(guestProof(door, hello, std::string(nonceBytes, 'd')), proof);
  for (const Door &other : {otherKey, data, otherHost})
    EXPECT_NE(guestProof(other, hello, challenge), proof);
  Verdict verdict{true, std::string(nonceBytes, 'j')}, got;
  std::string bytes = verdictBytesOf(door, hello, challenge, verdict);
  ASSERT_TRUE(readVerdict(door, hello, challenge, bytes, got));
  EXPECT_TRUE(got.accepted);
  EXPECT_EQ(got.job, verdict.job);
  EXPECT_FALSE(readVerdict(otherKey, hello, challenge, bytes, got));
  EXPECT_FALSE(readVerdict(door, otherRank, challenge, bytes, got));
  EXPECT_FALSE(readVerdict(door, hello, challenge, bytes.substr(1), got));
  for (size_t i = 0; i < bytes.size(); ++i) { // a "no" made of a "yes", another job, another proof
    std::string changed = bytes;
    changed[i] = char(changed[i] ^ 1);
    EXPECT_FALSE(readVerdict(door, hello, challenge, changed, got)) << i;
  }
  // The guest's own proof sent back is no proof of the host's.
  EXPECT_FALSE(readVerdict(door, hello, challenge, bytes.substr(0, 1 + nonceBytes) + proof, got));
  ASSERT_TRUE(readHello(hello.bytes(), read));
  EXPECT_EQ(read.bytes(), hello.bytes());
  EXPECT_FALSE(readHello(hello.bytes().substr(1), read));
  EXPECT_FALSE(readHello("par-job1" + hello.bytes().substr(8), read));
}
