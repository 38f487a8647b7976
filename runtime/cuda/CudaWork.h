/// What a program calls by number: entries of the manifest's lists `kernels` and `products`.
#ifndef PAR_CUDA_CUDAWORK_H
#define PAR_CUDA_CUDAWORK_H

#include "par/runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace par::cuda {

enum class BufferAccess { read, write, update };

struct KernelBuffer {
  int64_t bytes;
  BufferAccess access;
  bool onHost;
};

struct KernelWork {
  std::string name; ///< in the PTX
  std::string plan; ///< how its threads share the work, for people
  uint32_t grid[3], block[3], sharedBytes;
  bool takesCoordinates; ///< behind its buffers
  std::vector<KernelBuffer> buffers;
};

enum class ProductType { f32, bf16 };
enum class Beta { none, one, value };

/// Row-major C = op(A) op(B) + beta D for every matrix of a batch, as par_gemm has it.
struct ProductWork {
  int64_t m, n, k, batch;
  bool transposeA, transposeB;
  ProductType type, result; ///< of A and B; of C and D
  int64_t lda, strideA, ldb, strideB, ldc, strideC;
  Beta beta;
};

struct ProgramWork {
  std::vector<KernelWork> kernels;
  std::vector<ProductWork> products;
};

} // namespace par::cuda
#endif
