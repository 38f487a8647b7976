/// The matrix products of a program, by cuBLASLt.
#ifndef PAR_CUDA_PRODUCTS_H
#define PAR_CUDA_PRODUCTS_H

#include "cuda/CublasLt.h"
#include "cuda/CudaWork.h"

#include <map>
#include <vector>

namespace par::cuda {

/// What scales what is added: a number that the host knows, or where the device has it, beside a 1.
struct Scale {
  float value = 0;
  const void *where = nullptr, *one = nullptr;
};

class Products {
public:
  ~Products();
  /// Opens the library where there are products.
  io::Status load(const std::vector<ProductWork> &list);

  /// Buffers: A, B, D, C; D is null where nothing is added. `beta` scales it. Where the product has an
  /// epilogue its vector and its aux follow, null where there is none. Enqueued on a stream.
  io::Status multiply(int32_t number, void *const *buffers, const Scale &beta, CUstream stream);
  const ProductWork *find(int32_t number) const {
    return number >= 0 && size_t(number) < products.size() ? &products[size_t(number)].work : nullptr;
  }
  size_t size() const { return products.size(); }

private:
  /// In bytes: of A, B, C and D, and of what the epilogue has.
  using Alignment = std::pair<uint32_t, uint32_t>;
  /// As cuBLASLt has it: column-major, so everything is transposed, and A is the program's B.
  struct Product {
    ProductWork work;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr; ///< c: of both C and D
    struct Way {
      cublasLtMatmulDesc_t description = nullptr;
      std::map<Alignment, cublasLtMatmulAlgo_t> algorithms;
    } ways[2]; ///< scales are the host's, or the device's, which is made when it is needed
  };
  io::Status prepare(Product &product);
  io::Status describeWay(Product &product, int pointerMode);
  io::Status makeLayout(cublasLtMatrixLayout_t &layout, ProductType type, int64_t rows, int64_t columns,
                        int64_t ld, int64_t batch, int64_t stride);
  io::Status describeEpilogue(const ProductWork &work, cublasLtMatmulDesc_t description);
  io::Status point(const ProductWork &work, cublasLtMatmulDesc_t description, void *const *buffers);
  io::Status choose(Product &product, Product::Way &way, Alignment alignment,
                    const cublasLtMatmulAlgo_t *&algorithm);

  const CublasLt *lt = nullptr;
  cublasLtHandle_t handle = nullptr;
  std::vector<Product> products;
};

} // namespace par::cuda
#endif
