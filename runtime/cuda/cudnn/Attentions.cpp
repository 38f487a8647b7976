#include "cuda/cudnn/Attentions.h"

namespace par::cuda {

Attentions::~Attentions() {
  all.clear();
  if (handle)
    cudnn->cudnnDestroy(handle);
}

io::Status Attentions::plan(Planned &one, const Descriptor &device) const {
  int64_t most = 0;
  PAR_TRY(one.graph.findRoom(most));
  return one.plan.build(one.graph.get(), device, most);
}

/// All, or none: what the run says is of the whole program.
io::Status Attentions::restore(const StoredPlans &stored, const PlanBasis &here, const Descriptor &device) {
  if (!(stored.basis == here))
    return io::Status::error("they are for " + stored.basis.describe() + ", this is " + here.describe());
  if (stored.plans.size() != all.size())
    return io::Status::error("they are " + std::to_string(stored.plans.size()) + ", expected " +
                             std::to_string(all.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    int64_t most = 0;
    PAR_TRY(all[i]->graph.findRoom(most));
    PAR_TRY(all[i]->plan.restore(stored.plans[i], device, most));
  }
  return {};
}

io::Status Attentions::load(const std::vector<AttentionWork> &list, PlanBasis here,
                            const StoredPlans *stored) {
  PAR_TRY(loadCudnn(cudnn));
  PAR_CUDNN(*cudnn, cudnnCreate, &handle);
  Descriptor device(*cudnn);
  PAR_TRY(describeDevice(handle, device));
  auto named = [&](const AttentionWork &work, const io::Status &status) {
    return status.ok()
               ? status
               : io::Status::error(version() + ": attention of " + work.describe() + ": " + status.message());
  };
  for (const AttentionWork &work : list) {
    all.push_back(std::make_unique<Planned>(*cudnn, work));
    PAR_TRY(named(work, all.back()->graph.write()));
  }
  if (stored) {
    here.cudnn = cudnn->version();
    io::Status taken = restore(*stored, here, device);
    from = taken.ok() ? "its plans are the package's"
                      : "its plans are made here, not the package's: " + taken.message();
    if (taken.ok())
      return {};
  }
  for (const std::unique_ptr<Planned> &one : all)
    PAR_TRY(named(one->work, plan(*one, device)));
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
