// Attention by cuDNN: on its stand-in equal to plain sums, forward and backward, and rules of its
// documentation that a call may break.
#include "AttentionShape.h"
#include "Standin.h"
#include "comm/Reduce.h"
#include "cuda/CudaDevice.h"
#include "cuda/cudnn/Deviceless.h"

#include <cmath>

using namespace par;
using namespace par::test;
using namespace par::cuda;
using device::Address;

namespace {

class CudnnAttentionTest : public Standin {
protected:
  void TearDown() override {
    memory.reset();
    device.reset();
  }

  void make(const std::vector<AttentionWork> &works, std::optional<StoredPlans> stored = std::nullopt) {
    TearDown();
    ASSERT_TRUE(CudaDevice::make({}, device).ok());
    memory = std::make_unique<device::Memory>();
    ASSERT_TRUE(memory->allocate(*device, device::Space::device, bufferCount * part));
    cuda::CudaProgram program;
    program.work.attentions = works, program.attentionPlans = std::move(stored);
    io::Status status = device->load(program);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void plan() {
    device::LibraryAttention library;
    io::Status status = device->planAttention(library);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(library.name, "cuDNN 9.19.0");
    device->chooseAttention(true);
  }

  Address at(int buffer) { return memory->begin() + buffer * part; }
  void *const *buffers() {
    for (int number = 0; number < bufferCount; ++number)
      pointers[number] = device->inProgram(at(number));
    return pointers;
  }

  /// Numbers that bf16 has.
  static double element(int buffer, int64_t i) { return double((i * 7 + buffer * 3) % 13 - 6) / 8; }
  void write(int buffer, int64_t elements) {
    std::vector<uint16_t> narrow;
    for (int64_t i = 0; i < elements; ++i)
      narrow.push_back(comm::roundToBf16(float(element(buffer, i))));
    device->write(at(buffer), narrow.data(), 2 * narrow.size());
  }
  double read(const AttentionRows &rows, int64_t heads, int64_t headDim, int64_t row, int64_t head,
              int64_t i) {
    (void)heads;
    uint16_t narrow = 0;
    device->read(&narrow, at(rows.buffer) + 2 * (rows.offset + row * rows.stride + head * headDim + i), 2);
    return comm::widenBf16(narrow);
  }
  double given(const AttentionRows &rows, int64_t headDim, int64_t row, int64_t head, int64_t i) {
    return element(rows.buffer, rows.offset + row * rows.stride + head * headDim + i);
  }

  /// The exponentials of a row's scores, each divided by their sum, and the logarithm of that.
  std::vector<double> weightsOf(const AttentionWork &work, int64_t b, int64_t n, int64_t i,
                                double &logarithm) {
    std::vector<double> weights(size_t(work.kRows), 0.0);
    double sum = 0;
    for (int64_t j = 0; j < work.kRows; ++j) {
      if (work.causal && (j > i || (work.window && i - j >= work.window)))
        continue;
      double score = 0;
      for (int64_t e = 0; e < work.headDim; ++e)
        score += given(work.q, work.headDim, b * work.qRows + i, n, e) *
                 given(work.k, work.headDim, b * work.kRows + j, n / work.group, e);
      sum += weights[size_t(j)] = std::exp(work.scale * score);
    }
    for (double &weight : weights)
      weight /= sum;
    logarithm = std::log(sum);
    return weights;
  }

  void expectNear(double actual, double expected, const char *what) {
    ASSERT_NEAR(actual, expected, 0.01 + 0.01 * std::abs(expected)) << what;
  }

  void checkForward(const AttentionWork &work) {
    int64_t heads = work.kvHeads * work.group;
    for (int64_t b = 0; b < work.batch; ++b)
      for (int64_t n = 0; n < heads; ++n)
        for (int64_t i = 0; i < work.qRows; ++i) {
          double logarithm = 0;
          std::vector<double> weights = weightsOf(work, b, n, i, logarithm);
          float actual = 0;
          device->read(&actual, at(lse) + 4 * ((b * heads + n) * work.qRows + i), 4);
          ASSERT_NEAR(actual, logarithm, 1e-5) << "lse";
          for (int64_t e = 0; e < work.headDim; ++e) {
            double expected = 0;
            for (int64_t j = 0; j < work.kRows; ++j)
              expected +=
                  weights[size_t(j)] * given(work.v, work.headDim, b * work.kRows + j, n / work.group, e);
            ASSERT_NO_FATAL_FAILURE(
                expectNear(read(work.out, heads, work.headDim, b * work.qRows + i, n, e), expected, "out"));
          }
        }
  }

  /// Of one head of queries, and the sums over its group.
  void checkBackward(const AttentionWork &work) {
    int64_t heads = work.kvHeads * work.group, rows = work.batch * work.qRows;
    std::vector<double> ofQ(size_t(rows * heads * work.headDim)), ofK(ofQ.size()), ofV(ofQ.size());
    auto place = [&](int64_t row, int64_t head, int64_t e) {
      return size_t((row * heads + head) * work.headDim + e);
    };
    for (int64_t b = 0; b < work.batch; ++b)
      for (int64_t n = 0; n < heads; ++n)
        for (int64_t i = 0; i < work.qRows; ++i) {
          double logarithm = 0, inner = 0;
          int64_t row = b * work.qRows + i, kv = n / work.group;
          std::vector<double> weights = weightsOf(work, b, n, i, logarithm);
          for (int64_t e = 0; e < work.headDim; ++e)
            inner +=
                given(work.dout, work.headDim, row, n, e) * read(work.out, heads, work.headDim, row, n, e);
          for (int64_t j = 0; j < work.kRows; ++j) {
            int64_t key = b * work.kRows + j;
            double product = 0;
            for (int64_t e = 0; e < work.headDim; ++e)
              product += given(work.dout, work.headDim, row, n, e) * given(work.v, work.headDim, key, kv, e);
            double ds = work.scale * weights[size_t(j)] * (product - inner);
            for (int64_t e = 0; e < work.headDim; ++e) {
              ofQ[place(row, n, e)] += ds * given(work.k, work.headDim, key, kv, e);
              ofK[place(key, kv, e)] += ds * given(work.q, work.headDim, row, n, e);
              ofV[place(key, kv, e)] += weights[size_t(j)] * given(work.dout, work.headDim, row, n, e);
            }
          }
        }
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t n = 0; n < heads; ++n)
        for (int64_t e = 0; e < work.headDim; ++e) {
          ASSERT_NO_FATAL_FAILURE(
              expectNear(read(work.dq, heads, work.headDim, row, n, e), ofQ[place(row, n, e)], "dq"));
          if (n >= work.kvHeads)
            continue;
          ASSERT_NO_FATAL_FAILURE(
              expectNear(read(work.dk, heads, work.headDim, row, n, e), ofK[place(row, n, e)], "dk"));
          ASSERT_NO_FATAL_FAILURE(
              expectNear(read(work.dv, heads, work.headDim, row, n, e), ofV[place(row, n, e)], "dv"));
        }
  }

