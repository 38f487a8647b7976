#include "emulation/Fiber.h"

#include <cstdio>
#include <cstdlib>
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
/// Those that no launch has. Each costs three calls of the kernel, and most launches are short.
struct Kept {
  static constexpr size_t most = 1024; // of a block
  std::vector<char *> stacks;
  ~Kept() {
    for (char *stack : stacks)
      munmap(stack - page, page + Stacks::bytes);
  }
};
} // namespace

static Kept &kept() {
  thread_local Kept ofThread;
  return ofThread;
}

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
  std::vector<char *> &source = free.empty() ? kept().stacks : free;
  if (source.empty()) {
    all.push_back(makeStack());
    return all.back();
  }
  char *stack = source.back();
  source.pop_back();
  if (&source != &free)
    all.push_back(stack);
  return stack;
}

Stacks::~Stacks() {
  for (char *stack : all)
    if (kept().stacks.size() < Kept::most)
      kept().stacks.push_back(stack);
    else
      munmap(stack - page, page + bytes);
}

} // namespace par::emulation
