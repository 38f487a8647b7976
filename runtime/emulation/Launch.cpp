#include "emulation/Launch.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace par::emulation {

thread_local Launch *launch = nullptr;

Launch::Launch(void (*kernel)(void **), void **params, Index grid, Index block, uint64_t sharedBytes,
               const par_emulation &how)
    : grid(grid), block(block), threads(block.count()), kernel(kernel), params(params), how(how),
      shared(sharedBytes + 256), turns(block.count()), random(how.seed) {
  for (uint32_t i = 0; i < threads.size(); ++i) {
    threads[i].number = i;
    threads[i].index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
  }
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

/// splitmix64: every seed gives other orders, 0 too.
uint64_t Launch::draw() {
  uint64_t x = random += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

template <typename T>
void Launch::order(std::vector<T> &list) {
  for (size_t i = 0; i < list.size(); ++i)
    list[i] = T(how.order == par_emulation_reverse ? list.size() - 1 - i : i);
  if (how.order == par_emulation_random)
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[draw() % i]);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Launch::run() {
  std::vector<uint64_t> blocks(grid.count());
  order(blocks);
  for (uint64_t number : blocks) {
    blockNumber = int64_t(number);
    blockIndex = {uint32_t(number % grid.x), uint32_t(number / grid.x % grid.y),
                  uint32_t(number / grid.x / grid.y)};
    runBlock();
  }
}

void Launch::runBlock() {
  std::fill(shared.begin(), shared.end(), char(0xFF));
  sharedShadow.clear();
  barriers = 0;
  for (Thread &thread : threads) {
    thread.state = State::Fresh;
    thread.warpEpoch = 0;
  }
  runThreads();
  if (how.sector)
    sectors.finish(how);
}

/// Of the block, until all have ended or wait for each other.
void Launch::runThreads() {
  while (true) {
    if (runReady())
      continue;
    bool moved = false;
    for (Thread &thread : threads)
      moved |= thread.state == State::InWarp && tryWarp(thread);
    if (moved || tryBarrier())
      continue;
    return giveUp();
  }
}

/// A turn of every thread that can run. False: there was none.
bool Launch::runReady() {
  bool ran = false;
  order(turns);
  for (uint32_t number : turns)
    for (Thread &thread = threads[number]; thread.state == State::Fresh || thread.state == State::Ready;) {
      ran = true;
      runThread(thread);
      if (thread.state == State::InWarp)
        tryWarp(thread);
    }
  return ran;
}

void Launch::runThread(Thread &thread) {
  if (thread.state == State::Fresh) {
    thread.stack = stacks.take();
    thread.fiber.prepare(thread.stack + Stacks::bytes, body);
    thread.state = State::Ready;
  }
  current = &thread;
  scheduler.changeTo(thread.fiber);
  if (thread.state == State::Ended)
    stacks.giveBack(thread.stack);
}

void Launch::body() {
  launch->kernel(launch->params);
  launch->current->state = State::Ended;
  launch->current->fiber.changeTo(launch->scheduler);
  std::abort(); // nobody goes on in a thread that has ended
}

void Launch::wait(State state, const char *place) {
  current->state = state;
  current->place = place;
  current->fiber.changeTo(scheduler);
}

/// Nothing moves: all have ended, or wait for each other.
void Launch::giveUp() {
  for (Thread &thread : threads) {
    if (thread.state == State::Ended)
      continue;
    reportFor(thread, thread.state == State::InWarp
                          ? "deadlock: waits for lanes of its mask that wait elsewhere"
                          : "deadlock: waits in a barrier");
    stacks.giveBack(thread.stack);
  }
}

bool Launch::tryBarrier() {
  uint32_t waiting = 0, ended = 0;
  Thread *first = nullptr;
  for (Thread &thread : threads) {
    ended += thread.state == State::Ended;
    if (thread.state != State::InBarrier)
      continue;
    ++waiting;
    first = first ? first : &thread;
    if (thread.place != first->place)
      reportFor(thread, "threads of a block wait in different barriers, another one at " +
                            std::string(first->place) + ":");
  }
  if (!waiting || waiting + ended < threads.size())
    return false;
  if (ended)
    reportFor(*first, "barrier that " + std::to_string(ended) + " threads of the block never reach");
  for (Thread &thread : threads)
    if (thread.state == State::InBarrier)
      thread.state = State::Ready;
  ++barriers;
  return true;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Whether all have come. Lanes that do not exist, or have ended, are reported and left out of the thread's
/// mask.
bool Launch::findLanes(Thread &thread) {
  lanes.clear();
  bool isComplete = true;
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    if (!(thread.mask >> lane & 1))
      continue;
    uint32_t number = thread.warp() * warpSize + lane;
    if (number >= threads.size() || threads[number].state == State::Ended) {
      reportFor(thread, "mask with lane " + std::to_string(lane) + ", which has ended or does not exist");
      thread.mask &= ~(1u << lane);
      continue;
    }
    Thread &other = threads[number];
    isComplete &= other.state == State::InWarp && other.place == thread.place && other.mask == thread.mask;
    lanes.push_back(&other);
  }
  return isComplete;
}

bool Launch::tryWarp(Thread &thread) {
  if (!findLanes(thread))
    return false;
  exchange(*this, lanes);
  for (Thread *lane : lanes)
    lane->state = State::Ready;
  thread.state = State::Ready;
  return true;
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

void Launch::report(const std::string &what, const char *place) {
  if (!reported.insert({what, place}).second)
    return;
  std::string text = what + " [block " + std::to_string(blockNumber) + ", thread " +
                     std::to_string(current->number) + "] at " + place;
  how.report(how.state, text.c_str());
}

void Launch::reportFor(Thread &thread, const std::string &what) {
  current = &thread;
  report(what, thread.place);
}

} // namespace par::emulation

using namespace par::emulation;

/// What a function par_emulated_<name> calls. `kernel` takes its parameters as cuLaunchKernel does.
extern "C" void par_emulate_launch(void (*kernel)(void **), uint64_t staticShared, void **params,
                                   const uint32_t *grid, const uint32_t *block, uint32_t dynamicShared,
                                   const par_emulation *how) {
  Launch one(kernel, params, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]},
             staticShared + dynamicShared, *how);
  Launch *before = std::exchange(launch, &one);
  one.run();
  launch = before;
}
