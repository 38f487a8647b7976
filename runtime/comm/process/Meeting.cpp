#include "comm/process/Meeting.h"

#include <algorithm>

namespace par::comm {

static io::Status resolveMaster(const Meeting &meeting, std::vector<Address> &addresses) {
  if (io::Status status = resolve(meeting.host, meeting.port, addresses); !status.ok())
    return io::Status::error("MASTER_ADDR: " + status.message());
  if (addresses.front().isAny())
    return io::Status::error("MASTER_ADDR=" + meeting.host +
                             " is every address and so none; give one of the machine where rank 0 runs");
  return {};
}

/// A machine's own name often stands for a loopback address on the machine itself (Debian's 127.0.1.1), and
/// for another one elsewhere: where several machines take part, no single address is right.
static bool isOwnNameOnly(const Meeting &meeting, const std::vector<Address> &addresses) {
  return !meeting.secretFile.empty() && !isNumeric(meeting.host) && meeting.host != "localhost" &&
         std::all_of(addresses.begin(), addresses.end(), [](const Address &one) { return one.isLoopback(); });
}

io::Status openMeeting(const Meeting &meeting, Listener &listener, PostedSecret &posted, std::string &key) {
  std::vector<Address> addresses;
  if (!meeting.secretFile.empty())
    PAR_TRY(readSecretFile(meeting.secretFile, key));
  PAR_TRY(resolveMaster(meeting, addresses));
  if (isOwnNameOnly(meeting, addresses))
    addresses.clear();
  if (io::Status status = listener.bind(addresses, meeting.port); !status.ok())
    return io::Status::error("MASTER_ADDR=" + meeting.host + ", where rank 0 runs: " + status.message() +
                             "; give an address of rank 0's machine and another MASTER_PORT");
  if (meeting.secretFile.empty())
    PAR_TRY(posted.post(listener.get().ownEnd(), key));
  return listener.listen();
}

io::Status findMeeting(const Meeting &meeting, std::vector<Address> &addresses) {
  PAR_TRY(resolveMaster(meeting, addresses));
  if (!meeting.secretFile.empty())
    return {};
  auto others = std::remove_if(addresses.begin(), addresses.end(),
                               [](const Address &address) { return !isOwn(address); });
  addresses.erase(others, addresses.end());
  if (!addresses.empty())
    return {};
  return io::Status::error("MASTER_ADDR=" + meeting.host + " is another machine's, and " + sharingASecret);
}

io::Status readSecretOf(const Meeting &meeting, const Address &address, std::string &key) {
  return meeting.secretFile.empty() ? readPostedSecret(address, key)
                                    : readSecretFile(meeting.secretFile, key);
}

std::string ownHost(const Meeting &meeting, const Socket &connection) {
  std::vector<Address> addresses;
  if (resolveMaster(meeting, addresses).ok() && isOwnNameOnly(meeting, addresses))
    return "";
  return connection.ownEnd().text();
}

} // namespace par::comm
