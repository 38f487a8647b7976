// On a machine with NVIDIA's headers: what is declared here is what they say. Elsewhere this file is empty.
#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include "comm/nccl/NcclTypes.h"

namespace par::nccl {
#define PAR_NCCL_FUNCTION(name, ...) using type_of_##name = void(__VA_ARGS__);
#include "comm/nccl/NcclFunctions.def"
} // namespace par::nccl

#include "cuda/SameSignature.h"

#include <nccl.h>

#include <cstddef>

namespace par::nccl {

#define PAR_NCCL_FUNCTION(name, ...)                                                                         \
  static_assert(cuda::passedAlike<type_of_##name, decltype(::name)>,                                         \
                #name " is declared otherwise in nccl.h");
#include "comm/nccl/NcclFunctions.def"

#define PAR_SAME(name) static_assert(int(name) == int(::name), #name " is another number in nccl.h");
PAR_SAME(ncclSuccess)
PAR_SAME(ncclUnhandledCudaError)
PAR_SAME(ncclSystemError)
PAR_SAME(ncclInternalError)
PAR_SAME(ncclInvalidArgument)
PAR_SAME(ncclInvalidUsage)
PAR_SAME(ncclRemoteError)
PAR_SAME(ncclInProgress)
PAR_SAME(ncclUint8)
PAR_SAME(ncclInt32)
PAR_SAME(ncclInt64)
PAR_SAME(ncclFloat32)
PAR_SAME(ncclBfloat16)
PAR_SAME(ncclSum)
PAR_SAME(ncclMax)
PAR_SAME(ncclMin)
static_assert(ncclSplitNoColor == NCCL_SPLIT_NOCOLOR, "NCCL_SPLIT_NOCOLOR is another number in nccl.h");
static_assert(sizeof(ncclUniqueId) == sizeof(::ncclUniqueId));
#define PAR_SAME_PLACE(field) static_assert(offsetof(ncclConfig_t, field) == offsetof(::ncclConfig_t, field));
PAR_SAME_PLACE(magic)
PAR_SAME_PLACE(version)
PAR_SAME_PLACE(blocking)
PAR_SAME_PLACE(maxCTAs)
PAR_SAME_PLACE(netName)
PAR_SAME_PLACE(splitShare)

} // namespace par::nccl
#endif
