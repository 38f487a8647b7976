// Preloaded: counts a process's allocations, those made inside oneDNN apart, and writes both numbers at its
// end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long others, library;
static __thread int inside; // backtrace allocates

static int isFromLibrary(void) {
  void *frames[6]; // these two functions, malloc, operator new, and who called it
  int count = backtrace(frames, 6);
  for (int i = 1; i < count; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) && info.dli_fname && strstr(info.dli_fname, "libdnnl"))
      return 1;
  }
  return 0;
}

static void count(void) {
  if (inside)
    return;
  inside = 1;
  atomic_fetch_add(isFromLibrary() ? &library : &others, 1);
  inside = 0;
}

void *malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void *calloc(size_t number, size_t bytes) {
  count();
  return __libc_calloc(number, bytes);
}
void *realloc(void *memory, size_t bytes) {
  count();
  return __libc_realloc(memory, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory ? 0 : 12; // ENOMEM
}

__attribute__((destructor)) static void report(void) {
  fprintf(stderr, "allocations %ld in oneDNN %ld\n", others, library);
}
