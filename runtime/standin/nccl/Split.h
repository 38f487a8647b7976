/// ncclCommSplit: what each member asks for lies in the file of the communicator, and stays there.
#ifndef PAR_STANDIN_NCCL_SPLIT_H
#define PAR_STANDIN_NCCL_SPLIT_H

#include "standin/nccl/Communicator.h"
#include "standin/nccl/Waits.h"

namespace par::standin {

/// One member's call while it waits for the others'.
class Split : public Waits {
public:
  /// `stalls`: it never comes to the others.
  Split(std::shared_ptr<Communicator> of, int color, int key, bool stalls);
  ~Split() override;
  /// Whether it has ended, well or with an error of the communicator, which was reported.
  bool advance();
  /// What it has made: null where this member has no part.
  std::shared_ptr<Communicator> made() const { return part; }

  void addAwaited(std::set<int> &pids) const override;
  std::string text() const override;

private:
  std::vector<int> missing() const;
  bool isGivenUp() const;
  bool haveKeys() const;
  void makePart();

  const std::shared_ptr<Communicator> comm;
  const uint64_t number;
  const int color;
  const bool stalls;
  std::shared_ptr<Communicator> part;
};

} // namespace par::standin
#endif
