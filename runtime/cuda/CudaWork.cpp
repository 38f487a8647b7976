#include "cuda/CudaWork.h"

namespace par::cuda {

static const char *nameOf(ProductType type) { return type == ProductType::f32 ? "f32" : "bf16"; }

static std::string sizesOf(const ProductWork &work) {
  return std::to_string(work.m) + " x " + std::to_string(work.n) + " x " + std::to_string(work.k);
}

std::string ProductWork::describe() const {
  return sizesOf(*this) + " of " + nameOf(type) +
         (epilogue == Epilogue::none ? std::string()
                                     : std::string(" with ") + epilogueNames[size_t(epilogue)]);
}

static std::string rowsOf(const char *name, int64_t ld, int64_t stride, bool transpose) {
  return std::string(" ") + name + (transpose ? "^T " : " ") + std::to_string(ld) + "," +
         std::to_string(stride);
}

std::string ProductWork::key() const {
  static constexpr const char *betas[] = {"", " + D", " + beta D"};
  std::string others;
  for (const InnerLaunch &launch : separate)
    others += (others.empty() ? " or " : ", ") + launch.how;
  return std::to_string(batch) + " of " + sizesOf(*this) + rowsOf("A", lda, strideA, transposeA) +
         rowsOf("B", ldb, strideB, transposeB) + rowsOf("C", ldc, strideC, false) + betas[int(beta)] + ", " +
         nameOf(type) + " to " + nameOf(result) + ", " + epilogueNames[size_t(epilogue)] + others +
         ", workspace " + std::to_string(workspace);
}

std::string AttentionWork::describe() const {
  std::string rows =
      qRows == kRows ? std::to_string(qRows) : std::to_string(qRows) + " rows of " + std::to_string(kRows);
  return std::to_string(batch) + " x " + rows + ", " + std::to_string(kvHeads * group) + " heads of " +
         std::to_string(headDim) + (group > 1 ? " in groups of " + std::to_string(group) : "") +
         (causal ? ", causal" : "") + (window ? ", window " + std::to_string(window) : "") +
         (isBackward ? ", backward" : "");
}

} // namespace par::cuda
