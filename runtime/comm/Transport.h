/// How ranks talk. One Transport object is one rank's end; docs/Running.md lists the transports.
#ifndef PAR_COMM_TRANSPORT_H
#define PAR_COMM_TRANSPORT_H

#include "comm/Collective.h"
#include "comm/DeviceRoute.h"
#include "comm/Division.h"
#include "par/io/Status.h"

#include <memory>
#include <vector>

namespace par::comm {

/// A group of ranks as one member sees it. Owned by its Transport.
class Group {
public:
  Group(std::vector<int> ranks, int member) : ranks(std::move(ranks)), self(member) {}
  virtual ~Group() = default;
  int size() const { return int(ranks.size()); }
  /// Number of this rank within the group.
  int member() const { return self; }
  const std::vector<int> &members() const { return ranks; }

private:
  std::vector<int> ranks;
  int self;
};

class Transport {
public:
  virtual ~Transport() = default;

  /// The group with these ranks, in this order. Every member calls it, with groups in the same order; not
  /// within a step. Groups of the same ranks on different channels share nothing (NCCL: two communicators).
  virtual Group *group(const std::vector<int> &ranks, int channel = 0) = 0;

  /// Runs a collective on host memory to its end. `buffers` = one source per tensor, then one destination per
  /// tensor; a source may equal its destination on all members, and otherwise does not overlap it. In place,
  /// what lies behind a shorter result means nothing afterwards. Returns at
  /// once when the group has one member and the data need not move. Adds the ring bytes of this member
  /// (Collective.h: a formula, whatever the transport does) to *sent, if given. Allocates nothing.
  io::Status run(Group &group, const Collective &collective, void *const *buffers, uint64_t *sent = nullptr);

  /// Enqueues a collective on a device's memory and returns its event (Queue.h). All that is given lives
  /// until then. Transports of the host run it by `run` within the queue: while any is under way nobody else
  /// may call the transport. (NCCL enqueues on a stream.)
  virtual uint64_t enqueue(Group &group, const Collective &collective, const device::Address *buffers,
                           device::Device &device, device::Queue &queue, uint64_t *sent = nullptr);
  /// Once before collectives run on a device and routes of its memory are made, by every rank: `all` of them,
  /// and the same divisions, which have the groups of all. (NCCL: makes the communicators.)
  virtual io::Status connect(Group &all, const std::vector<Division> &divisions, device::Device &device) {
    (void)all, (void)divisions, (void)device;
    return {};
  }
  /// Whether what it enqueues on a device may be recorded and done again and again: then no host has a part
  /// in it.
  virtual bool isRecordable() const { return false; }
  /// The device is about to go, and nothing is under way: what the transport has there is given back. Every
  /// rank calls it. Routes are gone by then.
  virtual void leave() {}
  /// Once before a collective runs on a device, by every member: room for it, so that running it takes none.
  /// An error where this transport cannot move that device's memory.
  virtual io::Status prepare(Group &group, const Collective &collective, device::Device &device);
  /// Room for collectives of so many tensors, so that running them takes nothing from the heap.
  void reserve(size_t tensors);

  /// Connects what routes need. All ranks call it once where some have routes.
  virtual io::Status openRoutes() { return {}; }
  /// The way of messages from this rank to `other` (`sends`) or from it, for messages of up to `buffers`
  /// buffers, `most` under way at once. Both ends call it, not within a step, behind openRoutes. Owned by the
  /// transport.
  virtual Route *route(int other, bool sends, size_t most, size_t buffers) = 0;
  /// The same for memory of a device, which the route does not outlive. Both ends call it; those of several
  /// routes in the order of their ranks, (from, to). An error where this transport cannot move that device's
  /// memory, or was not told of the route by `connect`, if it has to be.
  virtual io::Status makeRoute(int other, bool sends, size_t most, size_t buffers, device::Device &device,
                               std::unique_ptr<DeviceRoute> &made);

  /// Returns when every member has called it.
  virtual io::Status barrier(Group &group) = 0;

  /// Bytes that this rank has handed over so far, counted where that is done. To a network: collectives, what
  /// members compare before them, barriers. Where ranks share memory: what it moved between buffers of two
  /// ranks, or read from another's to reduce it. Messages of routes count with the bytes of their buffers.
  /// Not while anything runs.
  virtual uint64_t handedOver() const = 0;

  /// From now on ranks compute while collectives run: waiting gives the core away at once.
  virtual void shareCores() {}

  /// Makes every waiting and every later call of all ranks fail. Callable from any thread.
  virtual void abort() = 0;

protected:
  virtual io::Status execute(Group &group, const Collective &collective, void *const *buffers) = 0;

private:
  std::vector<void *> reached; ///< buffers of the collective that a queue runs, as the host reaches them
};

} // namespace par::comm
#endif
