#include "comm/mpi/MpiRoute.h"

#include <algorithm>

namespace par::comm {

/// Of a message's bytes, and of what says how many they are.
enum Tag { dataTag = 1, contentTag = 2 };

MpiRoute::MpiRoute(MpiEnd &end, MPI_Comm communicator, std::atomic<uint64_t> &handed, RouteEnds ends,
                   bool sends, size_t most, size_t buffers)
    : end(end), communicator(communicator), handed(handed), ends(ends), sends(sends), room(buffers),
      ring(std::max<size_t>(most, 1)) {
  for (Posted &message : ring)
    message.pieces.reserve(buffers + 8); // what is above largestMpiMessage takes a few more
  if (!communicator || ends.from == ends.to)
    failure = ends.notOpened();
}

io::Status MpiRoute::beginOne(void *data, int count, int tag, MPI_Request &request) {
  int code = sends ? mpi().MPI_Isend(data, count, mpi().byte, ends.to, tag, communicator, &request)
                   : mpi().MPI_Irecv(data, count, mpi().byte, ends.from, tag, communicator, &request);
  return statusOf(code, sends ? "MPI_Isend" : "MPI_Irecv");
}

io::Status MpiRoute::beginBuffer(Posted &message, char *data, int64_t bytes) {
  do {
    int count = int(std::min(bytes, largestMpiMessage));
    message.pieces.push_back({nullptr, count});
    PAR_TRY(beginOne(data, count, dataTag, message.pieces.back().request));
    handed += sends ? uint64_t(count) : 0;
    data += count, bytes -= count;
  } while (bytes > 0);
  return {};
}

io::Status MpiRoute::begin(Posted &message, void *const *buffers, const int64_t *bytes, size_t count) {
  message.pieces.clear();
  message.done = 0;
  message.isSaid = false;
  message.content = {0, 0};
  for (size_t i = 0; i < count; ++i) {
    PAR_TRY(beginBuffer(message, static_cast<char *>(buffers[i]), bytes[i]));
    message.content.bytes += bytes[i];
  }
  message.content.pieces = int64_t(message.pieces.size());
  message.sent = message.content;
  return beginOne(&message.sent, int(sizeof(Content)), contentTag, message.said);
}

uint64_t MpiRoute::post(void *const *buffers, const int64_t *bytes, size_t count) {
  uint64_t number = ++given;
  if (number - ended > ring.size() && failure.ok())
    failure = ends.tooMany(ring.size());
  if (count > room && failure.ok())
    failure = ends.tooManyBuffers(count, room);
  if (!failure.ok())
    return number;
  std::lock_guard<std::mutex> lock(end.calls);
  failure = begin(ring[(number - 1) % ring.size()], buffers, bytes, count);
  return number;
}

/// Where the pieces are as expected and one of them is not, memory is laid out differently.
io::Status MpiRoute::check(const Posted &message, const Piece &piece, int code, MPI_Status &status) const {
  int got = int(piece.bytes), kind = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    mpi().MPI_Error_class(code, &kind);
  else if (!sends)
    PAR_TRY(statusOf(mpi().MPI_Get_count(&status, mpi().byte, &got), "MPI_Get_count"));
  if (kind == MPI_ERR_TRUNCATE || got != piece.bytes)
    return ends.unequal(message.sent.bytes, message.content.bytes);
  return statusOf(code, "MPI_Test");
}

io::Status MpiRoute::askContent(Posted &message) {
  int done = 0;
  PAR_TRY(statusOf(mpi().MPI_Test(&message.said, &done, MPI_STATUS_IGNORE), "MPI_Test"));
  message.isSaid = done;
  bool equal = message.sent.bytes == message.content.bytes && message.sent.pieces == message.content.pieces;
  return !done || equal ? io::Status() : ends.unequal(message.sent.bytes, message.content.bytes);
}

/// Pieces end in order, but for those of zero bytes, maybe: each is asked for when those before it have
/// ended.
io::Status MpiRoute::ask(Posted &message, bool &done) {
  if (!message.isSaid)
    PAR_TRY(askContent(message));
  while (message.isSaid && message.done < message.pieces.size()) {
    Piece &piece = message.pieces[message.done];
    int ended = 0;
    MPI_Status status;
    int code = mpi().MPI_Test(&piece.request, &ended, &status);
    if (code != MPI_SUCCESS || ended)
      PAR_TRY(check(message, piece, code, status));
    if (!ended)
      return {};
    ++message.done;
  }
  done = message.isSaid;
  return {};
}

/// Messages end in order here: their places are free for later ones in order, too.
io::Status MpiRoute::wait(uint64_t number) {
  if (number > given)
    return ends.notPosted(number);
  PAR_TRY(failure);
  for (; ended < number; ++ended) {
    Posted &message = ring[ended % ring.size()];
    PAR_TRY(end.wait([&](bool &done) { return ask(message, done); }));
  }
  return {};
}

} // namespace par::comm
