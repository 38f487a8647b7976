// Products by cuBLASLt: on its stand-in equal to par_gemm's, and rules of its documentation that a call may
// break.
#include "Standin.h"
#include "comm/Reduce.h"
#include "cuda/CudaDevice.h"

#include <cmath>

using namespace par;
using namespace par::test;
using namespace par::cuda;
using device::Address;

namespace {

class CudaProduct : public Standin {
protected:
  void SetUp() override { make({}); }
  void TearDown() override {
    memory.reset();
    device.reset();
  }
  void make(const std::vector<ProductWork> &products) {
    TearDown();
    ASSERT_TRUE(CudaDevice::make({}, device).ok());
    memory = std::make_unique<device::Memory>();
    ASSERT_TRUE(memory->allocate(*device, device::Space::device, 4 * part));
    cuda::CudaProgram program;
    program.work.products = products;
    io::Status status = device->load(program);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// Numbers that bf16 has, others for each buffer.
  static float element(int buffer, int64_t i) { return float((i * 7 + buffer * 3) % 13 - 6) / 4; }
  void write(int buffer, int64_t elements, ProductType type) {
    std::vector<float> wide;
    std::vector<uint16_t> narrow;
    for (int64_t i = 0; i < elements; ++i) {
      wide.push_back(element(buffer, i));
      narrow.push_back(comm::roundToBf16(wide.back()));
    }
    Address to = memory->begin() + buffer * part;
    type == ProductType::f32 ? device->write(to, wide.data(), 4 * wide.size())
                             : device->write(to, narrow.data(), 2 * narrow.size());
  }
  float read(int buffer, int64_t i, ProductType type) {
    Address from = memory->begin() + buffer * part;
    float wide = 0;
    uint16_t narrow = 0;
    if (type == ProductType::f32)
      return device->read(&wide, from + 4 * i, 4), wide;
    return device->read(&narrow, from + 2 * i, 2), comm::widenBf16(narrow);
  }
  void *buffer(int number) { return device->inProgram(memory->begin() + number * part); }

  /// Runs it, and compares every element of C; what lies between its rows stays as it is.
  void check(const ProductWork &work, float beta, const void *scale = nullptr) {
    int64_t sizeA = work.batch * std::max(work.strideA, work.lda * (work.transposeA ? work.k : work.m));
    int64_t sizeB = work.batch * std::max(work.strideB, work.ldb * (work.transposeB ? work.n : work.k));
    int64_t sizeC = work.batch * std::max(work.strideC, work.ldc * work.m);
    write(0, sizeA, work.type), write(1, sizeB, work.type);
    write(2, sizeC, work.result), write(3, sizeC, work.result);
    void *buffers[] = {buffer(0), buffer(1), work.beta == Beta::none ? nullptr : buffer(2), buffer(3)};
    io::Status status = device->multiply(0, buffers, scale);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int64_t b = 0; b < work.batch; ++b)
      for (int64_t i = 0; i < work.m; ++i)
        for (int64_t j = 0; j < work.n; ++j) {
          float sum = 0;
          for (int64_t l = 0; l < work.k; ++l)
            sum += element(0, b * work.strideA + (work.transposeA ? l * work.lda + i : i * work.lda + l)) *
                   element(1, b * work.strideB + (work.transposeB ? j * work.ldb + l : l * work.ldb + j));
          int64_t at = b * work.strideC + i * work.ldc + j;
          float expected = sum + beta * element(2, at);
          if (work.result == ProductType::bf16)
            expected = comm::widenBf16(comm::roundToBf16(expected));
          ASSERT_EQ(read(3, at, work.result), expected) << b << " " << i << " " << j;
        }
    if (work.ldc > work.n)
      EXPECT_EQ(read(3, work.n, work.result), element(3, work.n));
  }

