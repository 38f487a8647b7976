/// cuBLASLt: the table of its functions, and what its results mean.
#ifndef PAR_CUDA_CUBLASLT_H
#define PAR_CUDA_CUBLASLT_H

#include "cuda/CublasLtTypes.h"
#include "cuda/Library.h"

namespace par::cuda {

struct CublasLt {
#define PAR_CUBLASLT_FUNCTION(name, ...) cublasStatus_t (*name)(__VA_ARGS__) = nullptr;
#include "cuda/CublasLtFunctions.def"
};

/// Its own names, and what is to be installed where it is missing.
LibraryName cublasLtName();
io::Status openCublasLt(const LibraryName &library, CublasLt &functions);

/// Opens it once; the same answer ever after. From any thread.
io::Status loadCublasLt(const CublasLt *&functions);

/// "13.0.2"
io::Status versionOf(const CublasLt &lt, std::string &text);

/// Empty for a success; else "cublasLtMatmul: not supported (CUBLAS_STATUS_NOT_SUPPORTED)".
io::Status statusOf(const char *function, cublasStatus_t result);

} // namespace par::cuda

/// Calls a function of cuBLASLt; returns a Status that names it from the calling function where it fails.
#define PAR_CUBLASLT(lt, function, ...) PAR_TRY(::par::cuda::statusOf(#function, (lt).function(__VA_ARGS__)))

#endif
