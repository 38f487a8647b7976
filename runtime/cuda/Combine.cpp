#include "cuda/Combine.h"

#include <algorithm>

namespace par::cuda {

using device::Address;
using device::Combination;
using device::Element;

static const char ptx[] =
#include "cuda/kernels/Combine.ptx.inc"
    ;

static const char *nameOf(Element type) {
  static const char *const names[] = {"f32", "i32", "i64", "bf16"};
  return names[int(type)];
}

static const char *nameOf(Combination how) {
  static const char *const names[] = {"sum", "max", "min"};
  return names[int(how)];
}

static int64_t bytesOf(Element type) { return type == Element::i64 ? 8 : type == Element::bf16 ? 2 : 4; }

io::Status Combiner::load() {
  PAR_TRY(module.load("kernels of collectives", ptx));
  std::vector<std::string> names = {"par_widen_bf16", "par_round_bf16"};
  for (Element type : {Element::f32, Element::i32, Element::i64, Element::bf16})
    for (Combination how : {Combination::sum, Combination::max, Combination::min})
      names.push_back(std::string("par_combine_") + nameOf(type) + "_" + nameOf(how));
  for (const std::string &name : names)
    PAR_TRY(module.find(name, kernels[name]));
  return {};
}

io::Status Combiner::use(CUdeviceptr memory, int64_t bytes) {
  sum = memory, room = bytes / bytesEach;
  return kernels.empty() ? load() : io::Status();
}

io::Status Combiner::launch(CudaQueue &queue, const std::string &kernel, CUdeviceptr to, CUdeviceptr from,
                            int64_t elements) {
  constexpr int64_t threads = 256, most = 1024; // blocks that fill a GPU; each thread takes several elements
  auto blocks = unsigned(std::min((elements + threads - 1) / threads, most));
  void *parameters[] = {&to, &from, &elements};
  PAR_CUDA(driver, cuLaunchKernel, kernels[kernel], blocks, 1, 1, unsigned(threads), 1, 1, 0, queue.stream(),
           parameters, nullptr);
  return {};
}

/// In member order, as every transport does it: the same bits as on the host.
io::Status Combiner::combine(CudaQueue &queue, Combination how, Element type, const Address *sources,
                             size_t sourceCount, const Address *targets, size_t targetCount,
                             int64_t elements) {
  if (elements > 0 && room == 0)
    return io::Status::error("combines " + std::to_string(elements) +
                             " elements, and no room is there for any");
  std::vector<Address> from(sources, sources + sourceCount), to(targets, targets + targetCount);
  for (int64_t done = 0; done < elements; done += room) {
    int64_t count = std::min(room, elements - done);
    PAR_TRY(combineSlice(queue, how, type, from, to, count));
    for (std::vector<Address> *list : {&from, &to})
      for (Address &each : *list)
        each = each + count * bytesOf(type);
  }
  return {};
}

io::Status Combiner::combineSlice(CudaQueue &queue, Combination how, Element type,
                                  const std::vector<Address> &sources, const std::vector<Address> &targets,
                                  int64_t elements) {
  bool narrow = type == Element::bf16;
  size_t bytes = size_t(elements * bytesOf(type));
  std::string kernel = std::string("par_combine_") + nameOf(type) + "_" + nameOf(how);
  if (narrow)
    PAR_TRY(launch(queue, "par_widen_bf16", sum, sources[0].value, elements));
  else
    PAR_CUDA(driver, cuMemcpyAsync, sum, sources[0].value, bytes, queue.stream());
  for (size_t i = 1; i < sources.size(); ++i)
    PAR_TRY(launch(queue, kernel, sum, sources[i].value, elements));
  for (Address target : targets)
    if (narrow)
      PAR_TRY(launch(queue, "par_round_bf16", target.value, sum, elements));
    else
      PAR_CUDA(driver, cuMemcpyAsync, target.value, sum, bytes, queue.stream());
  return {};
}

} // namespace par::cuda
