// Blocks packed as f32, at every processor's level.
#include "cpu/PackedBlocks.h"

namespace par::cpu {

template <typename Product>
struct PackCall {
  const Product &product;
  Terms terms;
  int64_t begin, end;
  float *to;
};

template <typename L, typename Product>
PAR_INLINE void packAOf(const PackCall<Product> &call) {
  packA<L>(call.product, call.terms, call.begin, call.end, call.to);
}
template <typename L, typename Product>
PAR_INLINE void packBOf(const PackCall<Product> &call) {
  packB<L>(call.product, call.terms, call.begin, call.end, call.to);
}
template <typename L>
PAR_INLINE void multiplyOf(const BlockProduct &product) {
  multiplyBlocks<FloatTile<L>>(product);
}

PAR_LEVELS(packFloatA, packAOf, const PackCall<par_product> &)
PAR_LEVELS(packFloatB, packBOf, const PackCall<par_product> &)
PAR_LEVELS(packWidenedA, packAOf, const PackCall<Bf16Product> &)
PAR_LEVELS(packWidenedB, packBOf, const PackCall<Bf16Product> &)
PAR_LEVELS(multiplyAtLevel, multiplyOf, const BlockProduct &)

template <typename Product, void packA(const PackCall<Product> &), void packB(const PackCall<Product> &)>
static const BlockKernels<Product> &kernelsAtLevel() {
  auto of = [](auto shape) {
    using Shape = decltype(shape);
    return BlockKernels<Product>{Shape::rows,
                                 Shape::columns,
                                 Shape::panelOfA,
                                 /*termsPerWord=*/1,
                                 /*granule=*/1,
                                 [](const Product &p, Terms terms, int64_t begin, int64_t end, float *to) {
                                   packA({p, terms, begin, end, to});
                                 },
                                 [](const Product &p, Terms terms, int64_t begin, int64_t end, float *to) {
                                   packB({p, terms, begin, end, to});
                                 },
                                 [](const BlockProduct &p) { multiplyAtLevel(p); }};
  };
  static const BlockKernels<Product> base = of(TileShape<Lanes<16>>()), v3 = of(TileShape<Lanes<32>>()),
                                     v4 = of(TileShape<Lanes<64>>());
  return *chooseLevel(&base, &v3, &v4);
}

const BlockKernels<par_product> &floatKernels() {
  return kernelsAtLevel<par_product, packFloatA, packFloatB>();
}
const BlockKernels<Bf16Product> &widenedKernels() {
  return kernelsAtLevel<Bf16Product, packWidenedA, packWidenedB>();
}

const BlockKernels<Bf16Product> &bf16Kernels() {
  switch (usedBf16Units()) {
  case Bf16Units::tiles:
    return tileKernels();
  case Bf16Units::dot:
    return dotKernels();
  case Bf16Units::none:
    return widenedKernels();
  }
  __builtin_unreachable();
}

} // namespace par::cpu
