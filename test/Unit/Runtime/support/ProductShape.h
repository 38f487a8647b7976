/// The shape of a product that a test computes.
#ifndef PAR_TEST_PRODUCTSHAPE_H
#define PAR_TEST_PRODUCTSHAPE_H

#include <cstdint>
#include <ostream>

namespace par::test {

struct ProductShape {
  bool transposeA, transposeB;
  int64_t m, n, k;
};

inline std::ostream &operator<<(std::ostream &out, const ProductShape &shape) {
  return out << (shape.transposeA ? "A^T " : "A ") << (shape.transposeB ? "B^T " : "B ") << shape.m << " x "
             << shape.n << " x " << shape.k;
}

} // namespace par::test
#endif
