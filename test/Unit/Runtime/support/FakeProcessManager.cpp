#include "FakeProcessManager.h"

#include <cerrno>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

namespace par::test {

FakeProcessManager::FakeProcessManager(Options given)
    : options(std::move(given)), ends(size_t(options.ranks)) {
  for (End &end : ends) {
    int both[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0)
      end.own = both[0], end.process = both[1];
  }
  if (pipe(wake) == 0)
    thread = std::thread([this] { serve(); });
}

FakeProcessManager::~FakeProcessManager() {
  close(wake[1]);
  thread.join();
  close(wake[0]);
  for (End &end : ends) {
    close(end.process);
    if (end.own >= 0)
      close(end.own);
  }
}

std::string FakeProcessManager::shellVariables() const {
  std::string text = "export PMI_SIZE=" + std::to_string(options.ranks) + "; ";
  for (size_t rank = 0; rank < ends.size(); ++rank)
    text += "fd" + std::to_string(rank) + "=" + std::to_string(ends[rank].process) + "; ";
  return text;
}

void FakeProcessManager::serve() {
  while (true) {
    std::vector<pollfd> entries{{wake[0], POLLIN, 0}};
    for (const End &end : ends)
      entries.push_back({end.own, POLLIN, 0});
    if (poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR)
      return;
    if (entries[0].revents)
      return;
    for (size_t i = 0; i < ends.size(); ++i)
      if (entries[i + 1].revents)
        take(ends[i]);
  }
}

void FakeProcessManager::say(End &end, const std::string &line) {
  std::string text = line + "\n";
  if (!options.inPieces) {
    (void)!write(end.own, text.data(), text.size());
    return;
  }
  for (char letter : text) {
    (void)!write(end.own, &letter, 1);
    usleep(200);
  }
}

void FakeProcessManager::take(End &end) {
  char bytes[4096];
  ssize_t got = read(end.own, bytes, sizeof(bytes));
  if (got <= 0) {
    close(end.own);
    end.own = -1;
    return;
  }
  end.pending.append(bytes, size_t(got));
  for (size_t at; (at = end.pending.find('\n')) != std::string::npos;) {
    std::string line = end.pending.substr(0, at);
    end.pending.erase(0, at + 1);
    auto other = options.instead.find(line.substr(4, line.find(' ') - 4));
    if (other != options.instead.end() && other->second == "-") {
      shutdown(end.own, SHUT_RDWR);
      return;
    }
    if (other != options.instead.end()) {
      if (!other->second.empty())
        say(end, other->second);
    } else if (line != "cmd=barrier_in") {
      say(end, answer(line));
    } else if (waiting.push_back(&end); waiting.size() == ends.size()) {
      for (End *each : waiting)
        say(*each, "cmd=barrier_out rc=0");
      waiting.clear();
    }
  }
}

std::string FakeProcessManager::answer(const std::string &line) {
  std::map<std::string, std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;)
    words[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  const std::string command = words["cmd"];
  if (command == "init")
    return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
  if (command == "get_maxes")
    return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=" + std::to_string(options.valueBytes);
  if (command == "get_my_kvsname")
    return "cmd=my_kvsname kvsname=job";
  if (words["kvsname"] == "job" && words["value"].size() < options.valueBytes && command == "put")
    return values[words["key"]] = words["value"], "cmd=put_result rc=0 msg=success";
  if (words["kvsname"] == "job" && values.count(words["key"]) && command == "get")
    return "cmd=get_result rc=0 msg=success value=" + values[words["key"]];
  if (command == "finalize")
    return ++left, "cmd=finalize_ack";
  return "cmd=" + command + "_result rc=-1 msg=what is that";
}

} // namespace par::test
