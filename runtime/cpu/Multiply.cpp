#include "cpu/Multiply.h"

#include "par/io/Files.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace par::cpu {

namespace {
struct Library {
  /// dnnl_sgemm of dnnl.h, the same in its versions 2 and 3.
  int (*product)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t,
                 float, float *, int64_t) = nullptr;
  /// Of the OpenMP library that it was built with; the setting belongs to the calling thread.
  void (*setThreads)(int) = nullptr;

  Library() {
    void *handle = nullptr;
    for (const char *name : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"})
      if (!handle)
        handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return;
    product = reinterpret_cast<decltype(product)>(dlsym(handle, "dnnl_sgemm"));
    setThreads = reinterpret_cast<decltype(setThreads)>(dlsym(handle, "omp_set_num_threads"));
  }
};
} // namespace

static const Library &library() {
  static const Library opened;
  return opened;
}

bool hasLibrary() { return library().product; }

void multiply(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
              int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  if (library().setThreads)
    library().setThreads(1); // ranks and their pools share a product out themselves
  int status = library().product(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, alpha, a, lda, b,
                                 ldb, beta, c, ldc);
  if (status == 0)
    return;
  // Only wrong leading dimensions or no memory can get here: nothing that a program could recover from.
  std::fprintf(
      stderr,
      "error: oneDNN refused a product of %lld x %lld x %lld (status %d); compile the package again\n",
      static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k), status);
  io::removeTemporaries();
  std::_Exit(1);
}

} // namespace par::cpu
