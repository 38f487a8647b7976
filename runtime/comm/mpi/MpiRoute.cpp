#include "comm/mpi/MpiRoute.h"

#include <algorithm>

namespace par::comm {

/// Collectives have communicators of their own; here for readers of traces.
static constexpr int tag = 1;

MpiRoute::MpiRoute(MpiEnd &end, std::atomic<uint64_t> &handed, int other, bool sends, size_t most,
                   size_t buffers)
    : end(end), handed(handed), other(other), sends(sends), ring(std::max<size_t>(most, 1)) {
  for (Posted &message : ring)
    message.pieces.reserve(buffers + 8); // what is above largestMpiMessage takes a few more
}

io::Status MpiRoute::begin(Posted &message, char *data, int64_t bytes) {
  do {
    int count = int(std::min(bytes, largestMpiMessage));
    MPI_Request request;
    int code = sends ? mpi().MPI_Isend(data, count, mpi().byte, other, tag, mpi().world, &request)
                     : mpi().MPI_Irecv(data, count, mpi().byte, other, tag, mpi().world, &request);
    PAR_TRY(statusOf(code, sends ? "MPI_Isend" : "MPI_Irecv"));
    message.pieces.push_back({request, count});
    handed += sends ? uint64_t(count) : 0;
    data += count, bytes -= count;
  } while (bytes > 0);
  return {};
}

uint64_t MpiRoute::post(void *const *buffers, const int64_t *bytes, size_t count) {
  uint64_t number = ++given;
  if (given - waited > ring.size())
    failure = io::Status::error("more than " + std::to_string(ring.size()) + " messages to or from rank " +
                                std::to_string(other) + " are under way");
  Posted &message = ring[(number - 1) % ring.size()];
  if (failure.ok()) {
    message.pieces.clear();
    message.done = 0;
  }
  std::lock_guard<std::mutex> lock(end.calls);
  for (size_t i = 0; i < count && failure.ok(); ++i)
    failure = begin(message, static_cast<char *>(buffers[i]), bytes[i]);
  return number;
}

io::Status MpiRoute::check(const Piece &piece, int code, MPI_Status &status) const {
  int got = int(piece.bytes);
  if (code == MPI_SUCCESS && !sends)
    code = mpi().MPI_Get_count(&status, mpi().byte, &got);
  if (code == MPI_SUCCESS && got == piece.bytes)
    return {};
  io::Status cause = statusOf(code, "MPI_Test");
  return io::Status::error("a message of rank " + std::to_string(other) + ", of which " +
                           std::to_string(piece.bytes) + " bytes were expected, " +
                           (cause.ok() ? "has " + std::to_string(got) : "failed: " + cause.message()));
}

/// Pieces end in order, but for those of zero bytes, maybe: each is asked for when those before it have
/// ended.
io::Status MpiRoute::ask(Posted &message, bool &done) {
  while (message.done < message.pieces.size()) {
    Piece &piece = message.pieces[message.done];
    int ended = 0;
    MPI_Status status;
    int code = mpi().MPI_Test(&piece.request, &ended, &status);
    if (code != MPI_SUCCESS || ended)
      PAR_TRY(check(piece, code, status));
    if (!ended)
      return {};
    ++message.done;
  }
  done = true;
  return {};
}

io::Status MpiRoute::wait(uint64_t number) {
  PAR_TRY(failure);
  Posted &message = ring[(number - 1) % ring.size()];
  waited = std::max(waited, number);
  return end.wait([&](bool &done) { return ask(message, done); });
}

} // namespace par::comm
