/// NCCL: the table of its functions, and what its results mean.
#ifndef PAR_COMM_NCCL_NCCL_H
#define PAR_COMM_NCCL_NCCL_H

#include "comm/nccl/NcclTypes.h"
#include "cuda/Library.h"

namespace par::nccl {

struct Nccl {
#define PAR_NCCL_FUNCTION(name, ...) ncclResult_t (*name)(__VA_ARGS__) = nullptr;
#define PAR_NCCL_TEXT(name, ...) const char *(*name)(__VA_ARGS__) = nullptr;
#include "comm/nccl/NcclFunctions.def"

  /// Empty for a success, and for what has begun and is not waited for; else "ncclAllReduce: invalid usage:
  /// ...", with what NCCL says of the last error.
  io::Status status(const char *function, ncclResult_t result, ncclComm_t of = nullptr) const;
};

/// Its own name, and what is to be installed where it is missing.
cuda::LibraryName ncclName();
/// Opens a library and finds its functions; an error where it is older than NCCL 2.19.
io::Status openNccl(const cuda::LibraryName &library, Nccl &functions);

/// Opens libnccl.so.2, once; the same answer ever after. From any thread.
io::Status loadNccl(const Nccl *&functions);

} // namespace par::nccl

/// Calls a function of NCCL; returns a Status that names it from the calling function where it fails.
#define PAR_NCCL(nccl, function, ...) PAR_TRY((nccl).status(#function, (nccl).function(__VA_ARGS__)))

#endif
