/// Threads of a block as functions that stop in the middle and go on later, all in one thread of the host.
#ifndef PAR_EMULATION_FIBER_H
#define PAR_EMULATION_FIBER_H

#include <cstddef>
#include <vector>

namespace par::emulation {

class Fiber {
public:
  /// The next change to it calls `body`, which never returns, on the stack that ends at `top`.
  void prepare(char *top, void (*body)());
  /// Stops here and goes on in `to`.
  void changeTo(Fiber &to);

private:
  void *stackPointer = nullptr;
};

/// Stacks of fibers: those that have ended give theirs to those that begin, also of later launches.
class Stacks {
public:
  static constexpr size_t bytes = 64 << 10;

  Stacks() = default;
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  ~Stacks();

  /// Its first byte. Below it lies a page that nobody may touch.
  char *take();
  void giveBack(char *stack) { free.push_back(stack); }

private:
  std::vector<char *> all, free;
};

} // namespace par::emulation

#endif
