#include "comm/process/Handshake.h"

#include "par/io/Hmac.h"

#include <cstring>

namespace par::comm {

static constexpr std::string_view magic = "par-job2";

template <typename T>
static std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

std::string Hello::bytes() const { return std::string(magic) + bytesOf(rank) + bytesOf(size) + nonce; }

bool readHello(std::string_view bytes, Hello &hello) {
  if (bytes.size() != helloBytes || bytes.substr(0, magic.size()) != magic)
    return false;
  std::memcpy(&hello.rank, bytes.data() + 8, 4);
  std::memcpy(&hello.size, bytes.data() + 12, 4);
  hello.nonce = bytes.substr(16);
  return true;
}

/// Fields of fixed length behind a length each, so that no two conversations read the same.
static std::string proof(const Door &door, std::string_view role, const Hello &hello,
                         std::string_view challenge, std::string_view more) {
  std::string text;
  for (std::string_view part :
       {role, std::string_view(door.purpose), std::string_view(hello.nonce), challenge, more})
    text += bytesOf(uint32_t(part.size())) + std::string(part);
  return io::hmacSha256(door.key,
                        text + bytesOf(int32_t(door.host)) + bytesOf(hello.rank) + bytesOf(hello.size));
}

std::string guestProof(const Door &door, const Hello &hello, std::string_view challenge) {
  return proof(door, "guest", hello, challenge, "");
}

std::string verdictBytesOf(const Door &door, const Hello &hello, std::string_view challenge,
                           const Verdict &verdict) {
  std::string said = (verdict.accepted ? '\1' : '\0') + verdict.job;
  return said + proof(door, "host", hello, challenge, said);
}

bool readVerdict(const Door &door, const Hello &hello, std::string_view challenge, std::string_view bytes,
                 Verdict &verdict) {
  if (bytes.size() != verdictBytes)
    return false;
  std::string_view said = bytes.substr(0, 1 + nonceBytes);
  if (!io::equalInConstantTime(bytes.substr(said.size()), proof(door, "host", hello, challenge, said)))
    return false;
  verdict.accepted = said[0] == '\1';
  verdict.job = said.substr(1);
  return true;
}

Entry enter(const Door &door, int rank, int size, const Socket &connection, Clock::time_point deadline,
            Verdict &verdict) {
  Hello hello{rank, size, io::randomBytes(nonceBytes)};
  std::string sent = hello.bytes(), challenge(nonceBytes, '\0'), answer(verdictBytes, '\0');
  if (!sendAll(connection, sent.data(), sent.size(), deadline).ok() ||
      !receiveAll(connection, challenge.data(), challenge.size(), deadline).ok())
    return Entry::broken;
  std::string own = guestProof(door, hello, challenge);
  if (!sendAll(connection, own.data(), own.size(), deadline).ok())
    return Entry::broken;
  // A host that does not know this key hangs up now.
  if (!receiveAll(connection, answer.data(), answer.size(), deadline).ok() ||
      !readVerdict(door, hello, challenge, answer, verdict))
    return Entry::stranger;
  return verdict.accepted ? Entry::accepted : Entry::refused;
}

} // namespace par::comm
