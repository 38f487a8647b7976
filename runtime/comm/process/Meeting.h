/// Where the processes of a job over TCP meet: at rank 0's address and port, with a secret that they share.
#ifndef PAR_COMM_PROCESS_MEETING_H
#define PAR_COMM_PROCESS_MEETING_H

#include "comm/process/Secret.h"
#include "comm/process/Socket.h"

namespace par::comm {

/// What to do where processes of several machines have no secret.
constexpr char sharingASecret[] =
    "processes on several machines need a secret that all of them know: make a file with head -c 32 "
    "/dev/urandom > FILE; chmod 600 FILE, copy it to every machine and name it in PAR_SECRET_FILE";

struct Meeting {
  std::string host; ///< MASTER_ADDR
  int port = 0;
  std::string secretFile; ///< PAR_SECRET_FILE; empty: all processes run on one machine
};

/// Rank 0: takes the port of that address and listens; `posted` holds the secret where no file was given.
io::Status openMeeting(const Meeting &meeting, Listener &listener, PostedSecret &posted, std::string &key);

/// The others: addresses to try.
io::Status findMeeting(const Meeting &meeting, std::vector<Address> &addresses);

/// The secret of whoever listens at the address.
io::Status readSecretOf(const Meeting &meeting, const Address &address, std::string &key);

/// Where a process of this job is to listen for others, given its connection to rank 0: the address at which
/// rank 0 sees it. Empty: every interface.
std::string ownHost(const Meeting &meeting, const Socket &connection);

} // namespace par::comm
#endif
