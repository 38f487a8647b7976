#include "core/Messages.h"

#include "core/Error.h"
#include "core/Topology.h"

#include <algorithm>
#include <numeric>

namespace par::rt {

bool hasMessages(const Manifest &manifest) {
  return std::any_of(manifest.programs.begin(), manifest.programs.end(),
                     [](const Program &program) { return !program.messages.empty(); });
}

std::string messageTrafficKey() { return std::string("send:") + pipelineAxis; }

/// Routes are made in the order of their ends, the same on all ranks: who makes one may wait for the other
/// end.
Messages::Messages(const Manifest &manifest, int number, comm::Transport &transport, device::Device &device)
    : device(device) {
  const Program &program = manifest.programOf(number);
  size_t buffers = 0;
  for (const ManifestMessage &message : program.messages) {
    buffers = std::max(buffers, message.bytes.size());
    routes[endsOf(manifest, number, message)] = nullptr;
  }
  addresses.resize(buffers);
  for (auto &[ends, route] : routes) {
    bool sends = ends.first == number;
    io::Status status = transport.makeRoute(sends ? ends.second : ends.first, sends,
                                            par_most_messages_under_way, buffers, device, route);
    if (!status.ok())
      throw Error(manifest.path + ": messages of rank " + std::to_string(number) + ": " + status.message());
  }
  for (const ManifestMessage &message : program.messages)
    messages.push_back({&message, routes[endsOf(manifest, number, message)].get()});
}

io::Status Messages::start(size_t index, void *const *buffers) {
  OnRoute &one = messages[index];
  const std::vector<int64_t> &bytes = one.what->bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    addresses[i] = device.fromProgram(buffers[i]);
    if (!one.what->sends)
      device.discard(addresses[i], size_t(bytes[i]));
  }
  uint64_t number = 0;
  if (one.underWay.size() == par_most_messages_under_way)
    return io::Status::error("more than " + std::to_string(par_most_messages_under_way) +
                             " messages of one kind are under way; compile the package again");
  PAR_TRY(one.route->post(addresses.data(), bytes.data(), bytes.size(), number));
  one.underWay.begin(number);
  if (one.what->sends)
    one.sent += uint64_t(std::accumulate(bytes.begin(), bytes.end(), int64_t(0)));
  return {};
}

io::Status Messages::wait(size_t index) {
  OnRoute &one = messages[index];
  std::optional<uint64_t> number = one.underWay.end();
  if (!number)
    return io::Status::error("waits for " + one.what->what +
                             ", of which none has begun; compile the package again");
  one.last = *number;
  return one.route->await(one.last);
}

comm::Route::Clock::time_point Messages::endOfLast(size_t index) const {
  const OnRoute &one = messages[index];
  return one.route->endOf(one.last);
}

void Messages::addTraffic(std::map<std::string, uint64_t> &bytes) const {
  for (const OnRoute &one : messages)
    if (one.sent)
      bytes[messageTrafficKey()] += one.sent;
}

void Messages::resetTraffic() {
  for (OnRoute &one : messages)
    one.sent = 0;
}

} // namespace par::rt
