// A stand-in of the attention of GPUs (cuda/Attention.h). It computes with the processor's own functions,
// which the executable exports for its programs, on streams of the driver's stand-in.
#include "device/Device.h"
#include "par/runtime.h"
#include "standin/Library.h"

#include <dlfcn.h>
#include <memory>
#include <string>
#include <vector>

namespace par::standin {

namespace {
/// One call, kept until its stream is done with it.
struct AttentionRun {
  par_attention what;
  bool bf16, backward;
  std::vector<long> first; ///< of each buffer: number of its first range; -1: it is null
};

/// The ranges of a call's buffers.
class Ranges {
public:
  Ranges(AttentionRun &run, void *const *buffers) : run(run), buffers(buffers) {}
  std::vector<par_standin_range> all;

  /// The next buffer: rows of `width` elements, `stride` elements apart.
  void add(int64_t rows, int64_t width, int64_t stride, int64_t elementBytes, bool writes) {
    auto address = reinterpret_cast<uint64_t>(buffers[run.first.size()]);
    run.first.push_back(address ? long(all.size()) : -1);
    if (!address)
      return;
    if (stride == width)
      width = stride *= rows, rows = 1;
    for (int64_t row = 0; row < rows; ++row)
      all.push_back(
          {address + uint64_t(row * stride * elementBytes), uint64_t(width * elementBytes), writes});
  }
  void add(int64_t count, int64_t elementBytes, bool writes) { add(1, count, count, elementBytes, writes); }

private:
  AttentionRun &run;
  void *const *buffers;
};
} // namespace

/// In the order of runtime.h.
static std::vector<par_standin_range> rangesOf(AttentionRun &run, void *const *buffers) {
  const par_attention &what = run.what;
  Ranges ranges(run, buffers);
  int64_t size = run.bf16 ? 2 : 4, rowsOfQ = what.batch * what.q_rows, rowsOfK = what.batch * what.k_rows;
  int64_t ofK = what.kv_heads * what.head_dim, ofQ = ofK * what.group;
  ranges.add(rowsOfQ, ofQ, what.q_stride, size, false);
  ranges.add(rowsOfK, ofK, what.k_stride, size, false);
  ranges.add(rowsOfK, ofK, what.v_stride, size, false);
  ranges.add(what.q_rows, 4, false);
  ranges.add(what.k_rows, 4, false);
  for (int64_t count : {2, 1, 1, 5}) // key, site, row, offsets
    ranges.add(count, 4, false);
  ranges.add(rowsOfQ * ofQ, size, !run.backward);
  ranges.add(rowsOfQ * what.kv_heads * what.group, 4, !run.backward);
  if (!run.backward)
    return ranges.all;
  ranges.add(rowsOfQ * ofQ, size, false);
  ranges.add(rowsOfQ, ofQ, what.dq_stride, size, true);
  ranges.add(rowsOfK, ofK, what.dk_stride, size, true);
  ranges.add(rowsOfK, ofK, what.dv_stride, size, true);
  return ranges.all;
}

using F32 = void (*)(void *, void *, void *);
using Bf16 = void (*)(void *, void *, void *, void *, int64_t);

/// Of the executable.
static void *reference(const AttentionRun &run) {
  std::string name =
      std::string("par_attention_") + (run.backward ? "backward" : "forward") + (run.bf16 ? "_bf16" : "");
  return dlsym(RTLD_DEFAULT, name.c_str());
}

static void compute(void *data, char *const *hosts) {
  auto &run = *static_cast<AttentionRun *>(data);
  std::vector<void *> pointers;
  for (long first : run.first)
    pointers.push_back(first < 0 ? nullptr : hosts[first]);
  device::Context context = {}; // no device: the calling thread alone
  if (!run.bf16) {
    reinterpret_cast<F32>(reference(run))(&context, &run.what, pointers.data());
    return;
  }
  std::vector<char> workspace(size_t(par_attention_bf16_workspace(&run.what, run.backward)) + 64);
  auto aligned = (reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64;
  reinterpret_cast<Bf16>(reference(run))(&context, &run.what, pointers.data(),
                                         reinterpret_cast<void *>(aligned),
                                         par_attention_bf16_workspace(&run.what, run.backward));
}

} // namespace par::standin

using namespace par::standin;

extern "C" __attribute__((visibility("default"))) const char *
par_cuda_attention(void *stream, const par_attention *what, int32_t bf16, int32_t backward,
                   void *const *buffers) {
  static void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto submit = reinterpret_cast<decltype(&par_standin_submit)>(dlsym(library, "par_standin_submit"));
  auto run = std::make_unique<AttentionRun>(AttentionRun{*what, bf16 != 0, backward != 0, {}});
  if (!reference(*run))
    return "the executable has no attention of its own";
  std::vector<par_standin_range> ranges = rangesOf(*run, buffers);
  int result = submit(
      stream, backward ? "attention backward" : "attention forward", ranges.data(), uint32_t(ranges.size()),
      compute, [](void *data) { delete static_cast<AttentionRun *>(data); }, run.release());
  return result == 0 ? nullptr : "the stream does not take it";
}
