/// What stand-ins of other libraries ask of that of the driver: found in it by name.
#ifndef PAR_STANDIN_LIBRARY_H
#define PAR_STANDIN_LIBRARY_H

#include <stdint.h>

extern "C" {
/// Bytes that an operation touches.
struct par_standin_range {
  uint64_t address, bytes;
  int32_t writes;
};

/// An operation on a stream. When its turn comes, `compute` is called with where the ranges lie on the host;
/// in a graph again and again. `release` is called when it never is again. The result is a CUresult.
int par_standin_submit(void *stream, const char *name, const struct par_standin_range *ranges, uint32_t count,
                       void (*compute)(void *data, char *const *hosts), void (*release)(void *data),
                       void *data);

/// Called while an operation runs: it takes so many seconds more, as events see it.
void par_standin_spend(double seconds);

/// What an operation is while it runs: for par_standin_reach.
struct par_standin_operation;

/// An operation on a stream that others take part in. When its turn comes, `begin` makes a task of `data`, in
/// a graph again and again. `advance` is called until it says that the task has ended: a
/// par_standin_progress. `end` is called then, and `release` when `begin` never is again.
enum par_standin_progress { par_standin_waits, par_standin_moved, par_standin_ended, par_standin_failed };
struct par_standin_task {
  void *(*begin)(void *data);
  int (*advance)(void *task, struct par_standin_operation *operation);
  void (*end)(void *task);
  void (*release)(void *data);
};
int par_standin_submit_task(void *stream, const char *name, const struct par_standin_task *calls, void *data);

/// Where bytes of a device lie on the host, for an operation that reads or writes them now. Null: they are no
/// memory, which was reported. `kind`: 0 moves them, 1 computes with them, 2 writes them.
char *par_standin_reach(struct par_standin_operation *operation, uint64_t address, uint64_t bytes, int kind);

/// Asked when the host waits while nothing moves and tasks are under way: 1 where the others wait as well.
/// Told with 0 when something moves.
void par_standin_ask_deadlock(int (*is_deadlock)(int stuck));

/// The device of the calling thread's context; -1: it has none.
int par_standin_device(void);

/// How often everything began anew (Control.h).
uint64_t par_standin_generation(void);

/// Called around what the calling thread does with its own data: operations do not advance meanwhile.
void par_standin_lock(void);
void par_standin_unlock(void);

/// A finding.
void par_standin_report(const char *line);
}

#endif
