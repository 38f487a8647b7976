#include "standin/Executor.h"

#include "standin/Report.h"

#include <algorithm>
#include <chrono>

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
  endStuck();
}

/// Something has moved, or may move now.
void Executor::endStuck() {
  stuck = false;
  if (isDeadlock)
    isDeadlock(false);
  changed.notify_all();
}

bool Executor::isReady(const Operation &op) const {
  return op.advance || (op.number == 0 && std::all_of(op.after.begin(), op.after.end(),
                                                      [](const Op &before) { return before->done; }));
}

bool Executor::isUnderWay() const {
  return std::any_of(lanes.begin(), lanes.end(),
                     [](const auto &lane) { return !lane->queue.empty() && lane->queue.front()->advance; });
}

void Executor::end(const Op &op, CUresult result) {
  if (failure == CUDA_SUCCESS)
    failure = result;
  op->done = true;
  op->advance = nullptr;
  op->after.clear();
  op->lane->queue.pop_front();
  endStuck();
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
  --running;
  end(op, result);
}

/// False where it waits.
bool Executor::advance(const Op &op) {
  if (op->number == 0) {
    op->number = ++begun;
    if (mayRun && !mayRun(*op))
      return true;
    op->advance = op->begin();
  }
  Progress progress = failure == CUDA_SUCCESS ? op->advance(*op) : Progress::ended;
  if (progress == Progress::moved)
    endStuck();
  else if (progress != Progress::waits)
    end(op, progress == Progress::failed ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS);
  return progress != Progress::waits;
}

bool Executor::step(Lock &lock) {
  std::vector<Op> ready;
  for (const auto &lane : lanes)
    if (!lane->queue.empty() && isReady(*lane->queue.front()))
      ready.push_back(lane->queue.front());
  for (size_t left = ready.size(); left > 0; --left) {
    std::swap(ready[size_t(draw() % left)], ready[left - 1]);
    Op op = ready[left - 1];
    if (!op->begin) {
      run(lock, op);
      return true;
    }
    if (advance(op))
      return true;
  }
  return false;
}

void Executor::askedInVain() {
  if (isUnderWay() && isDeadlock && isDeadlock(true))
    failure = failure == CUDA_SUCCESS ? CUDA_ERROR_LAUNCH_TIMEOUT : failure;
}

CUresult Executor::waitUntil(Lock &lock, const std::function<bool()> &condition) {
  while (!condition()) {
    if (stuck)
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    if (step(lock))
      continue;
    ++waiting;
    bool othersMayAct = waiting < threads || running > 0;
    if (isUnderWay()) { // another process cannot wake this one
      askedInVain();
      stuck = failure != CUDA_SUCCESS;
      changed.wait_for(lock, std::chrono::microseconds(500));
    } else if (othersMayAct) {
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