  void check(const AttentionShape &shape) {
    std::vector<AttentionWork> works = {workOf(shape, false), workOf(shape, true)};
    ASSERT_NO_FATAL_FAILURE(make(works));
    ASSERT_NO_FATAL_FAILURE(plan());
    compute(works);
  }

  /// As a package brings them along.
  StoredPlans store(const std::vector<AttentionWork> &works) {
    const Cudnn *cudnn = nullptr;
    EXPECT_TRUE(loadCudnn(cudnn).ok());
    Descriptor h100(*cudnn);
    EXPECT_TRUE(describeChip("sm_90", h100).ok());
    StoredPlans stored{basisOf(*cudnn, "sm_90"), std::vector<std::string>(works.size())};
    for (size_t i = 0; i < works.size(); ++i) {
      AttentionGraph graph(*cudnn, works[i]);
      ExecutionPlan plan(*cudnn);
      EXPECT_TRUE(graph.write().ok() && plan.build(graph.get(), h100, INT64_MAX).ok() &&
                  plan.store(stored.plans[i]).ok());
    }
    return stored;
  }
  void likeAnH100() {
    TearDown();
    environment.set("PAR_STANDIN_PROCESSORS", "132");
    restart();
  }
  /// Where plans are from on such a device.
  std::string originOf(const std::vector<AttentionWork> &works, const StoredPlans &stored) {
    likeAnH100();
    make(works, stored);
    device::LibraryAttention library;
    io::Status status = device->planAttention(library);
    EXPECT_TRUE(status.ok()) << status.message();
    device->chooseAttention(true);
    return library.origin;
  }
  void compute(const std::vector<AttentionWork> &works) {
    for (int buffer : {q, k, v, dout})
      write(buffer, part / 2);
    ASSERT_TRUE(device->attend(0, buffers()).ok());
    ASSERT_NO_FATAL_FAILURE(checkForward(works[0]));
    ASSERT_TRUE(device->attend(1, buffers()).ok());
    ASSERT_NO_FATAL_FAILURE(checkBackward(works[1]));
  }

