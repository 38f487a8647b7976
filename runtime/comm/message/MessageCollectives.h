/// Every collective as exchanges of messages. Results are equal, to the bit, to those of the other
/// transports: reductions go in member order. No member sends more than the ring algorithm would, but for
/// broadcasts, reductions to one member and all-reduced tensors of a few KiB (docs/Package.md, "Traffic").
#ifndef PAR_COMM_MESSAGE_MESSAGECOLLECTIVES_H
#define PAR_COMM_MESSAGE_MESSAGECOLLECTIVES_H

#include "comm/message/Messages.h"

namespace par::comm {

/// One rank's memory for running collectives, so that a step allocates nothing. Used by one thread
/// at a time.
class MessageCollectives {
public:
  MessageCollectives(Messages &messages, int rank) : messages(messages), rank(rank) {}
  /// Makes room for groups of this size.
  void reserve(int members);
  /// See Transport::run. An error as well when the neighbour in the group is in another collective.
  io::Status run(Group &group, const Collective &collective, void *const *buffers);
  io::Status barrier(Group &group);

private:
  /// One tensor of the collective being run.
  struct Tensor {
    const char *source;
    char *destination;
    int64_t bytes; ///< of the source
    bool inPlace() const { return source == destination; }
  };

  void enter(Group &group, const Collective *collective);
  io::Status checkNeighbours();
  io::Status runTensor(const Tensor &tensor);
  io::Status alone(const Tensor &tensor);
  io::Status allReduce(const Tensor &tensor);
  io::Status allReduceSmall(const Tensor &tensor);
  io::Status reduceScatter(const Tensor &tensor);
  io::Status reduceTo(const Tensor &tensor);
  io::Status allGather(const Tensor &tensor);
  io::Status allToAll(const Tensor &tensor);
  io::Status broadcast(const Tensor &tensor);
  io::Status gather(const Tensor &tensor);
  io::Status scatter(const Tensor &tensor);
  io::Status permute(const Tensor &tensor);

  void send(int member, const void *data, int64_t bytes);
  void receive(int member, void *data, int64_t bytes);
  /// Exchanges what was given to send and receive since the last call.
  io::Status flush();
  char *slot(int member) { return scratch.data() + slotBytes * member; }
  /// Own elements and what lies in the slots, in member order; written to `out`.
  void reduceSlots(const char *own, int64_t bytes, char *out);

  Messages &messages;
  const int rank;
  std::vector<char> scratch; ///< a slot per member
  std::vector<Message> sends, receives;
  Group *group = nullptr;
  const Collective *collective = nullptr;
  int n = 1, self = 0;
  int64_t slotBytes = 0; ///< depends on the group's size only, so that all members cut alike
};

} // namespace par::comm
#endif
