/// --trace: the events of all ranks as a file that Perfetto shows (docs/Running.md, "Trace").
#ifndef PAR_CORE_TRACEFILE_H
#define PAR_CORE_TRACEFILE_H

#include "comm/Transport.h"
#include "core/Trace.h"

#include <string>

namespace par::rt {

/// What one rank tells.
struct RankTrace {
  std::vector<TraceEvent> events;
  uint64_t lost = 0;
};

/// Of every rank, on rank 0; all ranks of the group call it. Throws Error.
std::vector<RankTrace> gatherTraces(const Trace &own, comm::Transport &transport, comm::Group &all);

/// Chrome's trace format, one event per line: a process per rank, a row for what it does, one for each queue
/// of its messages and one for collectives. Time 0 is the first event's.
std::string traceText(const Manifest &manifest, const std::vector<RankTrace> &ranks);

/// What does not fit is said in a line for the terminal; empty where all is there.
std::string noteLost(const std::string &path, const std::vector<RankTrace> &ranks);

} // namespace par::rt
#endif
