// A stand-in of cuBLASLt that computes in f32, rounds a bf16 result once, and says which of the documented
// rules a call breaks. Its operations are on the streams of the driver's stand-in.
#include "cuda/CublasLtTypes.h"
#include "standin/OfDriver.h"
#include "standin/Product.h"

#include <cstdlib>
#include <cstring>

#define PAR_STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace par::cuda {

#define PAR_CUBLASLT_FUNCTION(name, ...) PAR_STANDIN_EXPORT cublasStatus_t name(__VA_ARGS__);
#include "cuda/CublasLtFunctions.def"

struct cublasLtContext {};
struct cublasLtMatmulDescOpaque_t {
  int transposeA = CUBLAS_OP_N, transposeB = CUBLAS_OP_N, pointerMode = CUBLASLT_POINTER_MODE_HOST;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  uint64_t vector = 0, aux = 0;
  int64_t auxLd = 0;
};
struct cublasLtMatrixLayoutOpaque_t {
  standin::Matrix matrix;
};
struct cublasLtMatmulPreferenceOpaque_t {
  uint64_t workspace = 0;
  uint32_t reductions = 7;                       ///< of parts of k: any
  uint32_t alignments[4] = {256, 256, 256, 256}; // of A, B, C, D
};

} // namespace par::cuda

