#include "comm/mpi/MpiMessages.h"

#include "comm/mpi/MpiEnd.h"
#include "comm/mpi/MpiRoute.h"

#include <algorithm>
#include <numeric>

namespace par::comm {

namespace {
class MpiGroup : public Group {
public:
  MpiGroup(std::vector<int> ranks, int member, MPI_Comm communicator)
      : Group(std::move(ranks), member), communicator(communicator) {}
  ~MpiGroup() override {
    if (communicator && communicator != mpi().world)
      mpi().MPI_Comm_free(&communicator);
  }
  MPI_Comm communicator;
};

class MpiMessages : public Messages {
public:
  MpiMessages(int rank, int size) : rank(rank), size(size) {}
  std::unique_ptr<Group> group(const std::vector<int> &ranks, int member) override;
  io::Status exchange(Group &group, const std::vector<Message> &sends,
                      const std::vector<Message> &receives) override;
  io::Status openRoutes() override;
  std::unique_ptr<Route> route(int other, bool sends, size_t most, size_t buffers) override;
  void shareCores() override { end.patience = 0; }
  void stop() override { end.stopped = true; }

private:
  io::Status begin(const Message &message, MPI_Comm communicator, bool send);

  const int rank, size;
  MpiEnd end;
  MPI_Comm ofRoutes = nullptr; ///< stays with MPI: messages of it may be under way when a job was ended
  std::vector<MPI_Request> requests;
};
} // namespace

/// A communicator of its own. Only the members call it; the tag tells groups apart that are made at the same
/// time.
static MPI_Comm makeCommunicator(const std::vector<int> &ranks) {
  MPI_Group all, some;
  MPI_Comm communicator = nullptr;
  mpi().MPI_Comm_group(mpi().world, &all);
  mpi().MPI_Group_incl(all, int(ranks.size()), ranks.data(), &some);
  mpi().MPI_Comm_create_group(mpi().world, some, ranks.front(), &communicator);
  mpi().MPI_Group_free(&some);
  mpi().MPI_Group_free(&all);
  mpi().MPI_Comm_set_errhandler(communicator, mpi().errorsReturn);
  return communicator;
}

/// One for all routes: a rank names its pairs in an order of its own, which two-member ones might not agree
/// on.
io::Status MpiMessages::openRoutes() {
  std::vector<int> ranks(static_cast<size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::lock_guard<std::mutex> lock(end.calls);
  if (size > 1 && !ofRoutes)
    ofRoutes = makeCommunicator(ranks);
  return {};
}

std::unique_ptr<Route> MpiMessages::route(int other, bool sends, size_t most, size_t buffers) {
  RouteEnds ends = sends ? RouteEnds{rank, other} : RouteEnds{other, rank};
  return std::make_unique<MpiRoute>(end, ofRoutes, handed, ends, sends, most, buffers);
}

std::unique_ptr<Group> MpiMessages::group(const std::vector<int> &ranks, int member) {
  if (ranks.size() == 1)
    return std::make_unique<MpiGroup>(ranks, member, nullptr);
  requests.reserve(4 * ranks.size());
  return std::make_unique<MpiGroup>(ranks, member, makeCommunicator(ranks));
}

io::Status MpiMessages::begin(const Message &message, MPI_Comm communicator, bool send) {
  char *next = static_cast<char *>(message.data);
  for (int64_t left = message.bytes; left > 0; left -= largestMpiMessage, next += largestMpiMessage) {
    int count = int(std::min(left, largestMpiMessage));
    MPI_Request request;
    int code = send ? mpi().MPI_Isend(next, count, mpi().byte, message.member, 0, communicator, &request)
                    : mpi().MPI_Irecv(next, count, mpi().byte, message.member, 0, communicator, &request);
    PAR_TRY(statusOf(code, send ? "MPI_Isend" : "MPI_Irecv"));
    requests.push_back(request);
    handed += send ? uint64_t(count) : 0;
  }
  return {};
}

io::Status MpiMessages::exchange(Group &base, const std::vector<Message> &sends,
                                 const std::vector<Message> &receives) {
  MPI_Comm communicator = static_cast<MpiGroup &>(base).communicator;
  requests.clear();
  {
    std::lock_guard<std::mutex> lock(end.calls);
    for (const Message &message : receives)
      PAR_TRY(begin(message, communicator, false));
    for (const Message &message : sends)
      PAR_TRY(begin(message, communicator, true));
  }
  return end.wait([&](bool &done) {
    int all = 0;
    int code = mpi().MPI_Testall(int(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    done = all;
    return statusOf(code, "MPI_Testall");
  });
}

bool builtWithMpi() { return true; }

io::Status startMpi(int &rank, int &size) {
  const MpiLibrary *library = nullptr;
  PAR_TRY(loadMpi(library));
  int provided = 0;
  PAR_TRY(statusOf(library->MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided),
                   "MPI_Init_thread"));
  library->MPI_Comm_set_errhandler(library->world, library->errorsReturn);
  library->MPI_Comm_rank(library->world, &rank);
  library->MPI_Comm_size(library->world, &size);
  if (provided < MPI_THREAD_SERIALIZED)
    return io::Status::error(
        "transport mpi: this MPI library serves one thread only; install another Open MPI");
  return {};
}

io::Status broadcastByMpi(std::string &text) {
  int bytes = int(text.size());
  PAR_TRY(statusOf(mpi().MPI_Bcast(&bytes, int(sizeof(bytes)), mpi().byte, 0, mpi().world), "MPI_Bcast"));
  text.resize(size_t(bytes));
  return statusOf(mpi().MPI_Bcast(text.data(), bytes, mpi().byte, 0, mpi().world), "MPI_Bcast");
}

std::unique_ptr<Messages> openMpiMessages(int rank, int size) {
  return std::make_unique<MpiMessages>(rank, size);
}

void stopMpi() { mpi().MPI_Finalize(); }

} // namespace par::comm
