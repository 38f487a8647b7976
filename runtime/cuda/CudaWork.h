/// What a program calls by number: entries of the manifest's lists `kernels`, `products` and
/// `attentions`.
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

/// A kernel that computes what a call would have a library compute, or a part of it, on some of the call's
/// buffers.
struct InnerLaunch {
  struct Buffer {
    size_t number; ///< among those of the call
    int64_t bytes;
  };
  int32_t kernel;
  std::vector<Buffer> buffers;
  std::string how; ///< "elementwise, 6 x 128": what its time depends on
};

/// Row-major C = op(A) op(B) + beta D for every matrix of a batch, as par_gemm has it.
struct ProductWork {
  static constexpr size_t mostBuffers = 16; ///< that a call has
  int64_t m, n, k, batch;
  bool transposeA, transposeB;
  ProductType type, result; ///< of A and B; of C and D
  int64_t lda, strideA, ldb, strideB, ldc, strideC;
  Beta beta;
  Epilogue epilogue = Epilogue::none;
  int64_t workspace = 0; ///< bytes of the buffer that calls have for it; 0: they have none
  /// What computes the epilogue where C has the product alone, rounded; empty: nothing can.
  std::vector<InnerLaunch> separate{};

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

/// Rows of heads that lie side by side in a buffer of a call, by the buffer's number; in elements.
struct AttentionRows {
  int buffer = -1;
  int64_t offset = 0, stride = 0;
};

/// Attention in bf16, or its gradients, that a library may compute instead of the program's kernels. The
/// position of a row is its number, so the mask is a diagonal: with `causal` row i sees row j if j <= i and
/// (`window` = 0 or i - j < window), else all of them. Query head n uses kv head n / group.
struct AttentionWork {
  bool isBackward = false;
  int64_t batch, qRows, kRows, kvHeads, group, headDim;
  float scale;
  bool causal;
  int64_t window;
  AttentionRows q, k, v, out;
  AttentionRows dout, dq, dk, dv; ///< of a backward pass
  int lse;                        ///< buffer of f32 [batch, heads, q rows]
  int workspace;                  ///< buffer that the library has
  int64_t workspaceBytes;
  int64_t bufferCount;
  std::vector<InnerLaunch> launches; ///< without the library, one after the other

  /// "8 x 1024, 12 heads of 64, causal, backward", for people.
  std::string describe() const;
};

struct ProgramWork {
  std::vector<KernelWork> kernels;
  std::vector<ProductWork> products;
  std::vector<AttentionWork> attentions;
};

} // namespace par::cuda
#endif
