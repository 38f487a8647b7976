/// What a launcher that speaks PMI-1 does for its processes, by a thread of the test.
#ifndef PAR_TEST_FAKEPROCESSMANAGER_H
#define PAR_TEST_FAKEPROCESSMANAGER_H

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace par::test {

class FakeProcessManager {
public:
  struct Options {
    int ranks = 1;
    size_t valueBytes = 1024;
    /// In place of what it says to a command ("get_maxes"); empty: nothing, and "-": it goes.
    std::map<std::string, std::string> instead;
    bool inPieces = false; ///< lines come byte by byte
  };
  explicit FakeProcessManager(Options options);
  ~FakeProcessManager();

  /// Which processes inherit, and are told as PMI_FD.
  int descriptor(int rank) const { return ends[size_t(rank)].process; }
  /// "PMI_SIZE=4; fd0=7; fd1=9; …" for a shell.
  std::string shellVariables() const;
  /// Processes that have taken their leave: others are missed where they end.
  int leaves() const { return left; }

private:
  struct End {
    int own = -1, process = -1;
    std::string pending;
  };
  void serve();
  void take(End &end);
  std::string answer(const std::string &line);
  void say(End &end, const std::string &line);

  const Options options;
  std::vector<End> ends;
  std::vector<End *> waiting; ///< in the barrier
  std::map<std::string, std::string> values;
  std::atomic<int> left{0};
  int wake[2] = {-1, -1}; ///< closed at the end
  std::thread thread;
};

} // namespace par::test
#endif
