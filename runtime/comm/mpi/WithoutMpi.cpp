// Stands in for MpiMessages.cpp where Open MPI's headers are not installed.
#include "comm/mpi/MpiMessages.h"

namespace par::comm {

static io::Status absent() {
  return io::Status::error(
      "transport mpi: this par-run was built without Open MPI; install libopenmpi-dev and build again, or "
      "give --transport tcp");
}

bool builtWithMpi() { return false; }
io::Status startMpi(int &, int &) { return absent(); }
io::Status broadcastByMpi(std::string &) { return absent(); }
std::unique_ptr<Messages> openMpiMessages(int, int) { return nullptr; }
void stopMpi() {}

} // namespace par::comm
