#include "comm/mpi/MpiRoute.h"

#include <algorithm>
#include <list>

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
  std::lock_guard<std::mutex> lock(end.calls);
  if (!sends)
    end.receiving.push_back(this);
}

/// What belongs to requests that have not ended, because a job did, is MPI's until MPI ends.
MpiRoute::~MpiRoute() {
  {
    std::lock_guard<std::mutex> calls(end.calls);
    end.receiving.erase(std::remove(end.receiving.begin(), end.receiving.end(), this), end.receiving.end());
  }
  static std::mutex mutex;
  static std::list<std::vector<Posted>> &kept = *new std::list<std::vector<Posted>>;
  std::lock_guard<std::mutex> lock(mutex);
  if (ended < given)
    kept.push_back(std::move(ring));
}

io::Status MpiRoute::beginOne(void *data, int count, int tag, MPI_Request &request) {
  int code = sends ? mpi().MPI_Isend(data, count, mpi().byte, ends.to, tag, communicator, &request)
                   : mpi().MPI_Irecv(data, count, mpi().byte, ends.from, tag, communicator, &request);
  return statusOf(code, sends ? "MPI_Isend" : "MPI_Irecv");
}

void MpiRoute::fill(Posted &message, void *const *buffers, const int64_t *bytes, size_t count) {
  message.pieces.clear();
  message.done = 0;
  message.isSaid = false;
  message.content = {};
  for (size_t i = 0; i < count; ++i) {
    char *data = static_cast<char *>(buffers[i]);
    for (int64_t at = 0; at < bytes[i]; at += largestMpiMessage)
      message.pieces.push_back({data + at, int(std::min(bytes[i] - at, largestMpiMessage)), nullptr});
    message.content.bytes += bytes[i];
    message.content.layout = (message.content.layout ^ uint64_t(bytes[i])) * 0x100000001b3; // FNV
  }
  message.sent = message.content;
}

io::Status MpiRoute::beginPieces(Posted &message) {
  for (Piece &piece : message.pieces) {
    PAR_TRY(beginOne(piece.data, piece.bytes, dataTag, piece.request));
    handed += sends ? uint64_t(piece.bytes) : 0;
  }
  return {};
}

/// Memory is given to a receive only when it is known to be large enough: Open MPI 4.1 writes behind its end
/// where a message of shared memory is longer.
io::Status MpiRoute::begin(Posted &message) {
  PAR_TRY(beginOne(&message.sent, int(sizeof(Content)), contentTag, message.said));
  begun = given;
  if (sends)
    return beginPieces(message);
  (void)askContents(); // what is wrong with an earlier one is its wait's
  return {};
}

uint64_t MpiRoute::post(void *const *buffers, const int64_t *bytes, size_t count) {
  std::lock_guard<std::mutex> lock(end.calls);
  uint64_t number = ++given;
  if (number - ended > ring.size() && failure.ok())
    failure = ends.tooMany(ring.size());
  if (count > room && failure.ok())
    failure = ends.tooManyBuffers(count, room);
  if (!failure.ok())
    return number;
  Posted &message = ring[(number - 1) % ring.size()];
  fill(message, buffers, bytes, count);
  failure = begin(message);
  return number;
}

io::Status MpiRoute::askContent(Posted &message) {
  int done = 0;
  PAR_TRY(statusOf(mpi().MPI_Test(&message.said, &done, MPI_STATUS_IGNORE), "MPI_Test"));
  if (!done)
    return {};
  if (message.sent.bytes != message.content.bytes || message.sent.layout != message.content.layout)
    return ends.unequal(message.sent.bytes, message.content.bytes);
  if (!sends)
    PAR_TRY(failure = beginPieces(message));
  message.isSaid = true;
  return {};
}

/// Also of messages that nobody waits for yet: they begin as soon as they can.
io::Status MpiRoute::askContents() {
  for (; said < begun; ++said) {
    Posted &message = ring[said % ring.size()];
    PAR_TRY(askContent(message));
    if (!message.isSaid)
      break;
  }
  return {};
}

void MpiRoute::advance() {
  if (failure.ok())
    (void)askContents(); // what is wrong with a message is its wait's
}

/// Pieces end in order: each is asked for when those before it have ended.
io::Status MpiRoute::ask(Posted &message, bool &done) {
  while (message.isSaid && message.done < message.pieces.size()) {
    Piece &piece = message.pieces[message.done];
    int ended = 0;
    PAR_TRY(statusOf(mpi().MPI_Test(&piece.request, &ended, MPI_STATUS_IGNORE), "MPI_Test"));
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
  {
    std::lock_guard<std::mutex> lock(end.calls);
    PAR_TRY(failure);
  }
  for (; ended < number; ++ended) {
    Posted &message = ring[ended % ring.size()];
    PAR_TRY(end.wait([&](bool &done) {
      io::Status status = askContents();
      return status.ok() || message.isSaid ? ask(message, done) : status;
    }));
  }
  return {};
}

} // namespace par::comm
