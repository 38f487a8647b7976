/// A communicator of one rank, and the parts of its operations that go on while others come.
#ifndef PAR_STANDIN_NCCL_COMMUNICATOR_H
#define PAR_STANDIN_NCCL_COMMUNICATOR_H

#include "comm/nccl/NcclTypes.h"
#include "standin/Library.h"
#include "standin/nccl/SharedFile.h"

#include <memory>
#include <set>
#include <vector>

namespace par::standin {

/// The names of NCCL's functions, in the order of `names` in Communicator.cpp.
enum class Call { allReduce, reduceScatter, allGather, broadcast, reduce, send, receive };
const char *nameOf(Call call);
/// Of an element of NCCL's type.
uint64_t bytesOf(int type);

struct Communicator {
  Communicator(const std::string &name, int size, int rank, int device);
  /// Whether all have come; notes what is wrong with them.
  bool isComplete();
  /// The first that is gone, or -1.
  int firstGone() const;

  const std::string name; ///< of its file
  const int size, rank, device;
  SharedFile file;
  bool complete = false, aborted = false, finalized = false;
  nccl::ncclResult_t error = nccl::ncclSuccess; ///< what ncclCommGetAsyncError says
  uint64_t calls = 0;                           ///< collectives that have begun
  uint64_t splits = 0;
  std::vector<uint64_t> sends, receives; ///< by the other's number
  int underWay = 0;                      ///< operations
  int untaken = 0;                       ///< how often it still says that the last calls are being taken
};

/// One call of NCCL: its operation's part.
struct Part {
  std::shared_ptr<Communicator> comm;
  Call call;
  uint64_t from, to; ///< addresses; 0: none
  uint64_t count;
  int type, op, root; ///< `root`: of a message the other member

  bool isCollective() const { return call < Call::send; }
  /// "ncclAllReduce of 8 x 4 bytes on a communicator of 2"
  std::string text() const;
};

/// A part on its way.
class RunningPart {
public:
  explicit RunningPart(const Part &part) : part(part) {}
  bool isDone() const { return done; }
  /// A par_standin_progress.
  int advance(par_standin_operation *operation);
  /// Processes that have to come.
  void addAwaited(std::set<int> &pids) const;
  std::string text() const;

private:
  int enter(par_standin_operation *operation);
  int leave(par_standin_operation *operation);
  int advanceSend(par_standin_operation *operation);
  int advanceReceive(par_standin_operation *operation);
  bool isSame(int member) const;
  int combine(par_standin_operation *operation);
  int collect(par_standin_operation *operation);
  std::vector<int> missing() const;

  const Part &part;
  uint64_t number = 0; ///< of its call or message; 0: it has not begun
  bool posted = false, done = false;
};

} // namespace par::standin
#endif