  static constexpr int64_t part = 16384;
  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<device::Memory> memory;
};

ProductWork simple(int64_t m, int64_t n, int64_t k) {
  return {m, n, k, 1, false, false, ProductType::f32, ProductType::f32, k, 0, n, 0, n, 0, Beta::none};
}

TEST_F(CudaProduct, AllWaysToLie) {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (auto [type, result] : {std::pair(ProductType::f32, ProductType::f32),
                                  {ProductType::bf16, ProductType::f32},
                                  {ProductType::bf16, ProductType::bf16}}) {
        ProductWork work = simple(5, 7, 6);
        work.transposeA = transposeA, work.transposeB = transposeB, work.type = type, work.result = result;
        work.lda = (transposeA ? 5 : 6) + 2, work.ldb = (transposeB ? 6 : 7) + 1, work.ldc = 9;
        work.batch = 3, work.strideA = 80, work.strideB = 70, work.strideC = 50;
        make({work});
        check(work, 0);
      }
}

TEST_F(CudaProduct, WhatIsAddedIsScaledByAConstant) {
  ProductWork work = simple(8, 8, 8);
  work.beta = Beta::one;
  make({work});
  check(work, 1);
  work.beta = Beta::value;
  make({work});
  char *scale = device->inProgram(memory->begin() + 3 * part + 8192);
  device->keepConstant(device->fromProgram(scale), 0.5f);
  check(work, 0.5f, scale);
  float computed = 0.25f; // what no host knows
  device->write(device->fromProgram(scale + 4), &computed, sizeof(computed));
  check(work, computed, scale + 4);
  void *buffers[] = {buffer(0), buffer(1), buffer(2), buffer(3)};
  EXPECT_EQ(device->multiply(0, buffers, nullptr).message(),
            "product 0 has nothing that scales what is added; compile the package again");
  buffers[2] = nullptr;
  EXPECT_EQ(device->multiply(0, buffers, scale).message(),
            "product 0 has nothing that is added to it; compile the package again");
  EXPECT_EQ(device->multiply(1, buffers, scale).message(), "ran product 1 of 1; compile the package again");
}

/// In place, as gradients are added up.
TEST_F(CudaProduct, TheResultMayBeWhatIsAdded) {
  ProductWork work = simple(4, 4, 4);
  work.beta = Beta::one;
  make({work});
  write(0, 16, work.type), write(1, 16, work.type), write(3, 16, work.type);
  void *buffers[] = {buffer(0), buffer(1), buffer(3), buffer(3)};
  ASSERT_TRUE(device->multiply(0, buffers, nullptr).ok());
  float expected = element(3, 0);
  for (int64_t l = 0; l < 4; ++l)
    expected += element(0, l) * element(1, 4 * l);
  EXPECT_NEAR(read(3, 0, work.type), expected, 1e-6);
}

/// Rows of a buffer may begin at any element: an algorithm is asked for that takes it.
TEST_F(CudaProduct, BuffersMayLieAnywhere) {
  ProductWork work = simple(4, 4, 4);
  make({work});
  write(0, 32, work.type), write(1, 32, work.type);
  auto at = [&](int number, int64_t bytes) {
    return static_cast<void *>(device->inProgram(memory->begin() + number * part + bytes));
  };
  void *buffers[] = {at(0, 4), at(1, 8), nullptr, at(3, 16)};
  io::Status status = device->multiply(0, buffers, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  float expected = 0;
  for (int64_t l = 0; l < 4; ++l)
    expected += element(0, 1 + l) * element(1, 2 + 4 * l);
  EXPECT_EQ(read(3, 4, work.type), expected);
}

TEST_F(CudaProduct, BytesThatNobodyWroteAreFound) {
  ProductWork work = simple(4, 4, 4);
  make({work});
  write(0, 16, work.type);
  void *buffers[] = {buffer(0), buffer(1), nullptr, buffer(3)};
  ASSERT_TRUE(device->multiply(0, buffers, nullptr).ok());
  EXPECT_TRUE(device->finish([](int32_t) {}).ok());
  EXPECT_NE(findings().find(": reads bytes that nobody wrote, at device memory "), std::string::npos);
}

TEST_F(CudaProduct, ProductsThatDoNotFitAreNamed) {
  ProductWork work = simple(4, 4, 4);
  work.ldb = 3;
  make({work});
  void *buffers[] = {buffer(0), buffer(1), nullptr, buffer(3)};
  EXPECT_EQ(device->multiply(0, buffers, nullptr).message(),
            "product 0, 4 x 4 x 4 of f32: cublasLtMatmulAlgoGetHeuristic: invalid value "
            "(CUBLAS_STATUS_INVALID_VALUE)");
  EXPECT_EQ(findings(), "cublasLtMatmul: the leading dimension of A is 3, below its 4 rows\n");
}

/// Calls of the library itself, each with a rule that it breaks.
class CublasLtFinds : public Standin {
protected:
  void SetUp() override {
    ASSERT_TRUE(loadCublasLt(lt).ok());
    ok(lt->cublasLtCreate(&handle));
    ok(lt->cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    ok(lt->cublasLtMatmulPreferenceCreate(&preference));
    allowSums(CUBLASLT_REDUCTION_SCHEME_NONE);
    for (cublasLtMatrixLayout_t *layout : {&a, &b, &c})
      ok(lt->cublasLtMatrixLayoutCreate(layout, CUDA_R_32F, 8, 8, 8));
    EXPECT_EQ(cu.cuMemAlloc_v2(&memory, 4096), CUDA_SUCCESS);
    EXPECT_EQ(cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    cu.cuStreamDestroy_v2(stream);
    cu.cuMemFree_v2(memory);
    for (cublasLtMatrixLayout_t layout : {a, b, c})
      lt->cublasLtMatrixLayoutDestroy(layout);
    lt->cublasLtMatmulPreferenceDestroy(preference);
    lt->cublasLtMatmulDescDestroy(description);
    lt->cublasLtDestroy(handle);
  }
  static void ok(cublasStatus_t status) { ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS); }
  void choose() {
    cublasLtMatmulHeuristicResult_t result;
    int count = 0;
    ok(lt->cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, c, c, preference, 1, &result, &count));
    algorithm = result.algo;
  }
  void allowSums(uint32_t schemes) {
    ok(lt->cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                &schemes, sizeof(schemes)));
  }
  cublasStatus_t multiply(size_t offset, size_t workspace) {
    float one = 1, zero = 0;
    auto at = [&](size_t where) { return reinterpret_cast<void *>(memory + where); };
    return lt->cublasLtMatmul(handle, description, &one, at(offset), a, at(1024), b, &zero, at(2048), c,
                              at(2048), c, &algorithm, at(3072 + workspace), 0, stream);
  }

  const CublasLt *lt = nullptr;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
};

TEST_F(CublasLtFinds, AnAlgorithmThatNoHeuristicGave) {
  EXPECT_EQ(multiply(0, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: runs an algorithm that no heuristic gave\n");
}

TEST_F(CublasLtFinds, AnAlignmentThatWasNotSaid) {
  choose();
  EXPECT_EQ(multiply(16, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(),
            "cublasLtMatmul: A is at no multiple of 256 bytes, for which the algorithm was chosen\n");
  uint32_t alignment = 16;
  ok(lt->cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                              &alignment, 4));
  choose();
  ok(cu.cuMemsetD8Async(memory, 0, 4096, stream));
  ok(multiply(16, 0));
}

TEST_F(CublasLtFinds, SumsOfPartsInAnyOrder) {
  allowSums(7);
  cublasLtMatmulHeuristicResult_t result;
  int count = 0;
  EXPECT_EQ(
      lt->cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, c, c, preference, 1, &result, &count),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(),
            "cublasLtMatmul: allows sums of parts of k, which may have another order each time\n");
}

TEST_F(CublasLtFinds, AWorkspaceThatIsNotAligned) {
  choose();
  EXPECT_EQ(multiply(0, 64), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: its workspace is at no multiple of 256 bytes\n");
}

TEST_F(CublasLtFinds, AWorkspaceThatIsTooSmall) {
  environment.set("PAR_STANDIN_ALGORITHMS", "3");
  uint64_t workspace = 512;
  ok(lt->cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &workspace, 8));
  cublasLtMatmulHeuristicResult_t results[3];
  int count = 0;
  ok(lt->cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, c, c, preference, 3, results, &count));
  ASSERT_EQ(count, 2); // no sums of parts of k are allowed
  algorithm = results[1].algo;
  EXPECT_EQ(results[1].workspaceSize, 256u);
  EXPECT_EQ(multiply(0, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: has a workspace of 0 bytes, the algorithm needs 256\n");
}

TEST_F(CublasLtFinds, AnAlgorithmOfAnotherProduct) {
  choose();
  lt->cublasLtMatrixLayoutDestroy(c);
  ok(lt->cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, 8, 8, 16));
  EXPECT_EQ(multiply(0, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: runs an algorithm that was chosen for another product\n");
}

TEST_F(CublasLtFinds, AnAlgorithmWhoseStateIsNoSuccess) {
  environment.set("PAR_STANDIN_ALGORITHMS", "4");
  cublasLtMatmulHeuristicResult_t results[8];
  int count = 0;
  ok(lt->cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, c, c, preference, 8, results, &count));
  ASSERT_EQ(count, 2); // no workspace
  EXPECT_EQ(results[1].state, CUBLAS_STATUS_NOT_SUPPORTED);
  algorithm = results[1].algo;
  EXPECT_EQ(multiply(0, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: runs an algorithm whose state is no success\n");
}

TEST_F(CublasLtFinds, ShapesThatDoNotMeet) {
  lt->cublasLtMatrixLayoutDestroy(b);
  ok(lt->cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, 6, 8, 8));
  EXPECT_EQ(multiply(0, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: op(A) is 8 x 8, op(B) 6 x 8 and D 8 x 8\n");
}

TEST_F(CublasLtFinds, TypesThatAreNotTogether) {
  lt->cublasLtMatrixLayoutDestroy(b);
  ok(lt->cublasLtMatrixLayoutCreate(&b, CUDA_R_16BF, 8, 8, 8));
  EXPECT_EQ(multiply(0, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: this combination of types is not supported\n");
}

TEST_F(CublasLtFinds, BatchesThatDiffer) {
  int32_t count = 2;
  ok(lt->cublasLtMatrixLayoutSetAttribute(a, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, 4));
  EXPECT_EQ(multiply(0, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: A has 2 matrices, D has 1\n");
  ok(lt->cublasLtMatrixLayoutSetAttribute(b, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, 4));
  ok(lt->cublasLtMatrixLayoutSetAttribute(c, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, 4));
  EXPECT_EQ(multiply(0, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: matrices of D lie over each other\n");
}

TEST(CublasLtLibrary, IsNamedWithItsPackageWhereItIsMissingOrOld) {
  CublasLt functions;
  LibraryName name = cublasLtName();
  EXPECT_EQ(name.files[1], "libcublasLt.so.12");
  name.files = {"libcublasLt-that-is-not-there.so.13"};
  EXPECT_NE(
      openCublasLt(name, functions)
          .message()
          .find("install NVIDIA's cuBLAS (libcublas-13-0 or libcublas-12-0), or compile with --target cpu"),
      std::string::npos);
  name.files = {"libm.so.6"};
  EXPECT_EQ(openCublasLt(name, functions).message(), "libm.so.6 has no function cublasLtCreate, so it is "
                                                     "older than CUDA 12.0; install a newer NVIDIA's cuBLAS "
                                                     "(libcublas-13-0 or libcublas-12-0)");
}

} // namespace
