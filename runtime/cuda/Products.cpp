#include "cuda/Products.h"

#include <algorithm>

namespace par::cuda {

static int typeOf(ProductType type) { return type == ProductType::f32 ? CUDA_R_32F : CUDA_R_16BF; }

/// "256 x 128 x 64 of bf16 with bias"
static std::string describe(const ProductWork &work) {
  return std::to_string(work.m) + " x " + std::to_string(work.n) + " x " + std::to_string(work.k) + " of " +
         (work.type == ProductType::f32 ? "f32" : "bf16") +
         (work.epilogue == Epilogue::none ? std::string()
                                          : std::string(" with ") + epilogueNames[size_t(work.epilogue)]);
}

io::Status Products::load(const std::vector<ProductWork> &list) {
  if (list.empty())
    return {};
  PAR_TRY(loadCublasLt(lt));
  PAR_CUBLASLT(*lt, cublasLtCreate, &handle);
  products.resize(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    products[i].work = list[i];
    if (io::Status status = prepare(products[i]); !status.ok())
      return io::Status::error("product " + std::to_string(i) + ", " + describe(list[i]) + ": " +
                               status.message());
  }
  return {};
}

Products::~Products() {
  for (Product &product : products) {
    for (Product::Way &way : product.ways)
      if (way.description)
        lt->cublasLtMatmulDescDestroy(way.description);
    for (cublasLtMatrixLayout_t layout : {product.a, product.b, product.c})
      if (layout)
        lt->cublasLtMatrixLayoutDestroy(layout);
  }
  if (handle)
    lt->cublasLtDestroy(handle);
}

io::Status Products::makeLayout(cublasLtMatrixLayout_t &layout, ProductType type, int64_t rows,
                                int64_t columns, int64_t ld, int64_t batch, int64_t stride) {
  PAR_CUBLASLT(*lt, cublasLtMatrixLayoutCreate, &layout, typeOf(type), uint64_t(rows), uint64_t(columns), ld);
  auto count = int32_t(batch);
  PAR_CUBLASLT(*lt, cublasLtMatrixLayoutSetAttribute, layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
               sizeof(count));
  PAR_CUBLASLT(*lt, cublasLtMatrixLayoutSetAttribute, layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
               &stride, sizeof(stride));
  return {};
}

/// A row-major matrix is a column-major one of the transposed shape: C^T = op(B)^T op(A)^T, without another
/// transpose.
io::Status Products::describeWay(Product &product, int pointerMode) {
  const ProductWork &work = product.work;
  cublasLtMatmulDesc_t &description = product.ways[pointerMode].description;
  if (description)
    return {};
  PAR_CUBLASLT(*lt, cublasLtMatmulDescCreate, &description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  int first = work.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N,
      second = work.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N;
  const std::pair<int, const int *> attributes[] = {{CUBLASLT_MATMUL_DESC_TRANSA, &first},
                                                    {CUBLASLT_MATMUL_DESC_TRANSB, &second},
                                                    {CUBLASLT_MATMUL_DESC_POINTER_MODE, &pointerMode}};
  for (const auto &[attribute, value] : attributes)
    PAR_CUBLASLT(*lt, cublasLtMatmulDescSetAttribute, description, attribute, value, sizeof(*value));
  return describeEpilogue(work, description);
}

/// cuBLASLt's A is the program's B. A vector is of the result's type, and so is aux, whose rows are as those
/// of C.
io::Status Products::describeEpilogue(const ProductWork &work, cublasLtMatmulDesc_t description) {
  static constexpr uint32_t names[] = {CUBLASLT_EPILOGUE_DEFAULT,   CUBLASLT_EPILOGUE_BIAS,
                                       CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
                                       CUBLASLT_EPILOGUE_DGELU,     CUBLASLT_EPILOGUE_BGRADB,
                                       CUBLASLT_EPILOGUE_BGRADA};
  if (work.epilogue == Epilogue::none)
    return {};
  const uint32_t &name = names[size_t(work.epilogue)];
  PAR_CUBLASLT(*lt, cublasLtMatmulDescSetAttribute, description, CUBLASLT_MATMUL_DESC_EPILOGUE, &name,
               sizeof(name));
  if (work.hasAux())
    PAR_CUBLASLT(*lt, cublasLtMatmulDescSetAttribute, description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                 &work.ldc, sizeof(work.ldc));
  return {};
}

/// Before an algorithm is asked for: cuBLASLt takes the alignment of these from where they are.
io::Status Products::point(const ProductWork &work, cublasLtMatmulDesc_t description, void *const *buffers) {
  if (work.hasVector())
    PAR_CUBLASLT(*lt, cublasLtMatmulDescSetAttribute, description, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                 &buffers[4], sizeof(buffers[4]));
  if (work.hasAux())
    PAR_CUBLASLT(*lt, cublasLtMatmulDescSetAttribute, description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                 &buffers[5], sizeof(buffers[5]));
  return {};
}

io::Status Products::prepare(Product &product) {
  const ProductWork &work = product.work;
  PAR_TRY(describeWay(product, CUBLASLT_POINTER_MODE_HOST));
  int64_t rowsOfB = work.transposeB ? work.k : work.n, columnsOfB = work.transposeB ? work.n : work.k;
  int64_t rowsOfA = work.transposeA ? work.m : work.k, columnsOfA = work.transposeA ? work.k : work.m;
  PAR_TRY(makeLayout(product.a, work.type, rowsOfB, columnsOfB, work.ldb, work.batch, work.strideB));
  PAR_TRY(makeLayout(product.b, work.type, rowsOfA, columnsOfA, work.lda, work.batch, work.strideA));
  return makeLayout(product.c, work.result, work.n, work.m, work.ldc, work.batch, work.strideC);
}

/// The largest power of two, up to 256, that divides all addresses.
static uint32_t alignmentOf(void *const *buffers, int count) {
  uint64_t bits = 256;
  for (int i = 0; i < count; ++i)
    bits |= reinterpret_cast<uint64_t>(buffers[i]);
  return uint32_t(bits & -bits);
}

/// Asked for once per alignment: faster ones want whole 16 bytes. No workspace: what a package does not plan
/// is not taken. No sums of parts of k that blocks leave for each other: a product has the same bits each
/// time.
io::Status Products::choose(Product &product, Product::Way &way, Alignment alignment,
                            const cublasLtMatmulAlgo_t *&algorithm) {
  auto found = way.algorithms.find(alignment);
  if (found != way.algorithms.end())
    return algorithm = &found->second, io::Status();
  cublasLtMatmulPreference_t preference = nullptr;
  PAR_CUBLASLT(*lt, cublasLtMatmulPreferenceCreate, &preference);
  uint64_t workspace = 0;
  cublasStatus_t set = lt->cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace));
  auto parts = uint32_t(CUBLASLT_REDUCTION_SCHEME_NONE);
  if (set == CUBLAS_STATUS_SUCCESS)
    set = lt->cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                   &parts, sizeof(parts));
  for (int which : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    if (set == CUBLAS_STATUS_SUCCESS)
      set = lt->cublasLtMatmulPreferenceSetAttribute(preference, which, &alignment.first,
                                                     sizeof(alignment.first));
  cublasLtMatmulHeuristicResult_t result = {};
  int count = 0;
  if (set == CUBLAS_STATUS_SUCCESS)
    set = lt->cublasLtMatmulAlgoGetHeuristic(handle, way.description, product.a, product.b, product.c,
                                             product.c, preference, 1, &result, &count);
  lt->cublasLtMatmulPreferenceDestroy(preference);
  PAR_TRY(statusOf("cublasLtMatmulAlgoGetHeuristic", set));
  if (count == 0)
    return io::Status::error("cuBLASLt has no algorithm for buffers at multiples of " +
                             std::to_string(alignment.first) + " bytes");
  algorithm = &(way.algorithms[alignment] = result.algo);
  return {};
}

