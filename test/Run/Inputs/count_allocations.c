// Preloaded: counts a process's allocations and writes their number at its end.
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long allocations;

void *malloc(size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  return __libc_malloc(bytes);
}
void *calloc(size_t number, size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  return __libc_calloc(number, bytes);
}
void *realloc(void *memory, size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  return __libc_realloc(memory, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  return __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory ? 0 : 12; // ENOMEM
}

__attribute__((destructor)) static void report(void) { fprintf(stderr, "allocations %ld\n", allocations); }
