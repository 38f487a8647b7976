// Epilogues of products: what cuBLASLt's stand-in computes beside a product, and the documented rules that a
// call may break.
#include "Standin.h"
#include "comm/Reduce.h"
#include "cuda/CudaDevice.h"

#include <cmath>

using namespace par;
using namespace par::test;
using namespace par::cuda;

namespace {

double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))); }
double geluGradient(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

/// Buffers: A, B, D, C, vector, aux.
class CudaEpilogue : public Standin {
protected:
  static constexpr int64_t m = 5, n = 16, k = 7, part = 4096;

  void TearDown() override {
    memory.reset();
    device.reset();
  }
  void make(Epilogue epilogue, ProductType result, bool transposeA = false, bool transposeB = false) {
    ASSERT_TRUE(CudaDevice::make({}, device).ok());
    memory = std::make_unique<device::Memory>();
    ASSERT_TRUE(memory->allocate(*device, device::Space::device, 6 * part));
    work = {
        m, n, k, 1,          transposeA, transposeB, type, result, transposeA ? m : k, 0, transposeB ? k : n,
        0, n, 0, Beta::none, epilogue};
    CudaProgram program;
    program.work.products = {work};
    io::Status status = device->load(program);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int number : {0, 1, 4, 5})
      fill(number, number < 2 ? work.type : work.result);
  }

  static float element(int buffer, int64_t i) { return float((i * 7 + buffer * 3) % 13 - 6) / 4; }
  void fill(int number, ProductType type) {
    std::vector<float> values;
    for (int64_t i = 0; i < 128; ++i)
      values.push_back(element(number, i));
    write(number, values, type);
  }
  void write(int number, const std::vector<float> &wide, ProductType type) {
    std::vector<uint16_t> narrow;
    for (float value : wide)
      narrow.push_back(comm::roundToBf16(value));
    type == ProductType::f32
        ? device->write(memory->begin() + number * part, wide.data(), 4 * wide.size())
        : device->write(memory->begin() + number * part, narrow.data(), 2 * narrow.size());
  }
  float read(int number, int64_t i) {
    device::Address from = memory->begin() + number * part;
    float wide = 0;
    uint16_t narrow = 0;
    if (work.result == ProductType::f32)
      return device->read(&wide, from + 4 * i, 4), wide;
    return device->read(&narrow, from + 2 * i, 2), comm::widenBf16(narrow);
  }
  std::vector<void *> buffers() {
    std::vector<void *> all;
    for (int number = 0; number < 6; ++number)
      all.push_back(device->inProgram(memory->begin() + number * part));
    all[2] = nullptr;
    if (!work.hasVector())
      all[4] = nullptr;
    if (!work.hasAux())
      all[5] = nullptr;
    return all;
  }
  void run() {
    io::Status status = device->multiply(0, buffers().data(), nullptr);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  float a(int64_t i, int64_t l) { return element(0, work.transposeA ? l * m + i : i * k + l); }
  float b(int64_t l, int64_t j) { return element(1, work.transposeB ? j * k + l : l * n + j); }
  float product(int64_t i, int64_t j) {
    float sum = 0;
    for (int64_t l = 0; l < k; ++l)
      sum += a(i, l) * b(l, j);
    return sum;
  }
  /// Up to one rounding of the result's type.
  void expect(int number, int64_t at, double value) {
    double digit = work.result == ProductType::f32 ? 2e-6 : 1.0 / 256;
    EXPECT_NEAR(read(number, at), value, digit * (0.1 + std::abs(value))) << number << " " << at;
  }

  ProductType type = ProductType::f32; ///< of A and B
  ProductWork work;
  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<device::Memory> memory;
};

class CudaEpilogues : public CudaEpilogue, public testing::WithParamInterface<ProductType> {
protected:
  void SetUp() override { type = GetParam(); }
};

TEST_P(CudaEpilogues, ABiasIsAddedToEachRow) {
  make(Epilogue::bias, GetParam());
  run();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      expect(3, i * n + j, double(product(i, j)) + element(4, j));
}

TEST_P(CudaEpilogues, GeluIsOfTheSumAndTheAuxHasIt) {
  make(Epilogue::biasGeluAux, GetParam());
  run();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = double(product(i, j)) + element(4, j);
      expect(5, i * n + j, sum);
      expect(3, i * n + j, gelu(sum));
    }
}

