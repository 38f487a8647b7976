#include "standin/nccl/Processes.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace par::standin {

namespace {
constexpr int mostProcesses = 512, mostWaits = 64;
constexpr auto patience = std::chrono::seconds(3);
using Clock = std::chrono::steady_clock;

/// Written by its process alone, but for `pid`.
struct Slot {
  std::atomic<int32_t> pid;
  std::atomic<uint32_t> still; ///< nothing moves
  std::atomic<uint64_t> moved; ///< how often something did
  std::atomic<uint64_t> asked; ///< how often it was looked whether something can
  std::atomic<int32_t> waitsFor[mostWaits];
};
} // namespace

bool isAlive(int pid) { return kill(pid, 0) == 0 || errno == EPERM; }

/// One file for all processes of a user, for ever; places of those that are gone are taken again.
static Slot *slots() {
  static Slot *all = [] {
    std::string name = "/par-standin-processes-" + std::to_string(getuid());
    int file = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
    if (file < 0 || ftruncate(file, sizeof(Slot) * mostProcesses) != 0)
      return static_cast<Slot *>(nullptr);
    void *mapped = mmap(nullptr, sizeof(Slot) * mostProcesses, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? nullptr : static_cast<Slot *>(mapped);
  }();
  return all;
}

static Slot *findOwn() {
  for (int i = 0; slots() && i < mostProcesses; ++i) {
    int32_t pid = slots()[i].pid;
    if ((pid == 0 || !isAlive(pid)) && slots()[i].pid.compare_exchange_strong(pid, getpid())) {
      slots()[i].still = 0;
      return &slots()[i];
    }
  }
  return nullptr;
}

static Slot *own() {
  static Slot *slot = findOwn();
  return slot;
}

static const Slot *find(int pid) {
  for (int i = 0; i < mostProcesses; ++i)
    if (slots()[i].pid == pid)
      return &slots()[i];
  return nullptr;
}

namespace {
struct Stillness {
  uint64_t moved, asked;
};
} // namespace

/// Every process that is waited for; empty where one of them does not stand still.
static std::map<int, Stillness> findCircle() {
  std::map<int, Stillness> circle;
  std::vector<int> open = {getpid()};
  while (!open.empty()) {
    int pid = open.back();
    open.pop_back();
    const Slot *slot = find(pid);
    if (!slot || !slot->still)
      return {};
    if (!circle.insert({pid, {slot->moved, slot->asked}}).second)
      continue;
    for (const std::atomic<int32_t> &other : slot->waitsFor)
      if (other)
        open.push_back(other);
  }
  return circle;
}

/// Whether they are the same processes and nothing has moved in them.
static bool isSame(const std::map<int, Stillness> &one, const std::map<int, Stillness> &other) {
  return one.size() == other.size() &&
         std::equal(one.begin(), one.end(), other.begin(), [](const auto &a, const auto &b) {
           return a.first == b.first && a.second.moved == b.second.moved;
         });
}

/// A process that the machine did not let run has not looked: it may move.
static bool haveLooked(const std::map<int, Stillness> &now, const std::map<int, Stillness> &before) {
  return std::all_of(now.begin(), now.end(), [&](const auto &entry) {
    return entry.second.asked >= before.at(entry.first).asked + 2;
  });
}

bool standsStill(const std::set<int> &waitsFor) {
  static std::map<int, Stillness> seen;
  static Clock::time_point since;
  if (!own())
    return false;
  size_t i = 0;
  for (int pid : waitsFor)
    if (i < mostWaits)
      own()->waitsFor[i++] = pid;
  for (; i < mostWaits; ++i)
    own()->waitsFor[i] = 0;
  own()->still = 1;
  ++own()->asked;
  std::map<int, Stillness> circle = findCircle();
  if (circle.empty() || !isSame(circle, seen))
    since = Clock::now(), seen = circle;
  return !circle.empty() && Clock::now() - since >= patience && haveLooked(circle, seen);
}

void moves() {
  if (!own())
    return;
  own()->still = 0;
  ++own()->moved;
}

} // namespace par::standin
