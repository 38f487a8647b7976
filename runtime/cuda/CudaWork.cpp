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
  for (const EpilogueLaunch &launch : separate)
    others += (others.empty() ? " or " : ", ") + launch.how;
  return std::to_string(batch) + " of " + sizesOf(*this) + rowsOf("A", lda, strideA, transposeA) +
         rowsOf("B", ldb, strideB, transposeB) + rowsOf("C", ldc, strideC, false) + betas[int(beta)] + ", " +
         nameOf(type) + " to " + nameOf(result) + ", " + epilogueNames[size_t(epilogue)] + others +
         ", workspace " + std::to_string(workspace);
}

} // namespace par::cuda
