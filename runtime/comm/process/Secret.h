/// The secret of a job whose processes no launcher brings together: who can read it belongs to the job.
#ifndef PAR_COMM_PROCESS_SECRET_H
#define PAR_COMM_PROCESS_SECRET_H

#include "comm/process/Address.h"

namespace par::comm {

/// A file that the user made and named. An error unless it is a regular file of this user alone with 32 bytes
/// or more.
io::Status readSecretFile(const std::string &path, std::string &key);

/// A secret for a job on one machine: a file of this user alone, named by rank 0's address and port, in
/// $XDG_RUNTIME_DIR, /run/user/UID or a folder of this user in the folder for temporary files. Rank 0, which
/// has taken the port, writes a fresh one; it goes when all have come.
class PostedSecret {
public:
  PostedSecret() = default;
  PostedSecret(const PostedSecret &) = delete;
  PostedSecret &operator=(const PostedSecret &) = delete;
  ~PostedSecret();
  io::Status post(const Address &place, std::string &key);

private:
  std::string path;
};

/// What rank 0 posted for this place.
io::Status readPostedSecret(const Address &place, std::string &key);

} // namespace par::comm
#endif
