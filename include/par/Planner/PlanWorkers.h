//===- PlanWorkers.h - threads that compile plans ---------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANWORKERS_H
#define PAR_PLANNER_PLANWORKERS_H

#include "par/Planner/PlanCompiler.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace mlir::par {

/// Compiles plans of one model, on so many threads at once, each plan once. A plan that is expected is begun
/// before it is asked for where a thread is free; what is answered does not depend on that. Used by one
/// thread, which is one of those that compile.
class PlanWorkers {
public:
  PlanWorkers(const Cluster &cluster, ImportModel import, int64_t threads);
  /// Waits for what is being compiled; what has not begun is dropped.
  ~PlanWorkers();

  /// As of PlanCompiler. References stay.
  const FoldedUnits &getUnits(const Plan &plan);
  const std::optional<std::vector<UnitTable>> &tabulate(const Plan &plan) { return get(tables, plan); }
  const std::optional<StateRows> &tabulateState(const Plan &plan) { return get(states, plan); }
  const std::optional<FoundPlan> &judge(const Plan &plan) { return get(judgements, plan); }

  std::string draw(const Plan &plan) { return own.draw(plan); }
  std::string findFault(const Plan &plan) { return own.findFault(plan); }

  /// Plans that may be asked for soon, in the order of calls.
  void expectTable(const Plan &plan) { expect(tables, plan); }
  void expectState(const Plan &plan) { expect(states, plan); }
  void expectJudgement(const Plan &plan) { expect(judgements, plan); }
  /// Nothing is expected any more.
  void expectNothing();

  int64_t countThreads() const { return threads; }

  /// Calls `see` for every number below `count`, on as many threads as are free; returns when all are seen.
  void forEach(int64_t count, llvm::function_ref<void(int64_t)> see);

private:
  enum class State { Waiting, Running, Done };
  struct Task {
    State state = State::Waiting;
    bool isExpected = false;
    bool isLong = false; ///< many times as long as others
    std::function<void(PlanCompiler &)> run;
  };
  template <typename Answer>
  struct AnswerTask : Task {
    std::optional<Answer> answer;
  };
  template <typename Answer>
  struct Book {
    std::optional<Answer> (PlanCompiler::*compile)(const Plan &);
    bool isLong;
    std::map<Plan, AnswerTask<Answer>> tasks;
  };

  template <typename Answer>
  AnswerTask<Answer> &find(Book<Answer> &book, const Plan &plan) {
    auto [entry, isNew] = book.tasks.try_emplace(plan);
    AnswerTask<Answer> &task = entry->second;
    task.isLong = book.isLong;
    if (isNew)
      task.run = [&task, plan, compile = book.compile](PlanCompiler &compiler) {
        task.answer = (compiler.*compile)(plan);
      };
    return task;
  }
  template <typename Answer>
  const std::optional<Answer> &get(Book<Answer> &book, const Plan &plan) {
    AnswerTask<Answer> &task = find(book, plan);
    finish(task);
    return task.answer;
  }
  template <typename Answer>
  void expect(Book<Answer> &book, const Plan &plan) {
    if (threads > 1)
      enqueue(find(book, plan));
  }

  /// `isUrgent`: before all that is expected.
  void enqueue(Task &task, bool isUrgent = false);
  /// Waits for it if a thread has begun with it; else it is dropped.
  void cancel(Task &task);
  void finish(Task &task);
  /// The first of what is expected, or of what is not long; null where nothing is. The caller holds the lock.
  Task *takeExpected(bool anyLong);
  /// The caller holds the lock, which is given back while it runs.
  void run(Task &task, PlanCompiler &compiler, std::unique_lock<std::mutex> &lock);
  void work();

  const Cluster &cluster;
  const ImportModel import;
  int64_t threads;  ///< fewer once no more can be started
  PlanCompiler own; ///< of the thread that uses this

  // Only the thread that uses this changes the books; tasks stay where they are.
  Book<std::vector<UnitTable>> tables{&PlanCompiler::tabulate, /*isLong=*/false, {}};
  Book<StateRows> states{&PlanCompiler::tabulateState, /*isLong=*/false, {}};
  Book<FoundPlan> judgements{&PlanCompiler::judge, /*isLong=*/true, {}};

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task *> expected; ///< guarded by `mutex`, as what is said of tasks is
  bool ends = false;           ///< guarded too
  std::vector<std::thread> others;
};

} // namespace mlir::par

#endif // PAR_PLANNER_PLANWORKERS_H
