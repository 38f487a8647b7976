#include "par/io/Sha256.h"

#include "Sha256Blocks.h"

#include <algorithm>
#include <cstring>

namespace par::io {

// The fractional parts of the cube roots of the first 64 primes (FIPS 180-4, section 4.2.2).
const uint32_t sha256Constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

Sha256::Sha256()
    : state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

static void compress(uint32_t state[8], const unsigned char *data) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t(data[4 * i]) << 24 | uint32_t(data[4 * i + 1]) << 16 | uint32_t(data[4 * i + 2]) << 8 |
           uint32_t(data[4 * i + 3]);
  for (int i = 16; i < 64; ++i) {
    uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < 64; ++i) {
    uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + sha256Constants[i] + w[i];
    uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void sha256Portable(uint32_t state[8], const unsigned char *data, size_t blocks) {
  for (; blocks; --blocks, data += 64)
    compress(state, data);
}

void Sha256::blocks(const unsigned char *data, size_t count) {
  static const Sha256Blocks fastest = sha256WithInstructions() ? sha256WithInstructions() : sha256Portable;
  fastest(state, data, count);
}

void Sha256::update(const void *data, size_t bytes) {
  if (bytes == 0)
    return;
  const unsigned char *next = static_cast<const unsigned char *>(data);
  size_t used = length % 64;
  length += bytes;
  if (used) {
    size_t take = std::min(bytes, 64 - used);
    std::memcpy(buffer + used, next, take);
    next += take, bytes -= take;
    if (used + take < 64)
      return;
    blocks(buffer, 1);
  }
  blocks(next, bytes / 64);
  std::memcpy(buffer, next + bytes / 64 * 64, bytes % 64);
}

void Sha256::pad() {
  uint64_t bits = length * 8;
  static const unsigned char padding[64] = {0x80};
  update(padding, (length % 64 < 56 ? 56 : 120) - length % 64);
  unsigned char size[8];
  for (int i = 0; i < 8; ++i)
    size[i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
  update(size, 8);
}

std::string Sha256::finishBytes() {
  pad();
  std::string bytes;
  for (uint32_t word : state)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += char(word >> shift & 255);
  return bytes;
}

std::string Sha256::finish() {
  pad();
  std::string text;
  for (uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[(word >> shift) & 15];
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return hash.finish();
}

std::string sha256WithoutItself(const std::string &text, const std::string &hash) {
  size_t at = text.find("\"" + hash + "\"");
  if (hash.size() != 64 || at == std::string::npos)
    return "";
  std::string zeroed = text;
  zeroed.replace(at + 1, 64, 64, '0');
  return sha256(zeroed);
}

} // namespace par::io
