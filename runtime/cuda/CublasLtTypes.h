/// What par uses of NVIDIA's cublasLt.h, declared here as in CudaTypes.h. HeaderCheckLt.cpp compares it.
#ifndef PAR_CUDA_CUBLASLTTYPES_H
#define PAR_CUDA_CUBLASLTTYPES_H

#include "cuda/CudaTypes.h"

namespace par::cuda {

using cublasStatus_t = int;
using cublasLtHandle_t = struct cublasLtContext *;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque_t *;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque_t *;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque_t *;

struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};

struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

constexpr cublasStatus_t CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7,
                         CUBLAS_STATUS_NOT_SUPPORTED = 15;

// cudaDataType and cublasComputeType_t.
constexpr int CUDA_R_32F = 0, CUDA_R_16BF = 14, CUBLAS_COMPUTE_32F = 68;
// cublasOperation_t.
constexpr int CUBLAS_OP_N = 0, CUBLAS_OP_T = 1;
// cublasLtPointerMode_t.
constexpr int CUBLASLT_POINTER_MODE_HOST = 0, CUBLASLT_POINTER_MODE_DEVICE = 1;
// cublasLtEpilogue_t.
constexpr uint32_t CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_BIAS = 4,
                   CUBLASLT_EPILOGUE_GELU_BIAS = 36, CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
                   CUBLASLT_EPILOGUE_DGELU = 192, CUBLASLT_EPILOGUE_BGRADA = 256,
                   CUBLASLT_EPILOGUE_BGRADB = 512;
// libraryPropertyType: parts of a library's version.
constexpr int MAJOR_VERSION = 0, MINOR_VERSION = 1, PATCH_LEVEL = 2;
// Attributes of products, layouts and preferences.
constexpr int CUBLASLT_MATMUL_DESC_POINTER_MODE = 2, CUBLASLT_MATMUL_DESC_TRANSA = 3,
              CUBLASLT_MATMUL_DESC_TRANSB = 4, CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
              CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
              CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
              CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
              CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3, CUBLASLT_REDUCTION_SCHEME_NONE = 0,
              CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8;

} // namespace par::cuda
#endif
