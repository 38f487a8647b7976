/// The attention of a program: a seam. What computes it is a library of par's own, opened by name; the one
/// that asks cuDNN is not built yet, so packages with attention are refused where no stand-in is.
#ifndef PAR_CUDA_ATTENTION_H
#define PAR_CUDA_ATTENTION_H

#include "cuda/CudaWork.h"
#include "cuda/Driver.h"

namespace par::cuda {

/// The library's one function, `par_cuda_attention`: enqueues attention on a stream. `bf16`: the type of all
/// but lse and positions; buffers as those of par_attention in runtime.h. Null, or one line that says what
/// failed.
using AttentionFunction = const char *(*)(void *stream, const par_attention *what, int32_t bf16,
                                          int32_t backward, void *const *buffers);

class Attentions {
public:
  /// Opens the library where there is attention.
  io::Status load(const std::vector<AttentionWork> &list);
  io::Status attend(int32_t number, void *const *buffers, CUstream stream) const;

private:
  std::vector<AttentionWork> attentions;
  AttentionFunction function = nullptr;
};

} // namespace par::cuda
#endif
