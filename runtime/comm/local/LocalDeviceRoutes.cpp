#include "comm/local/LocalDeviceRoutes.h"

#include <algorithm>

namespace par::comm {

device::Fence &DeviceMailbox::OnDevice::take() {
  if (spare.empty())
    return device->accelerator()->makeFence();
  device::Fence *fence = spare.back();
  spare.pop_back();
  return *fence;
}

void DeviceMailbox::openOn(End end, size_t most, size_t buffers, device::Device &device,
                           device::Queue &queue) {
  open(end, most, buffers);
  std::lock_guard<std::mutex> lock(mutex);
  onDevice[end].device = &device, onDevice[end].queue = &queue;
  onDevice[end].spare.reserve(2 * std::max<size_t>(most, 1));
  messages.resize(std::max({messages.size(), most, size_t(1)}));
}

io::Status DeviceMailbox::begin(End end, uint64_t number) {
  Message &message = at(number);
  message.ready = &onDevice[end].take();
  return message.ready->record(*onDevice[end].queue);
}

/// A fence may be recorded anew once all have been told to wait for it.
io::Status DeviceMailbox::copy(End end, uint64_t number, const Post &source, const Post &target) {
  Message &message = at(number);
  OnDevice &own = onDevice[end], &other = onDevice[1 - end];
  PAR_TRY(message.ready->await(*own.queue));
  other.spare.push_back(message.ready);
  for (size_t i = 0; i < target.count; ++i)
    if (target.bytes[i] > 0)
      own.device->copy(*own.queue, own.device->fromProgram(target.buffers[i]),
                       own.device->fromProgram(source.buffers[i]), size_t(target.bytes[i]));
  message.copied = end, message.awaited = 0;
  message.done = &own.take();
  return message.done->record(*own.queue);
}

io::Status DeviceMailbox::await(uint64_t number, device::Queue &queue) {
  std::lock_guard<std::mutex> lock(mutex);
  Message &message = at(number);
  PAR_TRY(message.done->await(queue));
  if (++message.awaited == 2)
    onDevice[message.copied].spare.push_back(message.done);
  return {};
}

LocalDeviceRoute::LocalDeviceRoute(DeviceMailbox &mailbox, Mailbox::End end, size_t most, size_t buffers,
                                   device::Device &device)
    : mailbox(mailbox), end(end), device(device), queue(device.makeQueue(1, {})), pointers(buffers) {
  mailbox.openOn(end, most, buffers, device, *queue);
}

io::Status LocalDeviceRoute::post(const device::Address *buffers, const int64_t *bytes, size_t count,
                                  uint64_t &number) {
  PAR_TRY(queue->await(device.compute(), device.compute().record()));
  pointers.resize(std::max(pointers.size(), count)); // the mailbox says what is wrong with so many
  for (size_t i = 0; i < count; ++i)
    pointers[i] = device.inProgram(buffers[i]);
  number = mailbox.post(end, pointers.data(), bytes, count);
  return {};
}

io::Status LocalDeviceRoute::await(uint64_t number) {
  PAR_TRY(mailbox.wait(end, number));
  return mailbox.await(number, device.compute());
}

} // namespace par::comm