/// 0.50146484375 is 0.5 in bf16, of which GELU is another number of bf16. The aux has the rounded one.
TEST_F(CudaEpilogue, GeluIsOfWhatIsNotRounded) {
  type = ProductType::bf16;
  make(Epilogue::biasGeluAux, ProductType::bf16);
  std::vector<float> a{0.5f, 0x1p-10f, 0x1p-11f, 0, 0, 0, 0};
  a.resize(size_t(m * k));
  write(0, a, work.type), write(1, std::vector<float>(size_t(k * n), 1), work.type);
  write(4, std::vector<float>(size_t(n), 0), work.type);
  run();
  auto rounded = [](double x) { return comm::widenBf16(comm::roundToBf16(float(x))); };
  EXPECT_NE(rounded(gelu(0.50146484375)), rounded(gelu(0.5)));
  EXPECT_EQ(read(3, 0), rounded(gelu(0.50146484375)));
  EXPECT_EQ(read(5, 0), 0.5f);
}

TEST_P(CudaEpilogues, WithoutAnAuxGeluIsTheSame) {
  make(Epilogue::biasGelu, GetParam());
  run();
  for (int64_t j = 0; j < n; ++j)
    expect(3, n + j, gelu(double(product(1, j)) + element(4, j)));
}

TEST_P(CudaEpilogues, TheGradientOfGeluIsThatAtTheAux) {
  make(Epilogue::geluGradient, GetParam());
  run();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      expect(3, i * n + j, double(product(i, j)) * geluGradient(element(5, i * n + j)));
}

TEST_P(CudaEpilogues, SumsOfAnOperandAreThoseOverWhatIsContracted) {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (Epilogue epilogue : {Epilogue::sumsOfA, Epilogue::sumsOfB}) {
        TearDown();
        make(epilogue, ProductType::f32, transposeA, transposeB);
        run();
        bool ofA = epilogue == Epilogue::sumsOfA;
        for (int64_t i = 0; i < (ofA ? m : n); ++i) {
          double sum = 0;
          for (int64_t l = 0; l < k; ++l)
            sum += ofA ? a(i, l) : b(l, i);
          expect(4, i, sum);
        }
        expect(3, n + 1, product(1, 1));
      }
}

TEST_P(CudaEpilogues, BuffersThatAreMissingAreNamed) {
  make(Epilogue::biasGeluAux, GetParam());
  for (int missing : {4, 5}) {
    std::vector<void *> all = buffers();
    all[size_t(missing)] = nullptr;
    EXPECT_EQ(device->multiply(0, all.data(), nullptr).message(),
              "product 0 has no buffer for its epilogue; compile the package again");
  }
}

TEST_P(CudaEpilogues, AResultOverWhatGeluIsOfIsFound) {
  make(Epilogue::geluGradient, GetParam());
  std::vector<void *> all = buffers();
  all[3] = all[5];
  EXPECT_EQ(device->multiply(0, all.data(), nullptr).message(),
            std::string("product 0, 5 x 16 x 7 of ") + (type == ProductType::f32 ? "f32" : "bf16") +
                " with gelu_gradient: cublasLtMatmul: invalid value (CUBLAS_STATUS_INVALID_VALUE)");
  EXPECT_EQ(findings(), "cublasLtMatmul: D lies over the epilogue's aux\n");
}

TEST_P(CudaEpilogues, BytesOfABiasThatNobodyWroteAreFound) {
  make(Epilogue::bias, GetParam());
  std::vector<void *> all = buffers();
  all[4] = device->inProgram(memory->begin() + 4 * part + 2048);
  ASSERT_TRUE(device->multiply(0, all.data(), nullptr).ok());
  EXPECT_TRUE(device->finish([](int32_t) {}).ok());
  EXPECT_NE(findings().find(": reads bytes that nobody wrote, at device memory "), std::string::npos);
}

/// An algorithm is asked for again where the vector lies otherwise.
TEST_P(CudaEpilogues, AVectorMayLieAnywhere) {
  make(Epilogue::bias, GetParam());
  run();
  std::vector<void *> all = buffers();
  all[4] = static_cast<char *>(all[4]) + (work.result == ProductType::f32 ? 4 : 2);
  ASSERT_TRUE(device->multiply(0, all.data(), nullptr).ok());
  expect(3, 1, double(product(0, 1)) + element(4, 2));
}

