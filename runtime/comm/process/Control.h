/// The side channel of a job whose ranks are processes: a TCP connection from every rank to rank 0. It
/// carries no tensors. It compares what the ranks are about to run, tells rank 0 where everyone is, and
/// notices at once when a process is gone.
#ifndef PAR_COMM_PROCESS_CONTROL_H
#define PAR_COMM_PROCESS_CONTROL_H

#include "comm/process/Reception.h"
#include "comm/process/Wire.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace par::comm {

/// How a process finds rank 0.
struct Invitation {
  std::string where; ///< for people
  /// Addresses to try, again and again: none may be known yet. An error ends the search.
  std::function<io::Status(std::vector<Address> &addresses)> addresses;
  /// The key to try at an address that answers.
  std::function<io::Status(const Address &address, std::string &key)> key;
};

class Control {
public:
  /// What is to be done with news; called on the channel's thread.
  struct Events {
    std::function<Beat()> ownBeat;
    std::function<void(int rank, const Beat &beat)> beat;                ///< at rank 0
    std::function<void(int culprit, const std::string &message)> failed; ///< at rank 0: a rank cannot go on
    std::function<void()> ended; ///< rank 0 ended the job; at rank 0: the others did, who heard nothing of it
    std::function<void(int rank, const std::string &why)> lost; ///< a process is gone
    std::function<void()> aborted;                              ///< someone called `abort`
  };

  /// For `farewell` seconds rank 0 tells those who come when the job has failed already that it is over.
  Control(int rank, int size, double farewell = 3) : rank(rank), size(size), farewell(farewell) {}
  ~Control();

  /// Rank 0: waits for all others, who have to know the key. When they cannot come together, those who came
  /// are told to end.
  io::Status host(Listener &listener, const std::string &key, Clock::time_point deadline);
  /// Others: connects to rank 0. When rank 0 cannot take this process in, it has ended the job (`state`).
  io::Status join(const Invitation &invitation, Clock::time_point deadline);

  /// A key that only the processes of this job know, another one for every job.
  const std::string &dataKey() const { return derivedKey; }
  /// Elsewhere than at rank 0: the connection to it.
  const Socket &connection() const { return peers[0].socket; }

  /// Begins to listen to the others, and to tell the own beat every `period` seconds. A rank other than 0
  /// takes rank 0 for lost when nothing was heard for `timeout` seconds.
  void start(double period, double timeout);
  /// What is to be done with news from now on. News that come before are kept.
  void listen(Events events);
  /// Why the job cannot go on: a process is gone, or rank 0 ended it.
  io::Status state();

  /// Every rank's text, in order. After `start`.
  io::Status allGather(const std::string &own, Clock::time_point deadline, std::vector<std::string> &all);

  /// Tells rank 0 that this rank cannot go on.
  void reportFailure(int culprit, const std::string &message);
  /// Rank 0: tells all others to end.
  void end();
  /// Tells all other ranks to end their waits.
  void abort();
  /// Returns when every rank has called it, and ends the thread. `waiting` is called again and again
  /// meanwhile. An error, with the thread going on: a process is lost, `waiting` returns false, or for
  /// `timeout` seconds nobody who is waited for came or made progress.
  io::Status finish(double timeout, const std::function<bool()> &waiting);

private:
  using Kind = Frame::Kind;
  struct Peer {
    Socket socket;
    std::string unread;
    std::deque<std::string> texts; ///< for allGather
    uint64_t beats = 0;
    bool goodbye = false, gone = false;
  };

  io::Status admit(Reception::Guest &guest);
  io::Status findGone();
  int firstMissing() const;
  void turnAway(Reception &reception, Clock::time_point deadline);
  Entry tryAddress(const Invitation &invitation, const Address &address, Clock::time_point deadline,
                   std::string &problem);
  void deriveKey(const std::string &key, const std::string &job);

  io::Status sendTo(Peer &peer, Kind kind, const std::string &text, Clock::time_point deadline);
  io::Status awaitTexts(Clock::time_point deadline);
  io::Status gatherAtRank0(const std::string &own, Clock::time_point deadline, std::string &list);
  void tellAll(Kind kind, const std::string &text, int but = -1);
  void watch(double period, double timeout);
  void tellBeat();
  void read(int from);
  void handle(int from, const Frame &frame);
  void handleBeat(int from, const std::string &text);
  void handleFailure(const std::string &text, int from);
  void handleData(int from, const std::string &text);
  void handleGoodbye(int from);
  void handleEnd();
  void lose(int from, const std::string &why);
  /// Calls `report` when all others had the time to say where they are.
  void reportSoon(std::function<void(const Events &)> report);
  void giveReport();
  std::shared_ptr<const Events> currentEvents();
  int peerRank(size_t index) const { return rank == 0 ? int(index) + 1 : 0; }
  void wake();

  const int rank, size;
  const double farewell;
  std::string derivedKey;
  std::vector<Peer> peers; ///< at rank 0 those of ranks 1 …, elsewhere that of rank 0
  std::shared_ptr<const Events> events;
  std::thread thread;
  std::mutex sending, guarded;
  std::condition_variable changed;
  int goodbyes = 0;
  bool stopping = false;
  bool endedByOthers = false;   ///< rank 0: whoever is gone from now on is not to blame
  std::string problem;          ///< the first thing after which the job cannot go on
  Clock::time_point progressed; ///< when a peer last did something, by its beats
  Clock::time_point heard;      ///< when the last bytes came
  bool heardAny = false;
  std::function<void(const Events &)> report; ///< the first thing that went wrong, to be told at `reportAt`
  Clock::time_point reportAt;
  int wakeUp = -1;
};

} // namespace par::comm
#endif
