#include "cuda/Attention.h"

namespace par::cuda {

io::Status Attentions::load(const std::vector<AttentionWork> &list) {
  attentions = list;
  if (list.empty())
    return {};
  const LibraryName name = {{"libpar_cuda_attention.so.1"}, "this par", "par"};
  if (openLibrary(name, {{"par_cuda_attention", reinterpret_cast<void **>(&function)}}).ok())
    return {};
  return io::Status::error("has attention, which par cannot compute on GPUs yet; compile with --target cpu");
}

io::Status Attentions::attend(int32_t number, void *const *buffers, CUstream stream) const {
  if (number < 0 || size_t(number) >= attentions.size())
    return io::Status::error("ran attention " + std::to_string(number) + " of " +
                             std::to_string(attentions.size()) + "; compile the package again");
  const AttentionWork &work = attentions[size_t(number)];
  const char *problem =
      function(stream, &work.what, work.type == ProductType::bf16, work.isBackward, buffers);
  if (!problem)
    return {};
  return io::Status::error("attention " + std::to_string(number) + ": " + problem);
}

} // namespace par::cuda