namespace par::standin {

using namespace cuda;

static cublasStatus_t refuse(const std::string &line, cublasStatus_t result = CUBLAS_STATUS_INVALID_VALUE) {
  reportToDriver("cublasLtMatmul: " + line);
  return result;
}

/// An algorithm of this library: what it was chosen for.
struct Chosen {
  uint32_t magic, number;
  uint64_t workspace, product; ///< product: a hash of it
  uint32_t alignments[4];
  uint32_t alignmentOfVector, alignmentOfAux; ///< of the addresses when it was asked for
};
static constexpr uint32_t magic = 0x7061726C;

/// PAR_STANDIN_ALGORITHMS: how many there are; PAR_STANDIN_QUICKEST and PAR_STANDIN_FIRST: the numbers of the
/// quickest and of the one that is named first. With one
/// alone nothing takes time of events; with several the processor's is little beside it.
static uint32_t setting(const char *name, uint32_t otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? uint32_t(std::strtoul(value, nullptr, 10)) : otherwise;
}
static uint32_t countAlgorithms() { return setting("PAR_STANDIN_ALGORITHMS", 1); }

/// Of algorithm N modulo 4: 0 is plain, 1 has the sums of one half of k in its workspace, 2 begins with the
/// last of k, 3 does not run here.
static SumOrder orderOf(uint32_t number) { return SumOrder(number % 4 % 3); }
static bool runsHere(uint32_t number) { return number % 4 != 3; }
static uint64_t workspaceOf(uint32_t number, const Matrix &d) {
  return number % 4 == 1 ? uint64_t(4 * d.rows * d.columns * d.batch) : number % 4 == 2 ? 256 : 0;
}
static double secondsOf(uint32_t number, const Product &product) {
  double seconds = countAlgorithms() == 1 ? 0 : number == setting("PAR_STANDIN_QUICKEST", 0) ? 1 : 100;
  return product.epilogue == CUBLASLT_EPILOGUE_DEFAULT ? seconds
                                                       : seconds + setting("PAR_STANDIN_EPILOGUE", 0);
}

/// PAR_STANDIN_WITHOUT: a cublasLtEpilogue_t that no algorithm has.
static bool isMissing(uint32_t epilogue) { return epilogue == setting("PAR_STANDIN_WITHOUT", 0); }

static uint64_t hashOf(const Product &product) {
  uint64_t hash = 14695981039346656037u; // FNV-1a
  auto add = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  for (const Matrix *matrix : {&product.a, &product.b, &product.c, &product.d})
    for (int64_t value : {int64_t(matrix->isBf16), matrix->rows, matrix->columns, matrix->ld,
                          int64_t(matrix->batch), matrix->stride})
      add(uint64_t(value));
  add(product.transposeA), add(product.transposeB), add(product.epilogue), add(uint64_t(product.auxLd));
  return hash;
}

template <typename T>
static cublasStatus_t set(T &member, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return refuse("an attribute of " + std::to_string(sizeof(T)) + " bytes is set with " +
                  std::to_string(bytes));
  std::memcpy(&member, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

static Product productOf(const cublasLtMatmulDescOpaque_t &description, const Matrix &a, const Matrix &b,
                         const Matrix &c, const Matrix &d) {
  return {description.transposeA == CUBLAS_OP_T,
          description.transposeB == CUBLAS_OP_T,
          a,
          b,
          c,
          d,
          0,
          0,
          description.epilogue,
          description.vector,
          description.aux,
          description.auxLd};
}

static uint32_t alignmentOf(uint64_t address) { return uint32_t((address | 256) & -(address | 256)); }

static cublasStatus_t checkEpilogue(const Chosen &chosen, const Product &product, uint64_t to) {
  if (std::string problem = product.problemOfPlaces(to); !problem.empty())
    return refuse(problem);
  if (product.vector % chosen.alignmentOfVector != 0)
    return refuse("the epilogue's vector is at no multiple of " + std::to_string(chosen.alignmentOfVector) +
                  " bytes, where it was when the algorithm was chosen");
  if (product.aux % chosen.alignmentOfAux != 0)
    return refuse("the epilogue's aux is at no multiple of " + std::to_string(chosen.alignmentOfAux) +
                  " bytes, where it was when the algorithm was chosen");
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t checkPlaces(const Chosen &chosen, const uint64_t (&addresses)[4], uint64_t workspace,
                                  size_t workspaceBytes) {
  static const char names[] = "ABCD";
  if (!runsHere(chosen.number))
    return refuse("runs an algorithm whose state is no success");
  for (int i = 0; i < 4; ++i)
    if (addresses[i] % chosen.alignments[i] != 0)
      return refuse(std::string(1, names[i]) + " is at no multiple of " +
                    std::to_string(chosen.alignments[i]) + " bytes, for which the algorithm was chosen");
  if (workspaceBytes < chosen.workspace)
    return refuse("has a workspace of " + std::to_string(workspaceBytes) + " bytes, the algorithm needs " +
                  std::to_string(chosen.workspace));
  if (workspaceBytes && !workspace)
    return refuse("has no workspace, but " + std::to_string(workspaceBytes) + " bytes of it");
  if (workspace % 256 != 0)
    return refuse("its workspace is at no multiple of 256 bytes");
  return CUBLAS_STATUS_SUCCESS;
}

/// All that is computed, kept until the stream is done with it.
/// `scales`: addresses of alpha and beta where the device has them, or null.
static cublasStatus_t submit(const Product &product, const Chosen &chosen, const uint64_t (&addresses)[4],
                             const uint64_t *scales, uint64_t workspace, CUstream stream) {
  std::vector<par_standin_range> ranges;
  const Matrix *matrices[] = {&product.a, &product.b, &product.c, &product.d};
  auto *work = new ProductRun{product,
                              {},
                              scales != nullptr,
                              0,
                              orderOf(chosen.number),
                              chosen.workspace,
                              secondsOf(chosen.number, product)};
  for (int i = 0; i < 4; ++i) {
    work->first[i] = ranges.size();
    if (i != 2 || scales || product.beta != 0) // without beta C is not read
      matrices[i]->appendRanges(addresses[i], i == 3, ranges);
  }
  work->first[4] = ranges.size();
  if (product.readsVector() || product.writesVector())
    ranges.push_back(
        {product.vector, uint64_t(product.vectorElements() * product.d.bytesEach()), product.writesVector()});
  work->first[5] = ranges.size();
  if (product.readsAux() || product.writesAux())
    product.auxMatrix().appendRanges(product.aux, product.writesAux(), ranges);
  work->first[6] = ranges.size();
  for (const par_standin_range &range : ranges)
    if (range.address < workspace + chosen.workspace && workspace < range.address + range.bytes) {
      delete work;
      return refuse("its workspace lies over what it reads or writes");
    }
  if (chosen.workspace)
    ranges.push_back({workspace, chosen.workspace, 1});
  for (int i = 0; scales && i < 2; ++i)
    ranges.push_back({scales[i], sizeof(float), 0});
  work->ranges = ranges.size();
  int result = ofDriver<decltype(par_standin_submit)>("par_standin_submit")(
      stream, "cublasLtMatmul", ranges.data(), uint32_t(ranges.size()),
      [](void *data, char *const *hosts) {
        static_cast<ProductRun *>(data)->compute(hosts);
        ofDriver<decltype(par_standin_spend)>("par_standin_spend")(static_cast<ProductRun *>(data)->seconds);
      },
      [](void *data) { delete static_cast<ProductRun *>(data); }, work);
  return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : 13 /* CUBLAS_STATUS_EXECUTION_FAILED */;
}

} // namespace par::standin

namespace par::cuda {

using namespace standin;

cublasStatus_t cublasLtGetProperty(int which, int *value) {
  static constexpr int version[] = {13, 0, 2};
  if (which < MAJOR_VERSION || which > PATCH_LEVEL)
    return refuse("property " + std::to_string(which) + " is not known here");
  *value = version[which];
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description, int compute, int scale) {
  if (compute != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F)
    return refuse("computes in another type than f32", CUBLAS_STATUS_NOT_SUPPORTED);
  *description = new cublasLtMatmulDescOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete description;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description, int which, const void *value,
                                              size_t bytes) {
  if (which == CUBLASLT_MATMUL_DESC_TRANSA)
    return set(description->transposeA, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_TRANSB)
    return set(description->transposeB, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_POINTER_MODE)
    return set(description->pointerMode, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_EPILOGUE)
    return set(description->epilogue, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
    return set(description->vector, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER)
    return set(description->aux, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD)
    return set(description->auxLd, value, bytes);
  return refuse("attribute " + std::to_string(which) + " of a product is not known here",
                CUBLAS_STATUS_NOT_SUPPORTED);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, int type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  if (type != CUDA_R_32F && type != CUDA_R_16BF)
    return refuse("type " + std::to_string(type) + " is not known here", CUBLAS_STATUS_NOT_SUPPORTED);
  *layout =
      new cublasLtMatrixLayoutOpaque_t{{type == CUDA_R_16BF, int64_t(rows), int64_t(columns), ld, 1, 0}};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, int which, const void *value,
                                                size_t bytes) {
  if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    return set(layout->matrix.batch, value, bytes);
  if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return set(layout->matrix.stride, value, bytes);
  return refuse("attribute " + std::to_string(which) + " of a layout is not known here",
                CUBLAS_STATUS_NOT_SUPPORTED);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, int which,
                                                    const void *value, size_t bytes) {
  if (which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    return set(preference->workspace, value, bytes);
  if (which == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
    return set(preference->reductions, value, bytes);
  int matrix = which - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  if (matrix >= 0 && matrix < 4)
    return set(preference->alignments[matrix], value, bytes);
  return refuse("preference " + std::to_string(which) + " is not known here", CUBLAS_STATUS_NOT_SUPPORTED);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t *results, int *count) {
  *count = 0;
  Product product = productOf(*description, a->matrix, b->matrix, c->matrix, d->matrix);
  std::string problem = product.problem();
  if (!problem.empty())
    return refuse(problem);
  if (most < 1)
    return refuse("asks for no algorithm");
  if (isMissing(description->epilogue))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (preference->reductions & ~uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE))
    return refuse("allows sums of parts of k, which may have another order each time");
  Chosen chosen{
      magic, 0, 0, hashOf(product), {}, alignmentOf(description->vector), alignmentOf(description->aux)};
  std::memcpy(chosen.alignments, preference->alignments, sizeof(chosen.alignments));
  static_assert(sizeof(chosen) <= sizeof(results->algo));
  for (uint32_t each = 0; each < countAlgorithms() && *count < most; ++each) {
    uint32_t number = (each + setting("PAR_STANDIN_FIRST", 0)) % countAlgorithms();
    chosen.number = number, chosen.workspace = workspaceOf(number, d->matrix);
    if (chosen.workspace > preference->workspace ||
        (orderOf(number) == SumOrder::halves &&
         preference->reductions == uint32_t(CUBLASLT_REDUCTION_SCHEME_NONE)))
      continue;
    cublasLtMatmulHeuristicResult_t &result = results[(*count)++];
    result = {};
    result.workspaceSize = chosen.workspace;
    result.state = runsHere(number) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
    std::memcpy(&result.algo, &chosen, sizeof(chosen));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t layoutA, const void *b,
                              cublasLtMatrixLayout_t layoutB, const void *beta, const void *c,
                              cublasLtMatrixLayout_t layoutC, void *d, cublasLtMatrixLayout_t layoutD,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t workspaceBytes,
                              CUstream stream) {
  Product product =
      productOf(*description, layoutA->matrix, layoutB->matrix, layoutC->matrix, layoutD->matrix);
  bool onDevice = description->pointerMode == CUBLASLT_POINTER_MODE_DEVICE;
  const uint64_t scales[2] = {reinterpret_cast<uint64_t>(alpha), reinterpret_cast<uint64_t>(beta)};
  if (!onDevice) {
    std::memcpy(&product.alpha, alpha, sizeof(float));
    std::memcpy(&product.beta, beta, sizeof(float));
  }
  if (std::string problem = product.problem(); !problem.empty())
    return refuse(problem);
  const uint64_t addresses[4] = {reinterpret_cast<uint64_t>(a), reinterpret_cast<uint64_t>(b),
                                 reinterpret_cast<uint64_t>(c), reinterpret_cast<uint64_t>(d)};
  Chosen chosen;
  std::memcpy(&chosen, algorithm, sizeof(chosen));
  if (chosen.magic != magic)
    return refuse("runs an algorithm that no heuristic gave");
  if (chosen.product != hashOf(product))
    return refuse("runs an algorithm that was chosen for another product");
  cublasStatus_t status =
      checkPlaces(chosen, addresses, reinterpret_cast<uint64_t>(workspace), workspaceBytes);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = checkEpilogue(chosen, product, addresses[3]);
  return status == CUBLAS_STATUS_SUCCESS ? submit(product, chosen, addresses, onDevice ? scales : nullptr,
                                                  reinterpret_cast<uint64_t>(workspace), stream)
                                         : status;
}

} // namespace par::cuda
