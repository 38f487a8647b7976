/// Messages between GPUs by ncclSend and ncclRecv.
#ifndef PAR_COMM_NCCL_NCCLROUTE_H
#define PAR_COMM_NCCL_NCCLROUTE_H

#include "comm/DeviceRoute.h"
#include "comm/RouteEnds.h"
#include "comm/nccl/NcclTransport.h"

namespace par::nccl {

/// One end of a way, with a communicator of its two ranks, the sender first, and a queue of its own.
class NcclRoute : public comm::DeviceRoute {
public:
  NcclRoute(NcclTransport &transport, std::shared_ptr<NcclCommunicator> communicator, bool sends, int lane,
            cuda::CudaDevice &device);
  io::Status post(const device::Address *buffers, const int64_t *bytes, size_t count,
                  uint64_t &number) override;
  io::Status await(uint64_t number) override;

private:
  io::Status enqueue(const device::Address *buffers, const int64_t *bytes, size_t count);

  NcclTransport &transport;
  const std::shared_ptr<NcclCommunicator> communicator;
  const bool sends;
  const int lane;
  cuda::CudaDevice &device;
  const std::unique_ptr<device::Queue> queue;
};

} // namespace par::nccl
#endif
