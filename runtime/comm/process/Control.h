/// The side channel of a job whose ranks are processes: a TCP connection from every rank to rank 0. It
/// carries no tensors. It compares what the ranks are about to run, tells rank 0 where everyone is, and
/// notices at once when a process is gone.
#ifndef PAR_COMM_PROCESS_CONTROL_H
#define PAR_COMM_PROCESS_CONTROL_H

#include "comm/process/Socket.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace par::comm {

/// Where a rank is. `beats` changes while it lives.
struct Beat {
  int64_t step, actions;
  uint64_t beats;
  int32_t action, collective;
};

class Control {
public:
  /// What is to be done with news; called on the channel's thread.
  struct Events {
    std::function<Beat()> ownBeat;
    std::function<void(int rank, const Beat &beat)> beat;                ///< at rank 0
    std::function<void(int culprit, const std::string &message)> failed; ///< at rank 0: a rank cannot go on
    std::function<void()> ended;                                         ///< elsewhere: rank 0 ended the job
    std::function<void(int rank, const std::string &why)> lost;          ///< a process is gone
    std::function<void()> aborted;                                       ///< someone called `abort`
  };

  Control(int rank, int size) : rank(rank), size(size) {}
  ~Control();

  /// Rank 0: waits for all others. `token` keeps connections of other jobs out.
  io::Status host(const Listener &listener, uint64_t token, Clock::time_point deadline);
  /// Others: connects to rank 0.
  io::Status join(const std::vector<std::string> &hosts, int port, uint64_t token,
                  Clock::time_point deadline);

  /// Every rank's text, in order. Only before `start`.
  io::Status allGather(const std::string &own, Clock::time_point deadline, std::vector<std::string> &all);

  /// Waits until rank 0 has closed its end. Only before `start`, elsewhere than at rank 0.
  void awaitClose(Clock::time_point deadline);

  /// Begins to listen, and to tell the own beat every `period` seconds. A rank other than 0 takes rank 0 for
  /// lost when nothing was heard for `timeout` seconds.
  void start(Events events, double period, double timeout);

  /// Tells rank 0 that this rank cannot go on.
  void reportFailure(int culprit, const std::string &message);
  /// Rank 0: tells all others to end.
  void end();
  /// Tells all other ranks to end their waits.
  void abort();
  /// Returns when every rank has called it or a process is lost; ends the thread.
  void finish();

private:
  enum class Kind : uint32_t { data, beat, ask, failed, ended, aborted, goodbye };
  struct Peer {
    Socket socket;
    std::string unread;
    bool goodbye = false, gone = false;
  };

  io::Status greet(Socket connection, uint64_t token, Clock::time_point deadline);
  io::Status sendTo(Peer &peer, Kind kind, const std::string &text, Clock::time_point deadline);
  io::Status receiveText(Peer &peer, Clock::time_point deadline, std::string &text);
  void tellAll(Kind kind, const std::string &text, int but = -1);
  void watch(double period, double timeout);
  void tellBeat();
  void read(int from);
  void handle(int from, Kind kind, const std::string &text);
  void handleGoodbye(int from);
  void lose(int from, const std::string &why);
  /// Calls `report` when all others had the time to say where they are.
  void reportSoon(std::function<void()> report);
  int peerRank(size_t index) const { return rank == 0 ? int(index) + 1 : 0; }
  void wake();

  const int rank, size;
  std::vector<Peer> peers; ///< at rank 0 those of ranks 1 …, elsewhere that of rank 0
  Events events;
  std::thread thread;
  std::mutex sending, state;
  std::condition_variable changed;
  int goodbyes = 0;
  bool stopping = false, anyLost = false;
  Clock::time_point heard;
  std::function<void()> report; ///< the first thing that went wrong, to be told at `reportAt`
  Clock::time_point reportAt;
  int wakeUp = -1;
};

} // namespace par::comm
#endif
