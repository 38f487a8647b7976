#include "cuda/Products.h"

#include <algorithm>

namespace par::cuda {

static int typeOf(ProductType type) { return type == ProductType::f32 ? CUDA_R_32F : CUDA_R_16BF; }

io::Status Products::load(const std::vector<ProductWork> &list, bool splitsSums) {
  if (list.empty())
    return {};
  reductions = uint32_t(splitsSums ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE);
  PAR_TRY(loadCublasLt(lt));
  PAR_CUBLASLT(*lt, cublasLtCreate, &handle);
  products.resize(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    products[i].work = list[i];
    if (io::Status status = prepare(products[i]); !status.ok())
      return io::Status::error("product " + std::to_string(i) + ", " + list[i].describe() + ": " +
                               status.message());
  }
  return {};
}

Products::~Products() {
  for (Product &product : products) {
    for (auto &calls : product.calls)
      for (Call &call : calls)
        if (call.description)
          lt->cublasLtMatmulDescDestroy(call.description);
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
io::Status Products::describeCall(Product &product, Choice choice) {
  const ProductWork &work = product.work;
  cublasLtMatmulDesc_t &description = product.calls[choice.alone][choice.pointerMode].description;
  if (description)
    return {};
  PAR_CUBLASLT(*lt, cublasLtMatmulDescCreate, &description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  int first = work.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N,
      second = work.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N;
  const std::pair<int, const int *> attributes[] = {{CUBLASLT_MATMUL_DESC_TRANSA, &first},
                                                    {CUBLASLT_MATMUL_DESC_TRANSB, &second},
                                                    {CUBLASLT_MATMUL_DESC_POINTER_MODE, &choice.pointerMode}};
  for (const auto &[attribute, value] : attributes)
    PAR_CUBLASLT(*lt, cublasLtMatmulDescSetAttribute, description, attribute, value, sizeof(*value));
  return choice.alone ? io::Status() : describeEpilogue(work, description);
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
  PAR_TRY(describeCall(product, {false, CUBLASLT_POINTER_MODE_HOST}));
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

/// The workspace is what the package plans. Sums of parts of k that blocks leave for each other are none, or
/// added up by a step of their own: a product has the same bits each time.
io::Status Products::setPreference(cublasLtMatmulPreference_t preference, const ProductWork &work,
                                   uint32_t alignment) {
  auto workspace = uint64_t(work.workspace);
  PAR_CUBLASLT(*lt, cublasLtMatmulPreferenceSetAttribute, preference,
               CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace));
  PAR_CUBLASLT(*lt, cublasLtMatmulPreferenceSetAttribute, preference,
               CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof(reductions));
  for (int which : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    PAR_CUBLASLT(*lt, cublasLtMatmulPreferenceSetAttribute, preference, which, &alignment, sizeof(alignment));
  return {};
}

/// Leaves `algorithms` empty where there is none.
io::Status Products::ask(const Product &product, const Call &call, uint32_t alignment,
                         Algorithms &algorithms) {
  cublasLtMatmulPreference_t preference = nullptr;
  PAR_CUBLASLT(*lt, cublasLtMatmulPreferenceCreate, &preference);
  cublasLtMatmulHeuristicResult_t results[mostAlgorithms] = {};
  int count = 0;
  io::Status status = setPreference(preference, product.work, alignment);
  if (status.ok()) {
    cublasStatus_t result =
        lt->cublasLtMatmulAlgoGetHeuristic(handle, call.description, product.a, product.b, product.c,
                                           product.c, preference, mostAlgorithms, results, &count);
    if (result == CUBLAS_STATUS_NOT_SUPPORTED)
      count = 0;
    else
      status = statusOf("cublasLtMatmulAlgoGetHeuristic", result);
  }
  lt->cublasLtMatmulPreferenceDestroy(preference);
  PAR_TRY(status);
  for (int i = 0; i < count; ++i)
    if (results[i].state == CUBLAS_STATUS_SUCCESS)
      algorithms.push_back(results[i].algo);
  return {};
}

/// Asked for once per alignment: faster ones want whole 16 bytes.
io::Status Products::findAlgorithms(Product &product, Choice choice, void *const *buffers,
                                    const Algorithms *&found) {
  Call &call = product.calls[choice.alone][choice.pointerMode];
  bool hasEpilogue = product.work.epilogue != Epilogue::none && !choice.alone;
  PAR_TRY(describeCall(product, choice));
  if (hasEpilogue)
    PAR_TRY(point(product.work, call.description, buffers));
  uint32_t alignment = alignmentOf(buffers, 4), beside = hasEpilogue ? alignmentOf(buffers + 4, 2) : 256;
  auto [known, isNew] = call.algorithms.try_emplace({alignment, beside});
  found = &known->second;
  return isNew ? ask(product, call, alignment, known->second) : io::Status();
}

static io::Status noAlgorithm(void *const *buffers) {
  return io::Status::error("cuBLASLt has no algorithm for buffers at multiples of " +
                           std::to_string(alignmentOf(buffers, 4)) + " bytes");
}

/// Sets `choice.alone` and the algorithm.
io::Status Products::choose(Product &product, void *const *buffers, Choice &choice,
                            const cublasLtMatmulAlgo_t *&algorithm) {
  const Algorithms *algorithms = nullptr;
  bool canBeAlone = !product.work.separate.empty();
  auto number = size_t(product.way % mostAlgorithms);
  choice.alone = canBeAlone && isSeparate(product.way);
  PAR_TRY(findAlgorithms(product, choice, buffers, algorithms));
  if (algorithms->empty() && canBeAlone && !choice.alone) {
    choice.alone = true;
    PAR_TRY(findAlgorithms(product, choice, buffers, algorithms));
  }
  if (algorithms->empty())
    return noAlgorithm(buffers);
  bool isThere = choice.alone == isSeparate(product.way) && number < algorithms->size();
  algorithm = &(*algorithms)[isThere ? number : 0];
  return {};
}

io::Status Products::multiply(int32_t number, void *const *buffers, const Scale &beta, CUstream stream) {
  Product &product = products[size_t(number)];
  const ProductWork &work = product.work;
  void *a = buffers[0], *b = buffers[1], *added = buffers[2] ? buffers[2] : buffers[3], *result = buffers[3];
  void *workspace = work.workspace ? buffers[work.workspacePlace()] : nullptr;
  Choice choice{false, beta.where ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST};
  const cublasLtMatmulAlgo_t *algorithm = nullptr;
  float one = 1;
  io::Status status = choose(product, buffers, choice, algorithm);
  if (status.ok())
    status = statusOf("cublasLtMatmul",
                      lt->cublasLtMatmul(handle, product.calls[choice.alone][choice.pointerMode].description,
                                         beta.where ? beta.one : &one, b, product.a, a, product.b,
                                         beta.where ? beta.where : &beta.value, added, product.c, result,
                                         product.c, algorithm, workspace, size_t(work.workspace), stream));
  if (status.ok() && choice.alone)
    status = kernels->launch(work.separate, buffers, stream);
  return status.ok() ? status : told(number, status);
}

io::Status Products::told(int32_t number, const io::Status &status) const {
  return io::Status::error("product " + std::to_string(number) + ", " +
                           products[size_t(number)].work.describe() + ": " + status.message());
}

io::Status Products::findWays(int32_t number, void *const *buffers, std::vector<int> &ways) {
  Product &product = products[size_t(number)];
  ways.clear();
  for (bool alone : {false, true}) {
    if (alone && product.work.separate.empty())
      continue;
    const Algorithms *algorithms = nullptr;
    io::Status status = findAlgorithms(product, {alone, CUBLASLT_POINTER_MODE_HOST}, buffers, algorithms);
    if (!status.ok())
      return told(number, status);
    for (size_t i = 0; i < algorithms->size(); ++i)
      ways.push_back((alone ? firstSeparate : 0) + int(i));
  }
  return ways.empty() ? told(number, noAlgorithm(buffers)) : io::Status();
}

io::Status Products::version(std::string &text) const {
  PAR_TRY(versionOf(*lt, text));
  text = "cuBLASLt " + text;
  return {};
}

} // namespace par::cuda
