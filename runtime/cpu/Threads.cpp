#include "cpu/Context.h"

#include <algorithm>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

namespace par::cpu {

void ensureThreadStacks() {
  // Each thread's own heap takes 64 MiB of addresses; where these are limited, threads share one.
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    mallopt(M_ARENA_MAX, 1);
  constexpr size_t least = size_t(8) << 20;
  size_t size = 0;
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0)
    return;
  if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < least &&
      pthread_attr_setstacksize(&attributes, least) == 0)
    pthread_setattr_default_np(&attributes); // without it threads have what the system gives
  pthread_attr_destroy(&attributes);
}

int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

} // namespace par::cpu
