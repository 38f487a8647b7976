// On a machine with cuBLASLt's headers: what is declared here is what they say. Elsewhere this file is empty.
#if __has_include(<cublasLt.h>)
#include "cuda/CublasLtTypes.h"

// Before the headers, which have macros.
namespace par::cuda {
#define PAR_CUBLASLT_FUNCTION(name, ...) using type_of_##name = void(__VA_ARGS__);
#include "cuda/CublasLtFunctions.def"
} // namespace par::cuda

#include "cuda/SameSignature.h"

#include <cstddef>
#include <cublasLt.h>

namespace par::cuda {

#define PAR_CUBLASLT_FUNCTION(name, ...)                                                                     \
  static_assert(passedAlike<type_of_##name, decltype(::name)>, #name " is declared otherwise in "            \
                                                                     "cublasLt.h");
#include "cuda/CublasLtFunctions.def"

#define PAR_SAME(name) static_assert(int(name) == int(::name), #name " is another number in cublasLt.h");
PAR_SAME(CUBLAS_STATUS_INVALID_VALUE)
PAR_SAME(CUBLAS_STATUS_NOT_SUPPORTED)
PAR_SAME(CUDA_R_32F)
PAR_SAME(CUDA_R_16BF)
PAR_SAME(CUBLAS_COMPUTE_32F)
PAR_SAME(CUBLAS_OP_T)
PAR_SAME(CUBLASLT_POINTER_MODE_DEVICE)
PAR_SAME(CUBLASLT_MATMUL_DESC_POINTER_MODE)
PAR_SAME(CUBLASLT_MATMUL_DESC_TRANSA)
PAR_SAME(CUBLASLT_MATMUL_DESC_TRANSB)
PAR_SAME(CUBLASLT_EPILOGUE_DEFAULT)
PAR_SAME(CUBLASLT_EPILOGUE_BIAS)
PAR_SAME(CUBLASLT_EPILOGUE_GELU_BIAS)
PAR_SAME(CUBLASLT_EPILOGUE_GELU_AUX_BIAS)
PAR_SAME(CUBLASLT_EPILOGUE_DGELU)
PAR_SAME(CUBLASLT_EPILOGUE_BGRADA)
PAR_SAME(CUBLASLT_EPILOGUE_BGRADB)
PAR_SAME(CUBLASLT_MATMUL_DESC_EPILOGUE)
PAR_SAME(CUBLASLT_MATMUL_DESC_BIAS_POINTER)
PAR_SAME(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER)
PAR_SAME(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD)
PAR_SAME(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
PAR_SAME(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
PAR_SAME(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
PAR_SAME(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
PAR_SAME(CUBLASLT_REDUCTION_SCHEME_NONE)
PAR_SAME(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
PAR_SAME(MAJOR_VERSION)
PAR_SAME(MINOR_VERSION)
PAR_SAME(PATCH_LEVEL)
PAR_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES)
PAR_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES)
PAR_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES)
PAR_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES)

static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(::cublasLtMatmulAlgo_t) &&
                  sizeof(cublasLtMatmulHeuristicResult_t) == sizeof(::cublasLtMatmulHeuristicResult_t) &&
                  offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) ==
                      offsetof(::cublasLtMatmulHeuristicResult_t, workspaceSize) &&
                  offsetof(cublasLtMatmulHeuristicResult_t, state) ==
                      offsetof(::cublasLtMatmulHeuristicResult_t, state),
              "results of heuristics are laid out otherwise in cublasLt.h");

} // namespace par::cuda
#endif
