/// The matrix products of a program, by cuBLASLt.
#ifndef PAR_CUDA_PRODUCTS_H
#define PAR_CUDA_PRODUCTS_H

#include "cuda/CublasLt.h"
#include "cuda/CudaWork.h"
#include "cuda/Kernels.h"

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
  /// `kernels` launches epilogues that are computed behind products; null where none can be.
  explicit Products(Kernels *kernels = nullptr) : kernels(kernels) {}
  ~Products();
  /// Opens the library where there are products. `splitsSums`: a product may be summed by several blocks that
  /// have parts of k, whose sums are added up by a step of their own, in one order.
  io::Status load(const std::vector<ProductWork> &list, bool splitsSums = false);

  /// Buffers: A, B, D, C; D is null where nothing is added. `beta` scales it. Where the product has an
  /// epilogue its vector and its aux follow, null where there is none; then its workspace, and those that
  /// only launches of `separate` have. Enqueued on a stream, in the way that was chosen; where cuBLASLt has
  /// no algorithm with the epilogue for these buffers, that is computed separately.
  io::Status multiply(int32_t number, void *const *buffers, const Scale &beta, CUstream stream);
  const ProductWork *find(int32_t number) const {
    return number >= 0 && size_t(number) < products.size() ? &products[size_t(number)].work : nullptr;
  }
  size_t size() const { return products.size(); }

  /// The numbers of the ways (CudaWork.h) in which a product of these buffers can be computed, at least one.
  io::Status findWays(int32_t number, void *const *buffers, std::vector<int> &ways);
  /// From now on. Where there is no such algorithm for some call, the first.
  void chooseWay(int32_t number, int way) { products[size_t(number)].way = way; }
  /// "cuBLASLt 13.0.2", once there are products.
  io::Status version(std::string &text) const;

private:
  /// In bytes: of A, B, C and D, and of what the epilogue has.
  using Alignment = std::pair<uint32_t, uint32_t>;
  using Algorithms = std::vector<cublasLtMatmulAlgo_t>; ///< the best first; empty: it has none
  struct Call {
    cublasLtMatmulDesc_t description = nullptr; ///< made when it is needed
    std::map<Alignment, Algorithms> algorithms; ///< that were asked for
  };
  /// As cuBLASLt has it: column-major, so everything is transposed, and A is the program's B.
  struct Product {
    ProductWork work;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr; ///< c: of both C and D
    Call calls[2][2]; ///< with its epilogue, or alone; scales are the host's, or the device's
    int way = 0;
  };
  /// What is asked of cuBLASLt for a call.
  struct Choice {
    bool alone; ///< without the epilogue
    int pointerMode;
  };
  io::Status prepare(Product &product);
  io::Status describeCall(Product &product, Choice choice);
  io::Status makeLayout(cublasLtMatrixLayout_t &layout, ProductType type, int64_t rows, int64_t columns,
                        int64_t ld, int64_t batch, int64_t stride);
  io::Status describeEpilogue(const ProductWork &work, cublasLtMatmulDesc_t description);
  io::Status point(const ProductWork &work, cublasLtMatmulDesc_t description, void *const *buffers);
  io::Status setPreference(cublasLtMatmulPreference_t preference, const ProductWork &work,
                           uint32_t alignment);
  io::Status ask(const Product &product, const Call &call, uint32_t alignment, Algorithms &algorithms);
  io::Status findAlgorithms(Product &product, Choice choice, void *const *buffers, const Algorithms *&found);
  io::Status choose(Product &product, void *const *buffers, Choice &choice,
                    const cublasLtMatmulAlgo_t *&algorithm);

  /// With the product's number and what it is.
  io::Status told(int32_t number, const io::Status &status) const;

  Kernels *const kernels;
  const CublasLt *lt = nullptr;
  cublasLtHandle_t handle = nullptr;
  uint32_t reductions = 0; ///< of parts of k: those that are allowed
  std::vector<Product> products;
};

} // namespace par::cuda
#endif
