#include "core/Delays.h"

#include "core/Error.h"

#include <chrono>
#include <cstdio>
#include <thread>

namespace par::rt {

Delays::Delays(const std::string &text, int rank) {
  if (text.empty())
    return;
  long long longest, seed;
  int used = 0;
  if (std::sscanf(text.c_str(), "%lld,%lld%n", &longest, &seed, &used) != 2 || size_t(used) != text.size() ||
      longest < 0 || longest > 1000000)
    throw Error("PAR_TEST_DELAY: \"" + text +
                "\" is not of the form MICROSECONDS,SEED with 0 to 1000000 microseconds");
  most = longest;
  random.seed(uint64_t(seed) * 1000003 + uint64_t(rank));
}

void Delays::wait() {
  if (most)
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::uniform_int_distribution<int64_t>(0, most)(random)));
}

} // namespace par::rt
