/// Messages of a pipeline by MPI.
#ifndef PAR_COMM_MPI_MPIROUTE_H
#define PAR_COMM_MPI_MPIROUTE_H

#include "comm/Route.h"
#include "comm/RouteEnds.h"
#include "comm/mpi/MpiEnd.h"

#include <vector>

namespace par::comm {

/// Messages to or from a rank, in the order in which they are posted. They move on whenever a thread of this
/// process waits for anything. What a message consists of goes beside it, so that ends that disagree notice.
class MpiRoute : public Route {
public:
  /// `communicator`: of all ranks, for routes alone; null: none was made.
  MpiRoute(MpiEnd &end, MPI_Comm communicator, std::atomic<uint64_t> &handed, RouteEnds ends, bool sends,
           size_t most, size_t buffers);
  ~MpiRoute() override;
  uint64_t post(void *const *buffers, const int64_t *bytes, size_t count) override;
  io::Status wait(uint64_t number) override;
  /// Begins the data of messages whose contents have come. With `end.calls` held.
  void advance();

private:
  /// A part of a buffer that one request moves.
  struct Piece {
    char *data;
    int bytes;
    MPI_Request request;
  };
  struct Content {
    int64_t bytes = 0;
    uint64_t layout = 14695981039346656037u; ///< a hash of the buffers' sizes
  };
  struct Posted {
    Content content, sent; ///< here, and what the sender says
    MPI_Request said = nullptr;
    std::vector<Piece> pieces;
    size_t done = 0;     ///< pieces
    bool isSaid = false; ///< `sent` is there and equal
  };

  void fill(Posted &message, void *const *buffers, const int64_t *bytes, size_t count);
  io::Status begin(Posted &message);
  io::Status beginPieces(Posted &message);
  io::Status beginOne(void *data, int count, int tag, MPI_Request &request);
  io::Status ask(Posted &message, bool &done);
  io::Status askContents();
  io::Status askContent(Posted &message);

  MpiEnd &end;
  const MPI_Comm communicator;
  std::atomic<uint64_t> &handed; ///< bytes that MPI took
  const RouteEnds ends;
  const bool sends;
  const size_t room;             ///< buffers of a message
  std::vector<Posted> ring;      ///< message n lies at (n - 1) modulo its size
  uint64_t given = 0, ended = 0; ///< of the thread that posts and waits
  // Guarded by end.calls.
  uint64_t begun = 0, said = 0; ///< said: messages whose contents are known at both ends
  io::Status failure;           ///< of a post: the next wait's
};

} // namespace par::comm
#endif
