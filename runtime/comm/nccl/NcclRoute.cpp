#include "comm/nccl/NcclRoute.h"

#include <numeric>

namespace par::nccl {

NcclRoute::NcclRoute(NcclTransport &transport, std::shared_ptr<NcclCommunicator> communicator, bool sends,
                     int lane, cuda::CudaDevice &device)
    : transport(transport), communicator(std::move(communicator)), sends(sends), lane(lane), device(device),
      queue(device.makeQueue(1, {})) {}

io::Status NcclRoute::enqueue(const device::Address *buffers, const int64_t *bytes, size_t count) {
  const Nccl &nccl = transport.nccl;
  CUstream stream = static_cast<cuda::CudaQueue &>(*queue).stream();
  return communicator->group([&](ncclComm_t comm) {
    for (size_t i = 0; i < count; ++i) {
      auto *buffer = reinterpret_cast<void *>(buffers[i].value);
      if (bytes[i] > 0 && sends)
        PAR_NCCL(nccl, ncclSend, buffer, size_t(bytes[i]), ncclUint8, 1, comm, stream);
      if (bytes[i] > 0 && !sends)
        PAR_NCCL(nccl, ncclRecv, buffer, size_t(bytes[i]), ncclUint8, 0, comm, stream);
    }
    return io::Status();
  });
}

/// The event that the queue gives is the number.
io::Status NcclRoute::post(const device::Address *buffers, const int64_t *bytes, size_t count,
                           uint64_t &number) {
  auto &stream = static_cast<cuda::CudaQueue &>(*queue);
  int64_t total = std::accumulate(bytes, bytes + count, int64_t(0));
  PAR_TRY(queue->await(device.compute(), device.compute().record()));
  PAR_TRY(transport.recorder->begin(lane, stream, {sends ? "send" : "receive", total, transport.action()}));
  PAR_TRY(enqueue(buffers, bytes, count));
  PAR_TRY(transport.recorder->end(lane, stream));
  transport.moved += sends ? uint64_t(total) : 0;
  number = stream.added({});
  return stream.status();
}

io::Status NcclRoute::await(uint64_t number) { return device.compute().await(*queue, number); }

} // namespace par::nccl
