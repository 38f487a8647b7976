#include "cuda/CublasLt.h"

namespace par::cuda {

LibraryName cublasLtName() {
  return {{"libcublasLt.so.13", "libcublasLt.so.12"},
          "CUDA 12.0",
          "NVIDIA's cuBLAS (libcublas-13-0 or libcublas-12-0)"};
}

io::Status openCublasLt(const LibraryName &library, CublasLt &functions) {
  std::vector<Symbol> symbols = {
#define PAR_CUBLASLT_FUNCTION(name, ...) {#name, reinterpret_cast<void **>(&functions.name)},
#include "cuda/CublasLtFunctions.def"
  };
  return openLibrary(library, symbols);
}

io::Status loadCublasLt(const CublasLt *&functions) {
  static CublasLt loaded;
  static const io::Status status = openCublasLt(cublasLtName(), loaded);
  functions = &loaded;
  return status;
}

io::Status versionOf(const CublasLt &lt, std::string &text) {
  text.clear();
  for (int part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    PAR_CUBLASLT(lt, cublasLtGetProperty, part, &number);
    text += (text.empty() ? "" : ".") + std::to_string(number);
  }
  return {};
}

io::Status statusOf(const char *function, cublasStatus_t result) {
  static const struct {
    cublasStatus_t result;
    const char *text;
  } names[] = {{1, "not initialized (CUBLAS_STATUS_NOT_INITIALIZED)"},
               {3, "out of memory (CUBLAS_STATUS_ALLOC_FAILED)"},
               {7, "invalid value (CUBLAS_STATUS_INVALID_VALUE)"},
               {8, "not for this GPU (CUBLAS_STATUS_ARCH_MISMATCH)"},
               {13, "execution failed (CUBLAS_STATUS_EXECUTION_FAILED)"},
               {14, "internal error (CUBLAS_STATUS_INTERNAL_ERROR)"},
               {15, "not supported (CUBLAS_STATUS_NOT_SUPPORTED)"}};
  if (result == CUBLAS_STATUS_SUCCESS)
    return {};
  for (const auto &one : names)
    if (one.result == result)
      return io::Status::error(std::string(function) + ": " + one.text);
  return io::Status::error(std::string(function) + ": status " + std::to_string(result) + " of cuBLASLt");
}

} // namespace par::cuda
