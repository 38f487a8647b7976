/// Collectives of ranks that are threads of one process and compute on one device: the host says who takes
/// part, events order the rest.
#ifndef PAR_COMM_LOCAL_LOCALDEVICES_H
#define PAR_COMM_LOCAL_LOCALDEVICES_H

#include "comm/Collective.h"
#include "device/Accelerator.h"

namespace par::comm {

/// Places of a collective that others wait for.
struct DeviceFences {
  device::Fence *ready = nullptr, *read = nullptr, *done = nullptr;
};

/// What a member brings.
struct DevicePost {
  const Collective *collective = nullptr;
  const device::Address *buffers = nullptr; ///< sources, then destinations
  DeviceFences fences;
};

/// One member's view of a collective.
struct DeviceExchange {
  const Collective &collective;
  const DevicePost *posts; ///< of all members
  int members, self;
  device::Device &device;
  device::Queue &queue;
};

/// Whether some member's result lies where others still read: it is written to memory of its own first.
bool isStaged(const DeviceExchange &exchange);
/// Enqueues what this member does: it writes its own destinations, of an all-reduce a share of everyone's.
io::Status moveOnDevice(const DeviceExchange &exchange);
/// From memory of its own to its destinations.
io::Status unstage(const DeviceExchange &exchange);

/// Elements that are combined at once, and bytes of staged results, at most.
void roomOf(const Collective &collective, int members, int64_t &elements, int64_t &bytes);

} // namespace par::comm
#endif
