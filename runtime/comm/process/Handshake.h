/// How two processes prove to each other that they belong to one job, before either believes a word:
///
///   guest to host   hello      who it says it is, and a random number
///   host to guest   challenge  another random number
///   guest to host   answer     HMAC of both, under the job's key
///   host to guest   verdict    let in or not, and HMAC of all that, under the job's key
///
/// The key itself never travels. Each proof covers purpose, ranks, size and both numbers, so that none serves
/// twice, for another rank, or for the other direction. Nothing that follows is encrypted or signed.
#ifndef PAR_COMM_PROCESS_HANDSHAKE_H
#define PAR_COMM_PROCESS_HANDSHAKE_H

#include "comm/process/Socket.h"

#include <string_view>

namespace par::comm {

/// What both ends know before they meet.
struct Door {
  std::string key;
  std::string purpose; ///< "control" or "data"
  int host;            ///< rank of the end that listens
};

constexpr size_t nonceBytes = 32, proofBytes = 32;
constexpr size_t helloBytes = 16 + nonceBytes, verdictBytes = 1 + nonceBytes + proofBytes;

struct Hello {
  int32_t rank, size;
  std::string nonce;

  std::string bytes() const;
};
/// False unless it is a hello of this protocol; whether it is true is another question.
bool readHello(std::string_view bytes, Hello &hello);

struct Verdict {
  bool accepted = false;
  std::string job; ///< a random number that rank 0 chose for this job
};

std::string guestProof(const Door &door, const Hello &hello, std::string_view challenge);
std::string verdictBytesOf(const Door &door, const Hello &hello, std::string_view challenge,
                           const Verdict &verdict);
/// False unless the host has proved to know the key.
bool readVerdict(const Door &door, const Hello &hello, std::string_view challenge, std::string_view bytes,
                 Verdict &verdict);

/// What came of a guest's attempt.
enum class Entry { accepted, refused, stranger, broken };
/// The guest's part on a connection. `stranger`: the other end does not know the key, or thinks so of this
/// one.
Entry enter(const Door &door, int rank, int size, const Socket &connection, Clock::time_point deadline,
            Verdict &verdict);

} // namespace par::comm
#endif
