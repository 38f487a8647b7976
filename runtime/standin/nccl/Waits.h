/// What of this process waits for members of communicators: operations, and splits.
#ifndef PAR_STANDIN_NCCL_WAITS_H
#define PAR_STANDIN_NCCL_WAITS_H

#include <set>
#include <string>

namespace par::standin {

/// Known from its beginning to its end.
class Waits {
public:
  Waits();
  virtual ~Waits();
  Waits(const Waits &) = delete;
  /// Processes that have to come.
  virtual void addAwaited(std::set<int> &pids) const = 0;
  virtual std::string text() const = 0;
};

/// Nothing of this process moves (`stuck`), or something has: 1, and a finding, where all that it waits for
/// stands still as well.
int isDeadlock(int stuck);

} // namespace par::standin
#endif
