/// Messages from one rank's device to another's.
#ifndef PAR_COMM_DEVICEROUTE_H
#define PAR_COMM_DEVICEROUTE_H

#include "comm/Route.h"
#include "device/Device.h"

#include <vector>

namespace par::comm {

/// As Route, for memory of a device: nothing waits for data but the device. Used by the rank's thread.
class DeviceRoute {
public:
  virtual ~DeviceRoute() = default;

  /// Begins the next message, behind all that the device computes so far, and gives it a number, larger than
  /// those before. Its buffers are the message's until it has ended.
  virtual io::Status post(const device::Address *buffers, const int64_t *bytes, size_t count,
                          uint64_t &number) = 0;

  /// What the device computes from now on is behind the end of message `number` here. The host may wait for
  /// the other end's host, which has to post the message as well.
  virtual io::Status await(uint64_t number) = 0;

  /// See Route::endOf.
  virtual Route::Clock::time_point endOf(uint64_t) { return Route::Clock::now(); }
};

/// For devices whose memory the host reaches: a route of the host moves the bytes, when they are computed.
class HostMovedRoute : public DeviceRoute {
public:
  HostMovedRoute(Route &route, device::Device &device, size_t buffers)
      : route(route), device(device), reached(buffers) {}
  io::Status post(const device::Address *buffers, const int64_t *bytes, size_t count,
                  uint64_t &number) override;
  io::Status await(uint64_t number) override { return route.wait(number); }
  Route::Clock::time_point endOf(uint64_t number) override { return route.endOf(number); }

private:
  Route &route;
  device::Device &device;
  std::vector<void *> reached; ///< buffers of the message that begins, as the host reaches them
};

} // namespace par::comm
#endif
