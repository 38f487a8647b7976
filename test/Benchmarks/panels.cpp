// The two products of a tile of attention's forward pass, 64 queries times 64 keys of heads of 64, where keys
// and values lie side by side and where other heads' and other operands' lie between them: one thread, tile
// after tile of a head of 512 keys. Printed: medians in nanoseconds per tile, and their ratio.
#include "cpu/AttentionTile.h"
#include "timing.h"

#include <cstdio>

using namespace par::cpu;
using namespace par::benchmarks;

namespace {

constexpr int64_t dim = 64, tiles = 8, rounds = 400;

struct TileCall {
  const float *operand; ///< keys or values
  int64_t stride;       ///< between two of them
  float *queries, *scores, *out;
};

template <typename L>
PAR_INLINE void scoresOf(const TileCall &tile) {
  multiplyPanels<L>(kTile, qTile, dim, {tile.operand, tile.stride, 1}, {tile.queries, qTile}, false,
                    {tile.scores, qTile});
}
template <typename L>
PAR_INLINE void outOf(const TileCall &tile) {
  multiplyPanels<L>(dim, qTile, kTile, {tile.operand, 1, tile.stride}, {tile.scores, qTile}, true,
                    {tile.out, qTile});
}

PAR_LEVELS(multiplyKeys, scoresOf, const TileCall &)
PAR_LEVELS(multiplyValues, outOf, const TileCall &)

void measure(int64_t stride, float *queries, float *scores, float *out) {
  Floats keys = allocate(tiles * kTile * stride), values = allocate(tiles * kTile * stride);
  std::vector<double> ofKeys, ofValues;
  for (int64_t round = 0; round < rounds; ++round) {
    double both[2] = {};
    for (int64_t tile = 0; tile < tiles; ++tile) {
      int64_t at = tile * kTile * stride;
      both[0] += seconds([&] { multiplyKeys({keys.get() + at, stride, queries, scores, out}); });
      both[1] += seconds([&] { multiplyValues({values.get() + at, stride, queries, scores, out}); });
      std::fill_n(out, dim * qTile, 0.0f);
    }
    ofKeys.push_back(both[0] / tiles), ofValues.push_back(both[1] / tiles);
  }
  double first = median(ofKeys) * 1e9, second = median(ofValues) * 1e9;
  std::printf("stride %5lld   scores %6.0f   values %6.0f   %.2f\n", static_cast<long long>(stride), first,
              second, second / first);
}

} // namespace

int main() {
  Floats queries = allocate(dim * qTile), scores = allocate(kTile * qTile), out = allocate(dim * qTile);
  for (int64_t stride : {64, 128, 256, 384, 1536, 2304})
    measure(stride, queries.get(), scores.get(), out.get());
  return 0;
}
