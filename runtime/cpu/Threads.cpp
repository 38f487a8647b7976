#include "cpu/Context.h"

#include <algorithm>
#include <dlfcn.h>
#include <sched.h>

namespace par::cpu {

int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

void setThreads(int count) {
  // oneDNN brings the OpenMP library that it was built with; its setting belongs to the calling thread.
  using Setter = void (*)(int);
  static const Setter setter = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (setter)
    setter(count);
}

} // namespace par::cpu
