// Which parts of a tile are computed, against the rule of each element.
#include "cpu/AttentionCover.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace par::cpu;

namespace {

/// A tile of queries and keys with their positions.
struct Seen {
  Seen(int64_t rows, int64_t keys, bool causal, int64_t window)
      : what{}, qPositions(size_t(rows)), kPositions(size_t(keys)), tile{0, rows, 0, keys} {
    what.causal = causal, what.window = window;
    std::iota(qPositions.begin(), qPositions.end(), 0);
    std::iota(kPositions.begin(), kPositions.end(), 0);
  }

  TileCover cover() {
    void *buffers[9] = {nullptr, nullptr, nullptr, qPositions.data(), kPositions.data()};
    AttentionView attention(what, buffers);
    return coverOf(attention, QueryPositions(attention, tile.q, tile.rows), tile);
  }

  bool sees(int64_t query, int64_t key) const {
    int64_t q = qPositions[size_t(query)], k = kPositions[size_t(key)];
    return (!what.causal || k <= q) && (!what.window || q - k < what.window);
  }

  par_attention what;
  std::vector<int32_t> qPositions, kPositions;
  Tile tile;
};

template <typename Parts>
int64_t countPartsWith(const Parts &parts, int64_t query, int64_t key) {
  int64_t count = 0;
  for (const TilePart &part : parts)
    count += part.query <= query && query < part.query + part.queries && part.key <= key &&
             key < part.key + part.keys;
  return count;
}

int64_t elementsOf(const TileCover &cover) {
  int64_t count = 0;
  for (const TilePart &part : cover.bands)
    count += part.queries * part.keys;
  return count;
}

/// Every element that is seen is in one band and in one strip; both hold the same elements.
void expectCovers(Seen &seen) {
  TileCover cover = seen.cover();
  bool hidden = false;
  for (int64_t query = 0; query < seen.tile.rows; ++query)
    for (int64_t key = 0; key < seen.tile.keys; ++key) {
      int64_t bands = countPartsWith(cover.bands, query, key),
              strips = countPartsWith(cover.strips, query, key);
      ASSERT_EQ(bands, strips) << "query " << query << " key " << key;
      ASSERT_LE(bands, 1);
      if (seen.sees(query, key))
        ASSERT_EQ(bands, 1) << "query " << query << " key " << key;
      hidden |= bands && !seen.sees(query, key);
    }
  EXPECT_LE(int(hidden), int(cover.masked));
  for (const TilePart &part : cover.strips)
    EXPECT_LE(part.query + part.queries, seen.tile.rows);
}

TEST(AttentionCover, OfATileThatIsSeenIsOnePart) {
  Seen seen(64, 64, true, 0);
  for (int32_t &position : seen.qPositions)
    position += 64;
  TileCover cover = seen.cover();
  EXPECT_EQ(cover.bands.count, 1);
  EXPECT_EQ(cover.strips.count, 1);
  EXPECT_FALSE(cover.masked);
  expectCovers(seen);
}

TEST(AttentionCover, OfTheDiagonalIsThreeQuarters) {
  Seen seen(64, 64, true, 0);
  EXPECT_EQ(elementsOf(seen.cover()), 3 * 64 * 64 / 4);
  EXPECT_TRUE(seen.cover().masked);
  expectCovers(seen);
}

TEST(AttentionCover, IsEmptyWhereNothingIsSeen) {
  Seen seen(64, 64, true, 0);
  for (int32_t &position : seen.kPositions)
    position += 64;
  EXPECT_EQ(seen.cover().bands.count, 0);
}

TEST(AttentionCover, OfAnyPositions) {
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    Seen seen(1 + random() % qTile, 1 + random() % kTile, random() % 4 != 0,
              random() % 2 ? random() % 90 : 0);
    int32_t shift = int32_t(random() % 130) - 65;
    for (int32_t &position : seen.kPositions)
      position += shift;
    if (random() % 3 == 0)
      std::shuffle(seen.qPositions.begin(), seen.qPositions.end(), random);
    if (random() % 3 == 0)
      std::shuffle(seen.kPositions.begin(), seen.kPositions.end(), random);
    expectCovers(seen);
  }
}

} // namespace
