/// What par uses of NVIDIA's nccl.h, declared here as in cuda/CudaTypes.h: par is built where there is no
/// NCCL. HeaderCheckNccl.cpp compares it with the header of a machine that has it.
#ifndef PAR_COMM_NCCL_NCCLTYPES_H
#define PAR_COMM_NCCL_NCCLTYPES_H

#include "cuda/CudaTypes.h"

#include <climits>

namespace par::nccl {

using cuda::CUstream;
using ncclComm_t = struct ncclComm *;
using ncclResult_t = int;
using ncclDataType_t = int;
using ncclRedOp_t = int;

constexpr ncclResult_t ncclSuccess = 0, ncclUnhandledCudaError = 1, ncclSystemError = 2,
                       ncclInternalError = 3, ncclInvalidArgument = 4, ncclInvalidUsage = 5,
                       ncclRemoteError = 6, ncclInProgress = 7;
constexpr ncclDataType_t ncclUint8 = 1, ncclInt32 = 2, ncclInt64 = 4, ncclFloat32 = 7, ncclBfloat16 = 9;
constexpr ncclRedOp_t ncclSum = 0, ncclMax = 2, ncclMin = 3;
constexpr int ncclSplitNoColor = -1; ///< nccl.h: NCCL_SPLIT_NOCOLOR

/// Handed from one member of a communicator to the others, as bytes.
struct ncclUniqueId {
  char internal[128];
};

/// As NCCL 2.19 has it: later ones have more behind it, and know by `size` and `version` that it ends here.
struct ncclConfig_t {
  size_t size = sizeof(ncclConfig_t);
  unsigned magic = 0xcafebeef, version = 21900;
  int blocking = INT_MIN, cgaClusterSize = INT_MIN, minCTAs = INT_MIN, maxCTAs = INT_MIN;
  const char *netName = nullptr;
  int splitShare = INT_MIN;
};

} // namespace par::nccl
#endif
