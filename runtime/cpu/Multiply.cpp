#include "cpu/Multiply.h"

#include "par/io/Files.h"

#include <cstdio>
#include <cstdlib>
#include <dnnl.h>

namespace par::cpu {

void multiply(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
              int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  dnnl_status_t status = dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, alpha, a, lda, b,
                                    ldb, beta, c, ldc);
  if (status == dnnl_success)
    return;
  // Only wrong leading dimensions or no memory can get here: nothing that a program could recover from.
  std::fprintf(
      stderr,
      "error: oneDNN refused a product of %lld x %lld x %lld (status %d); compile the package again\n",
      static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k), int(status));
  io::removeTemporaryFiles();
  std::_Exit(1);
}

} // namespace par::cpu
