/// A collective of the package as calls of NCCL and copies on one stream.
#ifndef PAR_COMM_NCCL_NCCLCOLLECTIVES_H
#define PAR_COMM_NCCL_NCCLCOLLECTIVES_H

#include "comm/Collective.h"
#include "comm/nccl/NcclCommunicator.h"
#include "cuda/CudaDevice.h"

namespace par::nccl {

/// A member's part of a collective.
struct NcclExchange {
  const Nccl &nccl;
  NcclCommunicator *communicator; ///< null where the group has one member
  const comm::Collective &collective;
  const device::Address *buffers; ///< sources, then destinations
  int members, self;
  cuda::CudaDevice &device;
  cuda::CudaQueue &queue;
};

/// Enqueues it.
io::Status enqueueCollective(const NcclExchange &exchange);

/// Bytes of memory that it needs beside its buffers where it works in place (Accelerator::room).
int64_t roomOf(const comm::Collective &collective);

} // namespace par::nccl
#endif
