// Which parts of a tile are computed, against the rule of each element.
#include "cpu/AttentionCover.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace par::cpu;

namespace {

/// A tile of queries and keys with their positions, and their documents where there are some.
struct Seen {
  Seen(int64_t rows, int64_t keys, bool causal, int64_t window)
      : what{}, qPositions(size_t(rows)), kPositions(size_t(keys)), tile{0, rows, 0, keys} {
    what.batch = 1, what.q_rows = rows, what.k_rows = keys;
    what.causal = causal, what.window = window;
    std::iota(qPositions.begin(), qPositions.end(), 0);
    std::iota(kPositions.begin(), kPositions.end(), 0);
  }

  TileCover cover() {
    void *buffers[par_attention_backward_buffers] = {};
    buffers[par_attention_q_positions] = qPositions.data();
    buffers[par_attention_k_positions] = kPositions.data();
    if (!qDocuments.empty())
      buffers[par_attention_q_documents] = qDocuments.data(),
      buffers[par_attention_k_documents] = kDocuments.data();
    AttentionView attention(what, buffers);
    return coverOf(attention, KeyTiles(attention).of(0, 0), BlockQueries(attention, 0, tile.q, tile.rows),
                   tile);
  }

  bool sees(int64_t query, int64_t key) const {
    if (!qDocuments.empty() && qDocuments[size_t(query)] != kDocuments[size_t(key)])
      return false;
    int64_t q = qPositions[size_t(query)], k = kPositions[size_t(key)];
    return (!what.causal || k <= q) && (!what.window || q - k < what.window);
  }

  /// Documents of so many rows each, the first of `first`; positions begin at 0 in each.
  void divide(int64_t first, int64_t length) {
    for (auto [positions, documents] :
         {std::pair(&qPositions, &qDocuments), std::pair(&kPositions, &kDocuments)})
      for (size_t i = 0; i < positions->size(); ++i) {
        int64_t row = int64_t(i) - first;
        documents->push_back(int32_t(row < 0 ? 0 : 1 + row / length));
        (*positions)[i] = int32_t(row < 0 ? int64_t(i) : row % length);
      }
  }

  par_attention what;
  std::vector<int32_t> qPositions, kPositions, qDocuments, kDocuments;
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

TEST(AttentionCover, OfAWindowIsItsStrips) {
  Seen seen(64, 64, true, 33);
  for (int32_t &position : seen.qPositions)
    position += 64;
  // The first band sees strip 1, from which query 64 is 32 away; the second one nothing.
  EXPECT_EQ(elementsOf(seen.cover()), 32 * 32);
  expectCovers(seen);
}

TEST(AttentionCover, IsEmptyWhereWindowsEnd) {
  for (int64_t window : {64, 65}) {
    Seen seen(64, 64, true, window);
    for (int32_t &position : seen.qPositions)
      position += 127;
    EXPECT_EQ(seen.cover().bands.count, window == 65 ? 1 : 0) << window;
    expectCovers(seen);
  }
}

TEST(AttentionCover, OfDocumentsIsWhatTheirRowsSee) {
  Seen halves(64, 64, true, 0);
  halves.divide(0, 32);
  EXPECT_EQ(elementsOf(halves.cover()), 2 * 32 * 32);
  EXPECT_TRUE(halves.cover().masked);
  expectCovers(halves);
  Seen other(64, 64, false, 0);
  other.qDocuments.assign(64, 3), other.kDocuments.assign(64, 4);
  EXPECT_EQ(other.cover().bands.count, 0);
}

// A band's queries are of two documents, and what the second one's see by their positions is the first one's.
TEST(AttentionCover, OfBandsOfSeveralDocumentsIsJudgedQueryByQuery) {
  Seen seen(32, 64, true, 0);
  for (size_t i = 0; i < 32; ++i) {
    seen.qDocuments.push_back(i < 16 ? 0 : 1);
    seen.qPositions[i] = int32_t(i < 16 ? 500 + i : i - 16);
  }
  seen.kDocuments.assign(64, 1);
  std::iota(seen.kPositions.begin(), seen.kPositions.end(), 16);
  EXPECT_EQ(seen.cover().bands.count, 0);
  std::iota(seen.kPositions.begin(), seen.kPositions.end(), 15);
  EXPECT_EQ(elementsOf(seen.cover()), 32 * 32);
  expectCovers(seen);
}

TEST(AttentionCover, CountsPairsOfRowsThatAreThere) {
  Seen seen(40, 50, false, 0);
  EXPECT_EQ(countPairs(seen.cover(), seen.tile), 40 * 50);
}

TEST(AttentionCover, OfAnyPositions) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    Seen seen(1 + random() % qTile, 1 + random() % kTile, random() % 4 != 0,
              random() % 2 ? random() % 90 : 0);
    int32_t shift = int32_t(random() % 130) - 65;
    for (int32_t &position : seen.kPositions)
      position += shift;
    if (random() % 3 == 0)
      std::shuffle(seen.qPositions.begin(), seen.qPositions.end(), random);
    if (random() % 3 == 0)
      std::shuffle(seen.kPositions.begin(), seen.kPositions.end(), random);
    if (random() % 2) {
      seen.divide(random() % 20, 1 + random() % 50);
      if (random() % 3 == 0)
        std::shuffle(seen.qDocuments.begin(), seen.qDocuments.end(), random);
    }
    expectCovers(seen);
  }
}

} // namespace
