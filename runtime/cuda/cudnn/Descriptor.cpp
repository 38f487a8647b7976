#include "cuda/cudnn/Descriptor.h"

namespace par::cuda {

Descriptor::~Descriptor() {
  if (it)
    cudnn.cudnnBackendDestroyDescriptor(it);
}

io::Status Descriptor::create(CudnnKind kind) {
  PAR_CUDNN(cudnn, cudnnBackendCreateDescriptor, kind, &it);
  return {};
}

io::Status Descriptor::finalize() {
  PAR_CUDNN(cudnn, cudnnBackendFinalize, it);
  return {};
}

io::Status Descriptor::set(CudnnName name, CudnnType type, int64_t count, const void *values) {
  PAR_CUDNN(cudnn, cudnnBackendSetAttribute, it, name, type, count, values);
  return {};
}

io::Status Descriptor::set(CudnnName name, const std::vector<const Descriptor *> &others) {
  std::vector<cudnnBackendDescriptor_t> all;
  for (const Descriptor *other : others)
    all.push_back(other->it);
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, int64_t(all.size()), all.data());
}

io::Status Descriptor::get(CudnnName name, CudnnType type, int64_t most, int64_t &count, void *values) const {
  PAR_CUDNN(cudnn, cudnnBackendGetAttribute, it, name, type, most, &count, values);
  return {};
}

} // namespace par::cuda
