/// Ranks that are threads with a GPU each and NCCL between them: what tests of it begin with.
#ifndef PAR_TEST_CUDA_NCCLRANKS_H
#define PAR_TEST_CUDA_NCCLRANKS_H

#include "Standin.h"
#include "comm/nccl/NcclTransport.h"
#include "cuda/CudaDevice.h"

#include <atomic>
#include <functional>

namespace par::test {

class NcclRanks : public Standin {
protected:
  NcclRanks();

  struct OfRank {
    nccl::NcclTransport &transport;
    cuda::CudaDevice &device;
    int rank, ranks;
    device::Address memory; ///< 4096 bytes, floats of 1
  };
  /// A rank for each of the GPUs, whose devices may fail.
  void run(const std::function<void(OfRank &)> &body, const std::vector<int> &gpus = {0, 1},
           double timeout = 30);
  static io::Status connect(OfRank &all, const std::vector<comm::Division> &divisions);
  static comm::Collective sum(int64_t count, comm::Kind kind = comm::Kind::all_reduce);
  /// From the rank's memory at `offset` to 1024 bytes behind.
  static uint64_t enqueue(OfRank &all, comm::Group &group, const comm::Collective &what, device::Queue &queue,
                          int64_t offset = 0);
  static io::Status finish(OfRank &all);

  std::atomic<int> failures{0}; ///< that transports have told of
};

} // namespace par::test
#endif
