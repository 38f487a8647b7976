/// Calls between ncclGroupStart and ncclGroupEnd: one operation on a stream.
#ifndef PAR_STANDIN_NCCL_GROUPS_H
#define PAR_STANDIN_NCCL_GROUPS_H

#include "standin/nccl/Communicator.h"

namespace par::standin {

void startGroup();
/// Enqueues what was called since, where it is the outermost one.
nccl::ncclResult_t endGroup();
/// A group of its own where none has begun.
nccl::ncclResult_t addCall(Part part, nccl::CUstream stream);

} // namespace par::standin
#endif
