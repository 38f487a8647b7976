// Attention of GPUs through its seam: on the stand-in the same bits as the processor's, in the order of its
// stream.
#include "Standin.h"
#include "cuda/CudaDevice.h"
#include "device/Device.h"

#include <cmath>
#include <cstring>

using namespace par;
using namespace par::test;
using namespace par::cuda;

namespace {

/// The stand-in looks the processor's functions up in the executable.
void *const volatile kept[] = {reinterpret_cast<void *>(par_attention_forward),
                               reinterpret_cast<void *>(par_attention_backward),
                               reinterpret_cast<void *>(par_attention_forward_bf16),
                               reinterpret_cast<void *>(par_attention_backward_bf16)};

class CudaAttention : public Standin {
protected:
  static constexpr int64_t part = 4096, rows = 6, heads = 2, group = 2, dim = 4;

  void SetUp() override {
    ASSERT_NE(kept[0], nullptr);
    ASSERT_TRUE(CudaDevice::make({}, device).ok());
    memory = std::make_unique<device::Memory>();
    ASSERT_TRUE(memory->allocate(*device, device::Space::device, 15 * part));
    what = {};
    what.batch = 1, what.q_rows = what.k_rows = rows, what.kv_heads = heads, what.group = group,
    what.head_dim = dim;
    what.scale = 0.5f, what.causal = 1;
    what.q_stride = what.dq_stride = heads * group * dim + 3; // rows of something wider
    what.k_stride = what.v_stride = what.dk_stride = what.dv_stride = heads * dim;
    cuda::CudaProgram program;
    program.work.attentions = {{false, ProductType::f32, what}, {true, ProductType::f32, what}};
    io::Status status = device->load(program);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int i = 0; i < 15; ++i)
      for (int64_t j = 0; j < part / 4; ++j)
        host[i].push_back(std::sin(float(i * 100 + j)));
    for (int i : {3, 4}) // positions
      for (int64_t j = 0; j < rows; ++j)
        host[i][size_t(j)] = bits(int32_t(j));
  }
  void TearDown() override {
    memory.reset();
    device.reset();
  }
  static float bits(int32_t value) {
    float same;
    std::memcpy(&same, &value, 4);
    return same;
  }
  device::Address at(int buffer) { return memory->begin() + buffer * part; }
  bool isNull(int buffer) { return buffer >= 5 && buffer <= 8; } // without dropout
  void put(int buffer) { device->write(at(buffer), host[buffer].data(), part); }
  std::vector<float> get(int buffer) {
    std::vector<float> values(part / 4);
    device->read(values.data(), at(buffer), part);
    return values;
  }
  /// On the GPU and on the processor, in its own copies.
  void run(int number, int count) {
    std::vector<void *> onDevice, onHost;
    for (int i = 0; i < count; ++i) {
      onDevice.push_back(isNull(i) ? nullptr : device->inProgram(at(i)));
      onHost.push_back(isNull(i) ? nullptr : host[i].data());
    }
    io::Status status = device->attend(number, onDevice.data());
    ASSERT_TRUE(status.ok()) << status.message();
    device::Context context = {};
    number == 0 ? par_attention_forward(&context, &what, onHost.data())
                : par_attention_backward(&context, &what, onHost.data());
  }

  par_attention what;
  std::vector<float> host[15];
  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<device::Memory> memory;
};

TEST_F(CudaAttention, EqualsTheProcessors) {
  for (int i = 0; i < 15; ++i)
    put(i);
  run(0, 11);
  run(1, 15);
  for (int i : {9, 10, 12, 13, 14})
    EXPECT_EQ(get(i), host[i]) << i;
}

/// Gaps between rows are nobody's, whole rows are read.
TEST_F(CudaAttention, BytesThatNobodyWroteAreFound) {
  for (int i = 1; i < 5; ++i)
    put(i);
  for (int64_t row = 0; row < rows; ++row)
    device->write(at(0) + 4 * row * what.q_stride, host[0].data() + row * what.q_stride,
                  4 * heads * group * dim);
  run(0, 11);
  EXPECT_TRUE(device->finish([](int32_t) {}).ok());
  EXPECT_EQ(findings(), "");
  run(1, 15); // dout was never written
  EXPECT_TRUE(device->finish([](int32_t) {}).ok());
  EXPECT_EQ(
      findings().find("attention backward on stream 1: reads bytes that nobody wrote, at device memory "),
      0u);
}

TEST_F(CudaAttention, CallsOfWhatIsNotThereAreTold) {
  EXPECT_EQ(device->attend(2, nullptr).message(), "ran attention 2 of 2; compile the package again");
}

} // namespace
