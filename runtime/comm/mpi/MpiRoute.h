/// Messages of a pipeline by MPI.
#ifndef PAR_COMM_MPI_MPIROUTE_H
#define PAR_COMM_MPI_MPIROUTE_H

#include "comm/Route.h"
#include "comm/mpi/MpiEnd.h"

#include <vector>

namespace par::comm {

/// Messages to or from a rank of MPI's world, in the order in which they are posted. They move on whenever a
/// thread of this process waits for anything.
class MpiRoute : public Route {
public:
  MpiRoute(MpiEnd &end, std::atomic<uint64_t> &handed, int other, bool sends, size_t most, size_t buffers);
  uint64_t post(void *const *buffers, const int64_t *bytes, size_t count) override;
  io::Status wait(uint64_t number) override;

private:
  /// A part of a buffer that one request moves.
  struct Piece {
    MPI_Request request;
    int64_t bytes;
  };
  struct Posted {
    std::vector<Piece> pieces;
    size_t done = 0; ///< pieces
  };

  io::Status begin(Posted &message, char *data, int64_t bytes);
  io::Status ask(Posted &message, bool &done);
  io::Status check(const Piece &piece, int code, MPI_Status &status) const;

  MpiEnd &end;
  std::atomic<uint64_t> &handed; ///< bytes that MPI took
  const int other;
  const bool sends;
  std::vector<Posted> ring; ///< message n lies at (n - 1) modulo its size
  uint64_t given = 0, waited = 0;
  io::Status failure; ///< of a post: the next wait's
};

} // namespace par::comm
#endif
