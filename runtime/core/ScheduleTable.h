/// Schedules as tables (par_run of EntryPoints.def).
#ifndef PAR_CORE_SCHEDULETABLE_H
#define PAR_CORE_SCHEDULETABLE_H

#include "core/RankProgram.h"
#include "par/runtime.h"

namespace par::rt {

struct ScheduleTable {
  const par_step *steps;
  int64_t count;
  int64_t action; ///< number of the first step in the manifest's list
  const par_entry *entries;
  const int64_t *words;
  void *const *functions;
  void **operands; ///< room for those of an entry
};

/// Does all entries, in order.
void run(RankContext &context, const ScheduleTable &table);

} // namespace par::rt
#endif