io::Status Products::multiply(int32_t number, void *const *buffers, const Scale &beta, CUstream stream) {
  Product &product = products[size_t(number)];
  void *a = buffers[0], *b = buffers[1], *added = buffers[2] ? buffers[2] : buffers[3], *result = buffers[3];
  int mode = beta.where ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST;
  Product::Way &way = product.ways[mode];
  const cublasLtMatmulAlgo_t *algorithm = nullptr;
  float one = 1;
  io::Status status = describeWay(product, mode);
  if (status.ok())
    status = point(product.work, way.description, buffers);
  uint32_t beside = product.work.epilogue == Epilogue::none ? 256 : alignmentOf(buffers + 4, 2);
  if (status.ok())
    status = choose(product, way, {alignmentOf(buffers, 4), beside}, algorithm);
  if (status.ok())
    status = statusOf("cublasLtMatmul",
                      lt->cublasLtMatmul(handle, way.description, beta.where ? beta.one : &one, b, product.a,
                                         a, product.b, beta.where ? beta.where : &beta.value, added,
                                         product.c, result, product.c, algorithm, nullptr, 0, stream));
  if (status.ok())
    return {};
  return io::Status::error("product " + std::to_string(number) + ", " + describe(product.work) + ": " +
                           status.message());
}

} // namespace par::cuda
