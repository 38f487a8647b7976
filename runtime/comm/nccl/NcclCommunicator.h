/// A communicator of NCCL, none of whose calls waits for ever.
#ifndef PAR_COMM_NCCL_NCCLCOMMUNICATOR_H
#define PAR_COMM_NCCL_NCCLCOMMUNICATOR_H

#include "comm/nccl/Nccl.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

namespace par::nccl {

/// How long calls may take, and who ends them sooner.
struct Patience {
  double seconds = 300;
  const std::atomic<bool> *ended = nullptr; ///< the job is over
};

class NcclCommunicator {
public:
  /// Every member calls it with the same id.
  static io::Status make(const Nccl &nccl, const ncclUniqueId &id, int size, int member, Patience patience,
                         std::unique_ptr<NcclCommunicator> &made);
  /// Divides the members: those of one color, in the order of their keys, have a communicator of their own,
  /// and those of ncclSplitNoColor a null one. Every member calls it, one split after the other; what is made
  /// goes before this one does.
  io::Status split(int color, int key, std::unique_ptr<NcclCommunicator> &made);
  /// Waits for the others, which are at their ends as well; gives up on those that do not come.
  ~NcclCommunicator();

  /// Calls that NCCL takes as one: `calls` enqueues, and returns NCCL's first failure.
  io::Status group(const std::function<io::Status(ncclComm_t)> &calls);

  /// What went wrong on its own: another rank is gone, a network broke. From any thread.
  io::Status asyncError();
  /// Ends all that is under way. From any thread.
  void abort();

private:
  NcclCommunicator(const Nccl &nccl, Patience patience) : nccl(nccl), patience(patience) {}
  /// Waits until what was called has been taken.
  io::Status settle(const char *function, double seconds);
  io::Status takePart(int color, std::unique_ptr<NcclCommunicator> &made);
  void abortLocked();

  const Nccl &nccl;
  const Patience patience;
  std::mutex mutex; ///< of `handle`
  ncclComm_t handle = nullptr;
  /// Where NCCL puts the communicator of a split, on a thread of its own and as late as it ends: also when
  /// nobody waits for it any more.
  ncclComm_t part = nullptr;
};

} // namespace par::nccl
#endif