INSTANTIATE_TEST_SUITE_P(Types, CudaEpilogues, testing::Values(ProductType::f32, ProductType::bf16),
                         [](const auto &info) { return info.param == ProductType::f32 ? "f32" : "bf16"; });

/// Calls of the library itself, each with a rule that it breaks.
class EpilogueFinds : public Standin {
protected:
  void SetUp() override {
    ASSERT_TRUE(loadCublasLt(lt).ok());
    lt->cublasLtCreate(&handle);
    lt->cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    lt->cublasLtMatmulPreferenceCreate(&preference);
    const uint32_t none = CUBLASLT_REDUCTION_SCHEME_NONE;
    lt->cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &none,
                                             sizeof(none));
    lt->cublasLtMatrixLayoutCreate(&square, CUDA_R_32F, 8, 8, 8);
    ASSERT_EQ(cu.cuMemAlloc_v2(&memory, 8192), CUDA_SUCCESS);
    ASSERT_EQ(cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    cu.cuStreamDestroy_v2(stream);
    cu.cuMemFree_v2(memory);
    lt->cublasLtMatrixLayoutDestroy(square);
    lt->cublasLtMatmulPreferenceDestroy(preference);
    lt->cublasLtMatmulDescDestroy(description);
    lt->cublasLtDestroy(handle);
  }
  template <typename T>
  void set(int attribute, T value) {
    ASSERT_EQ(lt->cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)),
              CUBLAS_STATUS_SUCCESS);
  }
  void setEpilogue(uint32_t epilogue) { set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue); }
  void setVector(uint64_t at) { set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory + at); }
  void setAux(uint64_t at, int64_t ld) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, memory + at);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, ld);
  }
  cublasStatus_t choose() {
    cublasLtMatmulHeuristicResult_t result = {};
    int count = 0;
    cublasStatus_t status = lt->cublasLtMatmulAlgoGetHeuristic(handle, description, square, square, square,
                                                               square, preference, 1, &result, &count);
    algorithm = result.algo;
    return status;
  }
  cublasStatus_t multiply() {
    float one = 1, zero = 0;
    auto at = [&](size_t where) { return reinterpret_cast<void *>(memory + where); };
    return lt->cublasLtMatmul(handle, description, &one, at(0), square, at(1024), square, &zero, at(2048),
                              square, at(2048), square, &algorithm, nullptr, 0, stream);
  }

  const CublasLt *lt = nullptr;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatrixLayout_t square = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
};

TEST_F(EpilogueFinds, AuxRowsOfNoMultipleOfEight) {
  setEpilogue(CUBLASLT_EPILOGUE_DGELU);
  setAux(4096, 12);
  EXPECT_EQ(choose(), CUBLAS_STATUS_INVALID_VALUE);
  setAux(4096, 0);
  EXPECT_EQ(choose(), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(),
            "cublasLtMatmul: the leading dimension of the epilogue's aux is 12, expected a multiple "
            "of 8 and no less than the 8 rows of D\n"
            "cublasLtMatmul: the leading dimension of the epilogue's aux is 0, expected a multiple "
            "of 8 and no less than the 8 rows of D\n");
}

TEST_F(EpilogueFinds, WhatIsMissing) {
  setEpilogue(CUBLASLT_EPILOGUE_BIAS);
  ASSERT_EQ(choose(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(), CUBLAS_STATUS_INVALID_VALUE);
  setEpilogue(CUBLASLT_EPILOGUE_DGELU);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(8));
  ASSERT_EQ(choose(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(),
            "cublasLtMatmul: the epilogue has no vector\ncublasLtMatmul: the epilogue has no aux\n");
}

TEST_F(EpilogueFinds, AVectorThatLiesOtherwiseThanWhenTheAlgorithmWasChosen) {
  setEpilogue(CUBLASLT_EPILOGUE_BIAS);
  setVector(4096);
  ASSERT_EQ(choose(), CUBLAS_STATUS_SUCCESS);
  setVector(4096 + 16);
  EXPECT_EQ(multiply(), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(),
            "cublasLtMatmul: the epilogue's vector is at no multiple of 256 bytes, where it was when "
            "the algorithm was chosen\n");
}

TEST_F(EpilogueFinds, AnEpilogueThatItDoesNotKnow) {
  setEpilogue(2);
  EXPECT_EQ(choose(), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), "cublasLtMatmul: epilogue 2 is not known here\n");
}

} // namespace
