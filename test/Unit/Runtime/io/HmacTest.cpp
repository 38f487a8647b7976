// HMAC-SHA-256 against the vectors of RFC 4231.
#include "par/io/Hmac.h"

#include <gtest/gtest.h>

using namespace par::io;

static std::string hex(const std::string &bytes) {
  std::string text;
  for (char c : bytes)
    for (int shift : {4, 0})
      text += "0123456789abcdef"[c >> shift & 15];
  return text;
}

TEST(Hmac, Rfc4231) {
  EXPECT_EQ(hex(hmacSha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmacSha256(std::string(20, '\xaa'), std::string(50, '\xdd'))),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counted;
  for (int i = 1; i <= 25; ++i)
    counted += char(i);
  EXPECT_EQ(hex(hmacSha256(counted, std::string(50, '\xcd'))),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(
      hex(hmacSha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(
      hex(hmacSha256(std::string(131, '\xaa'),
                     "This is a test using a larger than block-size key and a larger than block-size data. "
                     "The key needs to be hashed before being used by the HMAC algorithm.")),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Hmac, ComparisonsLookAtEveryByte) {
  std::string proof = randomBytes(32), other = proof;
  EXPECT_EQ(proof.size(), 32u);
  EXPECT_NE(proof, randomBytes(32));
  EXPECT_TRUE(equalInConstantTime(proof, other));
  for (size_t i = 0; i < proof.size(); ++i) {
    other = proof;
    other[i] = char(other[i] ^ 1);
    EXPECT_FALSE(equalInConstantTime(proof, other)) << i;
  }
  EXPECT_FALSE(equalInConstantTime(proof, proof.substr(1)));
}
