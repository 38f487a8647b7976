// Preloaded into par-run: counts what all threads of the process take from the heap or map from when the
// first of them enters the first step's program until the last leaves the last one's, and writes the numbers
// at its end. With COUNT_ALLOCATIONS_TRACE set, every counted one is shown with the calls that led to it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long allocations;
static atomic_int traced;
static _Thread_local int tracing __attribute__((tls_model("initial-exec")));

// --------------------------------------------------------------------------------------------------------------------
// Marks: the program of a step is a function that the runtime asks dlsym for.
// --------------------------------------------------------------------------------------------------------------------

typedef void (*Schedule)(void *);
enum { STAGES = 4 };
static Schedule train[STAGES]; // of a pipeline's stages; the first, without one
static atomic_long steps;
static atomic_long first = -1, last = -1; // allocations when the first step began and when the last ended

static void step(int stage, void *context) {
  long none = -1;
  atomic_compare_exchange_strong(&first, &none, atomic_load(&allocations));
  atomic_fetch_add(&steps, 1);
  train[stage](context);
  // Of two ranks that end together the later one counts.
  long now = atomic_load(&allocations), known = atomic_load(&last);
  while (known < now && !atomic_compare_exchange_weak(&last, &known, now)) {
  }
}

static void step0(void *context) { step(0, context); }
static void step1(void *context) { step(1, context); }
static void step2(void *context) { step(2, context); }
static void step3(void *context) { step(3, context); }

/// -1: the name of another function.
static int stageOf(const char *name) {
  static const char prefix[] = "par_schedule_train";
  if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
    return -1;
  name += sizeof(prefix) - 1;
  return *name == '_' ? atoi(name + 1) : 0;
}

void *dlsym(void *library, const char *name) {
  static void *(*real)(void *, const char *);
  static const Schedule marked[STAGES] = {step0, step1, step2, step3};
  if (!real)
    real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  void *symbol = real(library, name);
  int stage = stageOf(name);
  if (!symbol || stage < 0)
    return symbol;
  if (stage >= STAGES || (train[stage] && train[stage] != (Schedule)symbol))
    abort(); // there are not enough marks
  train[stage] = (Schedule)symbol;
  return (void *)marked[stage];
}

// --------------------------------------------------------------------------------------------------------------------
// What is counted
// --------------------------------------------------------------------------------------------------------------------

static void count(void) {
  atomic_fetch_add(&allocations, 1);
  if (!traced || tracing || first < 0)
    return;
  tracing = 1;
  void *calls[24];
  int depth = backtrace(calls, 24);
  backtrace_symbols_fd(calls, depth, STDERR_FILENO);
  (void)!write(STDERR_FILENO, "\n", 1);
  tracing = 0;
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
void *mmap64(void *address, size_t bytes, int protection, int flags, int file, off64_t offset) {
  static void *(*real)(void *, size_t, int, int, int, off64_t);
  if (!real)
    real = (void *(*)(void *, size_t, int, int, int, off64_t))dlvsym(RTLD_NEXT, "mmap64", "GLIBC_2.2.5");
  count();
  return real(address, bytes, protection, flags, file, offset);
}
void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  return mmap64(address, bytes, protection, flags, file, offset);
}

__attribute__((constructor)) static void begin(void) {
  void *calls[2];
  backtrace(calls, 2); // loads what it needs
  traced = getenv("COUNT_ALLOCATIONS_TRACE") != NULL;
}

__attribute__((destructor)) static void report(void) {
  fprintf(stderr, "allocations: %ld before, %ld in %ld steps\n", first, last - first, steps);
}
