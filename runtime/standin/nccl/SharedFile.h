/// What the members of a communicator share: a file in memory. Every word in it has one writer.
#ifndef PAR_STANDIN_NCCL_SHAREDFILE_H
#define PAR_STANDIN_NCCL_SHAREDFILE_H

#include <atomic>
#include <cstdint>
#include <string>

namespace par::standin {

constexpr int mostMembers = 32, mostSplits = 256;

/// A collective, as a member has called it.
struct CallOfMember {
  int32_t kind, type, op, root;
  uint64_t count;
};

/// What a member asks of a split.
struct PartOfMember {
  int32_t color, key;
};

/// Written by one member, read by all.
struct SharedMember {
  std::atomic<int32_t> pid; ///< 0: it has not come
  std::atomic<int32_t> device;
  std::atomic<uint64_t> posted; ///< its call of this number and what it gives are there
  std::atomic<uint64_t> taken;  ///< it has all that it needs of the others for this one
  CallOfMember call;            ///< of number `posted`
  std::atomic<uint64_t> splits; ///< what it asks of the split of this number is there
  PartOfMember parts[mostSplits];
  std::atomic<int32_t> leaves; ///< it comes to nothing any more
};

/// From one member to another: `sent` and `bytes` are the sender's, `received` the other's.
struct SharedChannel {
  std::atomic<uint64_t> sent, received;
  uint64_t bytes; ///< of message `sent`
};

/// The file is named by the communicator's id until all have come.
class SharedFile {
public:
  explicit SharedFile(const std::string &name);
  ~SharedFile();
  SharedFile(const SharedFile &) = delete;
  explicit operator bool() const { return content; }
  void forgetName() const;

  SharedMember &member(int number) const { return content->members[number]; }
  SharedChannel &channel(int from, int to) const { return content->channels[from][to]; }

  // What a member gives in a collective, and the message of a channel.
  void give(int member, const void *data, uint64_t bytes) const { write(1 + uint64_t(member), data, bytes); }
  void take(int member, uint64_t offset, void *data, uint64_t bytes) const {
    read(1 + uint64_t(member), offset, data, bytes);
  }
  void send(int from, int to, const void *data, uint64_t bytes) const { write(room(from, to), data, bytes); }
  void receive(int from, int to, void *data, uint64_t bytes) const { read(room(from, to), 0, data, bytes); }

private:
  struct Content {
    SharedMember members[mostMembers];
    SharedChannel channels[mostMembers][mostMembers];
  };
  static uint64_t room(int from, int to) {
    return 1 + uint64_t(mostMembers) * uint64_t(1 + from) + uint64_t(to);
  }
  void write(uint64_t room, const void *data, uint64_t bytes) const;
  void read(uint64_t room, uint64_t offset, void *data, uint64_t bytes) const;

  const std::string name;
  int file = -1;
  Content *content = nullptr;
};

} // namespace par::standin
#endif
