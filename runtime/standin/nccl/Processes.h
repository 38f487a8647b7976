/// Who waits for whom among all processes of this machine: a deadlock is found where all of a circle wait.
#ifndef PAR_STANDIN_NCCL_PROCESSES_H
#define PAR_STANDIN_NCCL_PROCESSES_H

#include <set>

namespace par::standin {

/// Whether a process is there.
bool isAlive(int pid);

/// This process waits for others and nothing moves in it; true when they, and all that they wait for, have
/// stood still with it for some time.
bool standsStill(const std::set<int> &waitsFor);
/// Something has moved.
void moves();

} // namespace par::standin
#endif
