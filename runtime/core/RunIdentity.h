/// Which process a run is, so that others can tell later whether it still lives.
#ifndef PAR_CORE_RUNIDENTITY_H
#define PAR_CORE_RUNIDENTITY_H

#include <cstdint>
#include <string>

namespace par::rt {

struct RunIdentity {
  std::string run;     ///< 16 hexadecimal digits, another one for every run
  std::string host;    ///< for people
  std::string machine; ///< its start and the name space of process numbers: where `pid` means something
  int64_t pid = 0;
  int64_t started = 0; ///< in the machine's ticks, as numbers of processes are used again

  /// Of this process.
  static RunIdentity own();
  std::string text() const;
  /// False for anything that text() does not write.
  static bool read(const std::string &text, RunIdentity &identity);

  bool isOnThisMachine() const;
  /// Only where it is on this machine.
  bool isAlive() const;
  /// "a run on HOST (process 17)"
  std::string describe() const;
};

} // namespace par::rt
#endif