  static constexpr int64_t part = 1 << 17;
  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<device::Memory> memory;
  void *pointers[bufferCount] = {};
};

TEST_F(CudnnAttentionTest, EqualsPlainSums) {
  for (const AttentionShape &shape :
       {AttentionShape{2, 16, 2, 2, 16}, AttentionShape{1, 13, 4, 2, 8},
        AttentionShape{2, 9, 3, 1, 24, false}, AttentionShape{1, 20, 2, 2, 8, true, 5},
        AttentionShape{2, 12, 4, 2, 8, true, 0, true}}) {
    check(shape);
    if (HasFatalFailure())
      return;
  }
}

TEST_F(CudnnAttentionTest, APlanThatNeedsMoreThanIsPlannedIsRefused) {
  environment.set("PAR_STANDIN_CUDNN_WORKSPACE", "1");
  make({workOf({1, 16, 2, 2, 16}, true)});
  device::LibraryAttention library;
  io::Status status = device->planAttention(library);
  EXPECT_EQ(status.message(),
            "cuDNN 9.19.0: attention of 1 x 16, 2 heads of 16, causal, backward: its workspace "
            "has 257 bytes, expected at most 256");
}

TEST_F(CudnnAttentionTest, PlansOfThePackageAreTaken) {
  AttentionShape shape{2, 16, 4, 2, 16};
  std::vector<AttentionWork> works = {workOf(shape, false), workOf(shape, true)};
  StoredPlans stored;
  ASSERT_TRUE(parse("plans", print(store(works)), stored).ok());
  EXPECT_EQ(originOf(works, stored), "its plans are the package's");
  compute(works);
}

TEST_F(CudnnAttentionTest, PlansOfAPackageForSomethingElseAreMadeAnew) {
  AttentionShape shape{1, 12, 2, 2, 8};
  std::vector<AttentionWork> works = {workOf(shape, false), workOf(shape, true)};
  StoredPlans good = store(works), other = good, few = good, broken = good;
  const std::string here = "its plans are made here, not the package's: ";
  other.basis.cudnn = "9.26.0";
  EXPECT_EQ(originOf(works, other),
            here + "they are for cuDNN 9.26.0 for sm_90 with 132 multiprocessors, this is cuDNN 9.19.0 for "
                   "sm_90 with 132 multiprocessors");
  compute(works);
  other = good, other.basis.processors = 114;
  EXPECT_EQ(originOf(works, other).find(here + "they are for cuDNN 9.19.0 for sm_90 with 114 "), 0u);
  other = good, other.basis.chip = 80;
  EXPECT_EQ(originOf(works, other).find(here + "they are for cuDNN 9.19.0 for sm_80 with 132 "), 0u);
  few.plans.pop_back();
  EXPECT_EQ(originOf(works, few), here + "they are 1, expected 2");
  broken.plans[1] = "{}";
  EXPECT_EQ(originOf(works, broken), here + "cudnnBackendFinalize: CUDNN_STATUS_NOT_SUPPORTED");
  compute(works);
}

TEST_F(CudnnAttentionTest, PlansOfAPackageMayNotNeedMoreThanIsPlanned) {
  std::vector<AttentionWork> works = {workOf({1, 16, 2, 2, 16}, true)};
  StoredPlans stored = store(works);
  works[0].workspaceBytes -= 1;
  likeAnH100();
  make(works, stored);
  device::LibraryAttention library;
  EXPECT_NE(
      device->planAttention(library).message().find("its workspace has 256 bytes, expected at most 255"),
      std::string::npos);
}

TEST_F(CudnnAttentionTest, FilesOfPlansThatSayNonsenseAreRefused) {
  StoredPlans stored;
  for (const char *text : {"", "[]", R"({"cudnn":"9.19.0","chip":90,"processors":132})",
                           R"({"cudnn":"9.19.0","chip":90,"processors":0,"plans":[]})",
                           R"({"cudnn":"9.19.0","chip":90,"processors":132,"plans":[1]})"}) {
    std::string message = parse("p.json", text, stored).message();
    EXPECT_EQ(message.find("p.json: "), 0u) << message;
    EXPECT_NE(message.find("; compile the package again"), std::string::npos) << message;
  }
}

TEST_F(CudnnAttentionTest, SaysWhatIsNotInTheList) {
  make({});
  EXPECT_EQ(device->attend(0, nullptr).message(), "ran attention 0 of 0; compile the package again");
}

/// Runs the forward pass with one buffer elsewhere.
TEST_F(CudnnAttentionTest, RulesThatACallBreaks) {
  struct Fault {
    int buffer;
    int64_t bytes;
    const char *finding;
  };
  for (auto [buffer, bytes, finding] :
       {Fault{k, 2, "is at no multiple of 16 bytes"}, Fault{workspace, 16, "its workspace is at no multiple"},
        Fault{out, -3 * part, "lies over something else"}}) {
    make({workOf({1, 16, 2, 2, 16}, false)});
    plan();
    for (int each : {q, k, v})
      write(each, 1024);
    buffers();
    pointers[buffer] = static_cast<char *>(pointers[buffer]) + bytes;
    EXPECT_FALSE(device->attend(0, pointers).ok());
    EXPECT_NE(findings().find(finding), std::string::npos) << finding;
  }
}

TEST_F(CudnnAttentionTest, BytesThatNobodyWrote) {
  make({workOf({1, 16, 2, 2, 16}, false)});
  plan();
  for (int each : {q, k})
    write(each, 1024);
  ASSERT_TRUE(device->attend(0, buffers()).ok());
  (void)device->finish([](int32_t) {});
  EXPECT_NE(findings().find("cudnnBackendExecute on"), std::string::npos);
}

} // namespace
