/// A descriptor of cuDNN's backend: all that it is told and all that it tells are such.
#ifndef PAR_CUDA_CUDNN_DESCRIPTOR_H
#define PAR_CUDA_CUDNN_DESCRIPTOR_H

#include "cuda/cudnn/Cudnn.h"

#include <memory>
#include <vector>

namespace par::cuda {

class Descriptor {
public:
  explicit Descriptor(const Cudnn &cudnn) : cudnn(cudnn) {}
  ~Descriptor();
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;

  io::Status create(CudnnKind kind);
  io::Status finalize();

  io::Status set(CudnnName name, CudnnType type, int64_t count, const void *values);
  template <typename T>
  io::Status set(CudnnName name, CudnnType type, const T &value) {
    return set(name, type, 1, &value);
  }
  io::Status set(CudnnName name, const Descriptor &other) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.it);
  }
  io::Status set(CudnnName name, const std::vector<const Descriptor *> &others);
  io::Status get(CudnnName name, CudnnType type, int64_t most, int64_t &count, void *values) const;

  cudnnBackendDescriptor_t get() const { return it; }

private:
  const Cudnn &cudnn;
  cudnnBackendDescriptor_t it = nullptr;
};

using OwnedDescriptor = std::unique_ptr<Descriptor>;

} // namespace par::cuda
#endif
