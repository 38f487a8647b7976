#include "core/Messages.h"

#include "core/Topology.h"

#include <algorithm>
#include <numeric>

namespace par::rt {

bool hasMessages(const Manifest &manifest) {
  return std::any_of(manifest.programs.begin(), manifest.programs.end(),
                     [](const Program &program) { return !program.messages.empty(); });
}

std::string messageTrafficKey() { return std::string("send:") + pipelineAxis; }

Messages::Messages(const Manifest &manifest, int number, comm::Transport &transport, device::Device &device)
    : device(device) {
  const Program &program = manifest.programOf(number);
  size_t buffers = 0;
  for (const ManifestMessage &message : program.messages)
    buffers = std::max(buffers, message.bytes.size());
  reached.resize(buffers);
  std::map<std::pair<int, bool>, comm::Route *> routes;
  for (const ManifestMessage &message : program.messages)
    routes[{message.stage, message.sends}] = nullptr;
  for (auto &[key, route] : routes)
    route = transport.route(neighbourOf(manifest, number, key.first), key.second, mostUnderWay, buffers);
  for (const ManifestMessage &message : program.messages)
    messages.push_back(
        {&message, routes[{message.stage, message.sends}], std::vector<uint64_t>(mostUnderWay), 0, 0, 0});
}

io::Status Messages::start(size_t index, void *const *buffers) {
  OnRoute &one = messages[index];
  const std::vector<int64_t> &bytes = one.what->bytes;
  // The transports of the host move bytes that are computed.
  PAR_TRY(device.compute().wait(device.compute().record()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    device::Address address = device.fromProgram(buffers[i]);
    if (!one.what->sends)
      device.discard(address, size_t(bytes[i]));
    reached[i] = device.reach(address);
  }
  if (one.started - one.waited == mostUnderWay)
    return io::Status::error("more than " + std::to_string(mostUnderWay) +
                             " messages of one kind are under way; compile the package again");
  one.numbers[one.started++ % mostUnderWay] = one.route->post(reached.data(), bytes.data(), bytes.size());
  if (one.what->sends)
    one.sent += uint64_t(std::accumulate(bytes.begin(), bytes.end(), int64_t(0)));
  return {};
}

io::Status Messages::wait(size_t index) {
  OnRoute &one = messages[index];
  return one.route->wait(one.numbers[one.waited++ % mostUnderWay]);
}

comm::Route::Clock::time_point Messages::endOfLast(size_t index) const {
  const OnRoute &one = messages[index];
  return one.route->endOf(one.numbers[(one.waited - 1) % mostUnderWay]);
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
