/// The test hook PAR_TEST_DELAY (docs/Running.md): ranks that come late at random.
#ifndef PAR_CORE_DELAYS_H
#define PAR_CORE_DELAYS_H

#include <cstdint>
#include <random>
#include <string>

namespace par::rt {

/// Random pauses before actions and collectives: nothing that a run computes may depend on who comes first.
class Delays {
public:
  /// `text`: "MICROSECONDS,SEED" or empty for none. Every rank draws its own. Throws Error.
  Delays(const std::string &text, int rank);
  /// Sleeps from 0 to the given microseconds.
  void wait();

private:
  int64_t most = 0;
  std::mt19937_64 random;
};

} // namespace par::rt
#endif
