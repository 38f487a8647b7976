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
  /// cuBLASLt is asked for so many ways to compute a product; the first is the one that it thinks best.
  static constexpr int mostWays = 8;

  ~Products();
  /// Opens the library where there are products. `splitsSums`: a product may be summed by several blocks that
  /// have parts of k, whose sums are added up by a step of their own, in one order.
  io::Status load(const std::vector<ProductWork> &list, bool splitsSums = false);

  /// Buffers: A, B, D, C; D is null where nothing is added. `beta` scales it. Where the product has an
  /// epilogue its vector and its aux follow, null where there is none; then its workspace. Enqueued on a
  /// stream.
  io::Status multiply(int32_t number, void *const *buffers, const Scale &beta, CUstream stream);
  const ProductWork *find(int32_t number) const {
    return number >= 0 && size_t(number) < products.size() ? &products[size_t(number)].work : nullptr;
  }
  size_t size() const { return products.size(); }

  /// In how many ways cuBLASLt computes a product of these buffers, at most mostWays.
  io::Status countWays(int32_t number, void *const *buffers, int &count);
  /// From now on: which of its ways, from 0 on. Where it has fewer for some call, its first.
  void chooseWay(int32_t number, int way) { products[size_t(number)].way = size_t(way); }
  /// "cuBLASLt 13.0.2", once there are products.
  io::Status version(std::string &text) const;

private:
  /// In bytes: of A, B, C and D, and of what the epilogue has.
  using Alignment = std::pair<uint32_t, uint32_t>;
  /// As cuBLASLt has it: column-major, so everything is transposed, and A is the program's B.
  struct Product {
    ProductWork work;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr; ///< c: of both C and D
    struct Call {
      cublasLtMatmulDesc_t description = nullptr;
      std::map<Alignment, std::vector<cublasLtMatmulAlgo_t>> algorithms; ///< the best first
    } calls[2]; ///< scales are the host's, or the device's, which is made when it is needed
    size_t way = 0;
  };
  io::Status prepare(Product &product);
  io::Status describeCall(Product &product, int pointerMode);
  io::Status makeLayout(cublasLtMatrixLayout_t &layout, ProductType type, int64_t rows, int64_t columns,
                        int64_t ld, int64_t batch, int64_t stride);
  io::Status describeEpilogue(const ProductWork &work, cublasLtMatmulDesc_t description);
  io::Status point(const ProductWork &work, cublasLtMatmulDesc_t description, void *const *buffers);
  using Algorithms = std::vector<cublasLtMatmulAlgo_t>;
  io::Status setPreference(cublasLtMatmulPreference_t preference, const ProductWork &work,
                           uint32_t alignment);
  io::Status ask(const Product &product, const Product::Call &call, uint32_t alignment,
                 Algorithms &algorithms);
  io::Status findAlgorithms(Product &product, int pointerMode, void *const *buffers,
                            const Algorithms *&found);

  /// With the product's number and what it is.
  io::Status told(int32_t number, const io::Status &status) const;

  const CublasLt *lt = nullptr;
  cublasLtHandle_t handle = nullptr;
  uint32_t reductions = 0; ///< of parts of k: those that are allowed
  std::vector<Product> products;
};

} // namespace par::cuda
#endif
