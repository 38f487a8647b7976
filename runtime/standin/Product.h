/// A matrix product as cuBLASLt means it: column-major, summed in f32.
#ifndef PAR_STANDIN_PRODUCT_H
#define PAR_STANDIN_PRODUCT_H

#include "standin/Library.h"

#include <cstddef>
#include <string>
#include <vector>

namespace par::standin {

/// Matrices of a batch, column-major; strides in elements.
struct Matrix {
  bool isBf16 = false;
  int64_t rows = 0, columns = 0, ld = 0;
  int32_t batch = 1;
  int64_t stride = 0;

  int64_t bytesEach() const { return isBf16 ? 2 : 4; }
  /// Whether its columns lie one behind the other.
  bool isDense() const { return ld == rows; }
  /// A range for each column, or one for each matrix where it is dense.
  void appendRanges(uint64_t address, bool writes, std::vector<par_standin_range> &ranges) const;
};

/// D = epilogue(alpha op(A) op(B) + beta C)
struct Product {
  bool transposeA, transposeB;
  Matrix a, b, c, d;
  float alpha, beta;
  uint32_t epilogue;    ///< a cublasLtEpilogue_t
  uint64_t vector, aux; ///< addresses, 0 for none
  int64_t auxLd;

  bool readsVector() const, writesVector() const, readsAux() const, writesAux() const;
  int64_t vectorElements() const;
  /// Of what GELU is of: as D, but for the distance of its columns.
  Matrix auxMatrix() const;

  /// Empty, or which rule of the documentation it breaks.
  std::string problem() const;
  /// The same of where its buffers lie; D is at `to`.
  std::string problemOfPlaces(uint64_t to) const;

private:
  std::string problemOfEpilogue() const;
};

/// In which order an algorithm adds up along k: from the first to the last, in two parts of which one waits
/// in the workspace, or from the last to the first.
enum class SumOrder { forward, halves, backward };

/// A product on its way through a stream.
struct ProductRun {
  Product product;
  size_t first[7];             ///< number of the first range of A, B, C, D, vector, aux and the workspace
  bool scaledByDevice = false; ///< alpha and beta are the last two ranges
  size_t ranges = 0;
  SumOrder order = SumOrder::forward;
  uint64_t workspace = 0; ///< bytes that it writes
  double seconds = 0;     ///< that it takes

  void compute(char *const *hosts) const;

private:
  float sum(char *const *hosts, int32_t batch, int64_t row, int64_t column) const;
  float finish(float sum, char *const *hosts, int64_t row, int64_t column) const;
  void sumOperand(char *const *hosts) const;
  /// Element of matrix `which`, at the host's addresses of its ranges.
  char *element(char *const *hosts, int which, const Matrix &matrix, int32_t batch, int64_t row,
                int64_t column) const;
};

} // namespace par::standin
#endif
