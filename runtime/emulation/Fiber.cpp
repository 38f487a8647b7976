#include "emulation/Fiber.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>

#ifndef __x86_64__
#error "fibers are written for x86-64"
#endif

/// Saves what a function must keep, and takes the same from the other stack.
extern "C" void par_emulation_switch(void **from, void *to);
asm(R"(
.text
.hidden par_emulation_switch
.globl par_emulation_switch
.type par_emulation_switch, @function
par_emulation_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size par_emulation_switch, .-par_emulation_switch
)");

namespace par::emulation {

void Fiber::prepare(char *top, void (*body)()) {
  void **stack = reinterpret_cast<void **>(top);
  *--stack = nullptr; // where a return address would be: the stack is aligned as after a call
  *--stack = reinterpret_cast<void *>(body);
  for (int saved = 0; saved < 6; ++saved)
    *--stack = nullptr;
  stackPointer = stack;
}

void Fiber::changeTo(Fiber &to) { par_emulation_switch(&stackPointer, to.stackPointer); }

static constexpr size_t page = 4096;

namespace {
/// Stacks that no launch has are kept, of all threads of the host: each costs three calls of the kernel, and
/// most launches are short.
class Kept {
public:
  /// Null: there is none.
  char *take() {
    std::lock_guard lock(mutex);
    if (stacks.empty())
      return nullptr;
    char *stack = stacks.back();
    stacks.pop_back();
    return stack;
  }
  void keep(const std::vector<char *> &more) {
    std::lock_guard lock(mutex);
    for (char *stack : more)
      if (stacks.size() < kMost)
        stacks.push_back(stack);
      else
        unmapStack(stack);
  }
  void unmapAll() {
    for (char *stack : stacks)
      unmapStack(stack);
    stacks.clear();
  }

private:
  static constexpr size_t kMost = 4096; // of the blocks of four threads of the host
  static void unmapStack(char *stack) { munmap(stack - page, page + Stacks::bytes); }

  std::mutex mutex;
  std::vector<char *> stacks;
};
} // namespace

/// This object is never destroyed: nobody destroys the statics of a library of kernels, which is linked
/// without a compiler's own files.
static Kept &kept() {
  static Kept *all = new Kept;
  return *all;
}

/// A process that opens many libraries of kernels would have too many mappings.
__attribute__((destructor)) static void unmapKept() { kept().unmapAll(); }

static char *makeStack() {
  void *memory = mmap(nullptr, page + Stacks::bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE)) {
    std::perror("error: no memory for the stack of a thread that is emulated");
    std::abort();
  }
  return static_cast<char *>(memory) + page;
}

char *Stacks::take() {
  if (free.empty()) {
    char *stack = kept().take();
    all.push_back(stack ? stack : makeStack());
    return all.back();
  }
  char *stack = free.back();
  free.pop_back();
  return stack;
}

Stacks::~Stacks() { kept().keep(all); }

} // namespace par::emulation
