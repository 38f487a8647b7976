//===- PlanWorkers.cpp - threads that compile plans -----------------------------------------------------===//
#include "par/Planner/PlanWorkers.h"
#include "par/io/Threads.h"

#include <atomic>

using namespace mlir;
using namespace mlir::par;

PlanWorkers::PlanWorkers(const Cluster &cluster, ImportModel import, int64_t threads)
    : cluster(cluster), import(import), threads(threads), own(cluster, std::move(import)) {}

PlanWorkers::~PlanWorkers() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  changed.notify_all();
  for (std::thread &thread : others)
    thread.join();
}

const FoldedUnits &PlanWorkers::getUnits(const Plan &plan) { return own.getUnits(plan); }

void PlanWorkers::expectNothing() {
  std::lock_guard<std::mutex> lock(mutex);
  for (Task *task : expected)
    task->isExpected = false;
  expected.clear();
}

void PlanWorkers::enqueue(Task &task, bool isUrgent) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (task.isExpected || task.state != State::Waiting)
      return;
    task.isExpected = true;
    expected.insert(isUrgent ? expected.begin() : expected.end(), &task);
  }
  changed.notify_one();
  // Threads come when there is work: many searches need none.
  if (static_cast<int64_t>(others.size()) >= threads - 1)
    return;
  std::thread thread;
  if (::par::io::startThread(thread, "", [this] { work(); }).ok())
    others.push_back(std::move(thread));
  else // fewer find the same plan
    threads = static_cast<int64_t>(others.size()) + 1;
}

PlanWorkers::Task *PlanWorkers::takeExpected(bool anyLong) {
  auto found = llvm::find_if(expected, [&](const Task *task) {
    return task->state == State::Waiting && (anyLong || !task->isLong);
  });
  if (found == expected.end())
    return nullptr;
  Task *task = *found;
  expected.erase(found);
  task->isExpected = false;
  return task;
}

void PlanWorkers::run(Task &task, PlanCompiler &compiler, std::unique_lock<std::mutex> &lock) {
  task.state = State::Running;
  lock.unlock();
  task.run(compiler);
  lock.lock();
  task.state = State::Done;
  changed.notify_all();
}

void PlanWorkers::finish(Task &task) {
  std::unique_lock<std::mutex> lock(mutex);
  if (task.state == State::Waiting)
    run(task, own, lock);
  // While another thread is at it, this one does what will be asked for next, if that takes no longer.
  while (task.state == State::Running)
    if (Task *other = takeExpected(task.isLong))
      run(*other, own, lock);
    else
      changed.wait(lock);
}

void PlanWorkers::cancel(Task &task) {
  std::unique_lock<std::mutex> lock(mutex);
  llvm::erase(expected, &task);
  changed.wait(lock, [&] { return task.state != State::Running; });
}

/// Fewer take less time than to tell another thread of them.
static constexpr int64_t kFewCalls = 32;
/// So many at a time.
static constexpr int64_t kCallsOfTurn = 16;

void PlanWorkers::forEach(int64_t count, llvm::function_ref<void(int64_t)> see) {
  std::atomic<int64_t> next = 0;
  auto takePart = [&] {
    for (int64_t begin; (begin = next.fetch_add(kCallsOfTurn)) < count;)
      for (int64_t number = begin; number < std::min(count, begin + kCallsOfTurn); ++number)
        see(number);
  };
  std::vector<Task> helpers(static_cast<size_t>(count < kFewCalls ? 0 : threads - 1));
  for (Task &helper : helpers) {
    helper.run = [&](PlanCompiler &) { takePart(); };
    enqueue(helper, /*isUrgent=*/true);
  }
  takePart();
  for (Task &helper : helpers)
    cancel(helper);
}

void PlanWorkers::work() {
  PlanCompiler compiler(cluster, import);
  std::unique_lock<std::mutex> lock(mutex);
  while (!ends)
    if (Task *task = takeExpected(/*anyLong=*/true))
      run(*task, compiler, lock);
    else
      changed.wait(lock);
}
