#include "cuda/cudnn/Attentions.h"

namespace par::cuda {

Attentions::~Attentions() {
  all.clear();
  if (handle)
    cudnn->cudnnDestroy(handle);
}

/// The plan's own workspace is behind what tensors of the graph have of it.
io::Status Attentions::plan(Planned &one, const Descriptor &device) const {
  PAR_TRY(one.graph.write());
  if (one.graph.sharedBytes() > one.work.workspaceBytes)
    return io::Status::error("its workspace has " + std::to_string(one.graph.sharedBytes()) +
                             " bytes, expected at most " + std::to_string(one.work.workspaceBytes));
  return one.plan.build(one.graph.get(), device, one.work.workspaceBytes - one.graph.sharedBytes());
}

io::Status Attentions::load(const std::vector<AttentionWork> &list) {
  PAR_TRY(loadCudnn(cudnn));
  PAR_CUDNN(*cudnn, cudnnCreate, &handle);
  Descriptor device(*cudnn);
  PAR_TRY(describeDevice(handle, device));
  for (const AttentionWork &work : list) {
    all.push_back(std::make_unique<Planned>(*cudnn, work));
    if (io::Status status = plan(*all.back(), device); !status.ok())
      return io::Status::error(version() + ": attention of " + work.describe() + ": " + status.message());
  }
  return {};
}

io::Status Attentions::enqueue(const Planned &one, void *const *buffers, CUstream stream) {
  char *workspace = one.work.workspace < 0 ? nullptr : static_cast<char *>(buffers[one.work.workspace]);
  addresses.clear();
  for (const AttentionGraph::Place &place : one.graph.places()) {
    char *begin = place.buffer < 0 ? workspace : static_cast<char *>(buffers[place.buffer]);
    addresses.push_back({place.tensor, begin + place.offset});
  }
  for (const AttentionGraph::Scalar &scalar : one.graph.scalars())
    addresses.push_back({scalar.tensor, const_cast<float *>(&scalar.value)});
  PAR_CUDNN(*cudnn, cudnnSetStream, handle, stream);
  return one.plan.execute(handle, addresses, workspace ? workspace + one.graph.sharedBytes() : nullptr);
}

io::Status Attentions::attend(int32_t number, void *const *buffers, CUstream stream) {
  const Planned &one = *all[size_t(number)];
  io::Status status = enqueue(one, buffers, stream);
  return status.ok() ? status
                     : io::Status::error("attention of " + one.work.describe() + ": " + status.message());
}

} // namespace par::cuda
