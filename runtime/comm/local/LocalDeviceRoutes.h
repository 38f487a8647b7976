/// Messages between ranks that are threads of one process and compute on one device.
#ifndef PAR_COMM_LOCAL_LOCALDEVICEROUTES_H
#define PAR_COMM_LOCAL_LOCALDEVICEROUTES_H

#include "comm/local/LocalRoutes.h"
#include "device/Accelerator.h"

namespace par::comm {

/// A mailbox whose copies are enqueued: behind a fence of the end that came first, on the queue of the one
/// that came second. The hosts never wait for data.
class DeviceMailbox : public Mailbox {
public:
  using Mailbox::Mailbox;

  /// `queue`: of this end alone.
  void openOn(End end, size_t most, size_t buffers, device::Device &device, device::Queue &queue);
  /// What is enqueued from now on is behind message `number`, for which the host has waited. Once at each
  /// end.
  io::Status await(uint64_t number, device::Queue &queue);

protected:
  io::Status begin(End end, uint64_t number) override;
  io::Status copy(End end, uint64_t number, const Post &source, const Post &target) override;

private:
  /// An end's device, and fences of it that nobody needs now: no step makes any when there are enough.
  struct OnDevice {
    device::Device *device = nullptr;
    device::Queue *queue = nullptr;
    std::vector<device::Fence *> spare;
    device::Fence &take();
  };
  struct Message {
    device::Fence *ready = nullptr, *done = nullptr;
    End copied = receiver; ///< the end that enqueued the copy
    int awaited = 0;       ///< ends that have
  };
  Message &at(uint64_t number) { return messages[(number - 1) % messages.size()]; }

  OnDevice onDevice[2];
  std::vector<Message> messages; ///< by number modulo its size
};

/// One end of it, with a queue of its own: messages to one neighbour do not wait for those to another.
class LocalDeviceRoute : public DeviceRoute {
public:
  LocalDeviceRoute(DeviceMailbox &mailbox, Mailbox::End end, size_t most, size_t buffers,
                   device::Device &device);
  io::Status post(const device::Address *buffers, const int64_t *bytes, size_t count,
                  uint64_t &number) override;
  io::Status await(uint64_t number) override;

private:
  DeviceMailbox &mailbox;
  const Mailbox::End end;
  device::Device &device;
  std::unique_ptr<device::Queue> queue;
  std::vector<void *> pointers; ///< addresses of the message that begins
};

} // namespace par::comm
#endif
