#include "standin/Product.h"

#include "comm/Reduce.h"

#include "cuda/CublasLtTypes.h"

#include <cmath>
#include <cstring>
#include <tuple>

namespace par::standin {

void Matrix::appendRanges(uint64_t address, bool writes, std::vector<par_standin_range> &ranges) const {
  for (int32_t i = 0; i < batch; ++i) {
    uint64_t begin = address + uint64_t(i * stride * bytesEach());
    if (isDense()) {
      ranges.push_back({begin, uint64_t(rows * columns * bytesEach()), writes});
      continue;
    }
    for (int64_t column = 0; column < columns; ++column)
      ranges.push_back({begin + uint64_t(column * ld * bytesEach()), uint64_t(rows * bytesEach()), writes});
  }
}

using namespace cuda;

bool Product::readsVector() const {
  return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS ||
         epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
}
bool Product::writesVector() const {
  return epilogue == CUBLASLT_EPILOGUE_BGRADA || epilogue == CUBLASLT_EPILOGUE_BGRADB;
}
bool Product::readsAux() const { return epilogue == CUBLASLT_EPILOGUE_DGELU; }
bool Product::writesAux() const { return epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS; }

int64_t Product::vectorElements() const { return epilogue == CUBLASLT_EPILOGUE_BGRADB ? d.columns : d.rows; }

Matrix Product::auxMatrix() const {
  Matrix matrix = d;
  matrix.ld = auxLd;
  return matrix;
}

static std::string shapeOf(int64_t rows, int64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

std::string Product::problem() const {
  int64_t m = transposeA ? a.columns : a.rows, k = transposeA ? a.rows : a.columns;
  int64_t kOfB = transposeB ? b.columns : b.rows, n = transposeB ? b.rows : b.columns;
  if (k != kOfB || d.rows != m || d.columns != n)
    return "op(A) is " + shapeOf(m, k) + ", op(B) " + shapeOf(kOfB, n) + " and D " +
           shapeOf(d.rows, d.columns);
  if (c.rows != d.rows || c.columns != d.columns)
    return "C is " + shapeOf(c.rows, c.columns) + " and D " + shapeOf(d.rows, d.columns);
  if (a.isBf16 != b.isBf16 || c.isBf16 != d.isBf16 || (!a.isBf16 && d.isBf16))
    return "this combination of types is not supported";
  static const char names[] = "ABCD";
  const Matrix *all[] = {&a, &b, &c, &d};
  for (int i = 0; i < 4; ++i) {
    std::string name(1, names[i]);
    if (all[i]->ld < all[i]->rows)
      return "the leading dimension of " + name + " is " + std::to_string(all[i]->ld) + ", below its " +
             std::to_string(all[i]->rows) + " rows";
    if (all[i]->batch != d.batch)
      return name + " has " + std::to_string(all[i]->batch) + " matrices, D has " + std::to_string(d.batch);
  }
  if (epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    if (std::string problem = problemOfEpilogue(); !problem.empty())
      return problem;
  if (d.batch > 1 && d.stride < d.ld * (d.columns - 1) + d.rows)
    return "matrices of D lie over each other";
  return "";
}

static bool overlap(uint64_t a, int64_t aBytes, uint64_t b, int64_t bBytes) {
  return a < b + uint64_t(bBytes) && b < a + uint64_t(aBytes);
}

std::string Product::problemOfEpilogue() const {
  if (!readsVector() && !writesVector() && !readsAux())
    return "epilogue " + std::to_string(epilogue) + " is not known here";
  if (d.batch != 1)
    return "an epilogue of a batch is not known here";
  if ((readsVector() || writesVector()) && vector % uint64_t(d.bytesEach()) != 0)
    return "the vector of the epilogue is at no multiple of an element";
  if (!readsAux() && !writesAux())
    return "";
  if (auxLd % 8 != 0 || auxLd < d.rows)
    return "the leading dimension of the epilogue's aux is " + std::to_string(auxLd) +
           ", expected a multiple of 8 and no less than the " + std::to_string(d.rows) + " rows of D";
  if (aux % uint64_t(d.bytesEach()) != 0)
    return "the epilogue's aux is at no multiple of an element";
  return "";
}

std::string Product::problemOfPlaces(uint64_t to) const {
  if ((readsVector() || writesVector()) && !vector)
    return "the epilogue has no vector";
  if (!readsAux() && !writesAux())
    return "";
  if (!aux)
    return "the epilogue has no aux";
  int64_t columns = d.columns - 1;
  if (overlap(to, (columns * d.ld + d.rows) * d.bytesEach(), aux, (columns * auxLd + d.rows) * d.bytesEach()))
    return "D lies over the epilogue's aux";
  return "";
}

char *ProductRun::element(char *const *hosts, int which, const Matrix &matrix, int32_t batch, int64_t row,
                          int64_t column) const {
  if (matrix.isDense())
    return hosts[first[which] + size_t(batch)] + (row + column * matrix.rows) * matrix.bytesEach();
  return hosts[first[which] + size_t(batch * matrix.columns + column)] + row * matrix.bytesEach();
}

static float load(const char *from, bool isBf16) {
  if (!isBf16) {
    float value;
    std::memcpy(&value, from, 4);
    return value;
  }
  uint16_t narrow;
  std::memcpy(&narrow, from, 2);
  return comm::widenBf16(narrow);
}

static void store(char *to, float value, bool isBf16) {
  uint16_t narrow = isBf16 ? comm::roundToBf16(value) : uint16_t(0);
  std::memcpy(to, isBf16 ? static_cast<const void *>(&narrow) : &value, isBf16 ? 2 : 4);
}

float ProductRun::sum(char *const *hosts, int32_t batch, int64_t row, int64_t column) const {
  const auto &[a, b] = std::tie(product.a, product.b);
  int64_t depth = product.transposeA ? a.rows : a.columns;
  float sums[2] = {0, 0};
  for (int64_t step = 0; step < depth; ++step) {
    int64_t l = order == SumOrder::backward ? depth - 1 - step : step;
    sums[order == SumOrder::halves && 2 * l >= depth] +=
        load(element(hosts, 0, a, batch, product.transposeA ? l : row, product.transposeA ? row : l),
             a.isBf16) *
        load(element(hosts, 1, b, batch, product.transposeB ? column : l, product.transposeB ? l : column),
             b.isBf16);
  }
  return sums[0] + sums[1];
}

/// What lay in the workspace is gone.
void ProductRun::compute(char *const *hosts) const {
  const Matrix &c = product.c, &d = product.d;
  float alpha = product.alpha, beta = product.beta;
  if (scaledByDevice)
    alpha = load(hosts[ranges - 2], false), beta = load(hosts[ranges - 1], false);
  if (workspace)
    std::memset(hosts[first[6]], 0xA5, workspace);
  for (int32_t batch = 0; batch < d.batch; ++batch)
    for (int64_t j = 0; j < d.columns; ++j)
      for (int64_t i = 0; i < d.rows; ++i) {
        float value = alpha * sum(hosts, batch, i, j);
        if (beta != 0)
          value += beta * load(element(hosts, 2, c, batch, i, j), c.isBf16);
        store(element(hosts, 3, d, batch, i, j), finish(value, hosts, i, j), d.isBf16);
      }
  if (product.writesVector())
    sumOperand(hosts);
}

static float tanhOfGelu(float x) { return std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)); }

/// In f32: what GELU is of is not rounded before, though its copy is.
float ProductRun::finish(float sum, char *const *hosts, int64_t row, int64_t column) const {
  bool isBf16 = product.d.isBf16;
  Matrix aux = product.auxMatrix();
  if (product.readsVector())
    sum += load(hosts[first[4]] + row * product.d.bytesEach(), isBf16);
  if (product.writesAux())
    store(element(hosts, 5, aux, 0, row, column), sum, isBf16);
  if (product.epilogue == CUBLASLT_EPILOGUE_GELU_BIAS || product.writesAux())
    return 0.5f * sum * (1 + tanhOfGelu(sum));
  if (!product.readsAux())
    return sum;
  float x = load(element(hosts, 5, aux, 0, row, column), isBf16), t = tanhOfGelu(x);
  return sum * (0.5f * (1 + t) + 0.5f * x * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * x * x));
}

/// Of each row of op(A), or column of op(B), over k.
void ProductRun::sumOperand(char *const *hosts) const {
  bool ofA = product.epilogue == CUBLASLT_EPILOGUE_BGRADA;
  const Matrix &matrix = ofA ? product.a : product.b;
  bool alongRows = ofA ? product.transposeA : !product.transposeB; // as it lies: over the rows of a column
  int64_t depth = product.transposeA ? product.a.rows : product.a.columns;
  for (int64_t i = 0; i < product.vectorElements(); ++i) {
    float sum = 0;
    for (int64_t l = 0; l < depth; ++l)
      sum +=
          load(element(hosts, ofA ? 0 : 1, matrix, 0, alongRows ? l : i, alongRows ? i : l), matrix.isBf16);
    store(hosts[first[4]] + i * product.d.bytesEach(), sum, product.d.isBf16);
  }
}

} // namespace par::standin
