/// What a program calls by number: entries of the manifest's lists `kernels` and `products`.
#ifndef PAR_CUDA_CUDAWORK_H
#define PAR_CUDA_CUDAWORK_H

#include "par/runtime.h"

#include <array>
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

/// What the same call computes of the product, in f32 and rounded once: a row-vector added to each row of C
/// and GELU (tanh) of that, or the product times GELU's derivative at what `aux` has, or beside the product
/// sums over k of the rows of op(A) or the columns of op(B).
enum class Epilogue { none, bias, biasGelu, biasGeluAux, geluGradient, sumsOfA, sumsOfB };
/// As manifests call them.
constexpr std::array<const char *, 7> epilogueNames = {
    "none", "bias", "bias_gelu", "bias_gelu_aux", "gelu_gradient", "sums_a", "sums_b"};

/// How a product is computed is a number: that of cuBLASLt's algorithm, the one that it thinks best first.
/// From `firstSeparate` on these are algorithms of the product alone, and kernels compute its epilogue behind
/// it.
constexpr int mostAlgorithms = 8, firstSeparate = mostAlgorithms;
constexpr bool isSeparate(int way) { return way >= firstSeparate; }

/// A kernel's launch, on some of the buffers that a product's call has.
struct EpilogueLaunch {
  struct Buffer {
    size_t number; ///< among those of the call
    int64_t bytes;
  };
  static constexpr size_t mostBuffers = 16;
  int32_t kernel;
  std::vector<Buffer> buffers;
  std::string how; ///< "elementwise, 6 x 128": what its time depends on
};

/// Row-major C = op(A) op(B) + beta D for every matrix of a batch, as par_gemm has it.
struct ProductWork {
  int64_t m, n, k, batch;
  bool transposeA, transposeB;
  ProductType type, result; ///< of A and B; of C and D
  int64_t lda, strideA, ldb, strideB, ldc, strideC;
  Beta beta;
  Epilogue epilogue = Epilogue::none;
  int64_t workspace = 0; ///< bytes of the buffer that calls have for it; 0: they have none
  /// What computes the epilogue where C has the product alone, rounded; empty: nothing can.
  std::vector<EpilogueLaunch> separate{};

  /// What the epilogue has beside A, B, C and D.
  bool hasVector() const { return epilogue != Epilogue::none && epilogue != Epilogue::geluGradient; }
  bool hasAux() const { return epilogue == Epilogue::biasGeluAux || epilogue == Epilogue::geluGradient; }
  /// The number of that buffer.
  size_t workspacePlace() const { return epilogue == Epilogue::none ? 4 : 6; }
  /// "256 x 128 x 64 of bf16 with bias", for people.
  std::string describe() const;
  /// All that tells it, and how it may be computed, from other products.
  std::string key() const;
};

struct ProgramWork {
  std::vector<KernelWork> kernels;
  std::vector<ProductWork> products;
};

} // namespace par::cuda
#endif
