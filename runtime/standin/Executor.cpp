#include "standin/Executor.h"

#include "standin/Report.h"

#include <algorithm>

namespace par::standin {

using namespace cuda;

Toucher Operation::toucher() const { return {lane->number, time, name}; }

Lane *Executor::makeLane(std::string what) {
  lanes.push_back(std::make_unique<Lane>());
  lanes.back()->number = int(lanes.size()) - 1;
  names.push_back(std::move(what));
  return lanes.back().get();
}

void Executor::enqueue(Lane &lane, const Op &op) {
  if (lane.last)
    op->after.push_back(lane.last);
  op->clock.join(host);
  for (const Op &before : op->after)
    op->clock.join(before->clock);
  op->lane = &lane, op->time = ++lane.time;
  op->clock.set(lane.number, op->time);
  lane.last = op;
  lane.queue.push_back(op);
  stuck = false;
  changed.notify_all();
}

bool Executor::isReady(const Operation &op) const {
  return op.number == 0 &&
         std::all_of(op.after.begin(), op.after.end(), [](const Op &before) { return before->done; });
}

/// After a failure nothing computes any more, but everything ends.
void Executor::run(Lock &lock, const Op &op) {
  op->number = ++begun;
  if (mayRun && !mayRun(*op))
    return;
  ++running;
  if (op->callHost && failure == CUDA_SUCCESS) {
    lock.unlock();
    op->callHost();
    lock.lock();
  }
  CUresult result = op->run && failure == CUDA_SUCCESS ? op->run(*op) : CUDA_SUCCESS;
  if (failure == CUDA_SUCCESS)
    failure = result;
  --running;
  op->done = true;
  op->after.clear();
  op->lane->queue.pop_front();
  changed.notify_all();
}

bool Executor::step(Lock &lock) {
  std::vector<Op> ready;
  for (const auto &lane : lanes)
    if (!lane->queue.empty() && isReady(*lane->queue.front()))
      ready.push_back(lane->queue.front());
  if (ready.empty())
    return false;
  run(lock, ready[size_t(draw() % ready.size())]);
  return true;
}

CUresult Executor::waitUntil(Lock &lock, const std::function<bool()> &condition) {
  while (!condition()) {
    if (stuck)
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    if (step(lock))
      continue;
    ++waiting;
    if (waiting < threads || running > 0) {
      changed.wait(lock);
    } else {
      stuck = true;
      changed.notify_all();
      reportDeadlock();
    }
    --waiting;
  }
  return failure;
}

void Executor::leaveThread() {
  --threads;
  changed.notify_all();
}

void Executor::reportDeadlock() {
  std::string where;
  for (const auto &lane : lanes)
    if (!lane->queue.empty())
      where += "; " + names[size_t(lane->number)] + " is at " + *lane->queue.front()->name +
               (lane->queue.front()->number ? ", which does not end" : "");
  report("deadlock: the host waits and nothing can run" + where);
}

} // namespace par::standin
