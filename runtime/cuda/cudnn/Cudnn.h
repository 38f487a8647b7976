/// cuDNN: the table of its functions, and what its results mean.
#ifndef PAR_CUDA_CUDNN_CUDNN_H
#define PAR_CUDA_CUDNN_CUDNN_H

#include "cuda/Library.h"
#include "cuda/cudnn/CudnnTypes.h"

namespace par::cuda {

struct Cudnn {
#define PAR_CUDNN_FUNCTION(name, ...) cudnnStatus_t (*name)(__VA_ARGS__) = nullptr;
#define PAR_CUDNN_OTHER(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
#include "cuda/cudnn/CudnnFunctions.def"

  /// "9.19.0"
  std::string version() const;
  /// Empty for a success; else "cudnnBackendFinalize: CUDNN_STATUS_NOT_SUPPORTED_LAYOUT".
  io::Status status(const char *function, cudnnStatus_t result) const;
};

/// Opens the library. Error where it is older than 9.11, below which too little of attention is supported.
io::Status openCudnn(const LibraryName &library, Cudnn &functions);
LibraryName cudnnName();

/// Opens it once; the same answer ever after. From any thread.
io::Status loadCudnn(const Cudnn *&functions);

} // namespace par::cuda

/// Calls a function of cuDNN; returns a Status that names it from the calling function where it fails.
#define PAR_CUDNN(cudnn, function, ...) PAR_TRY((cudnn).status(#function, (cudnn).function(__VA_ARGS__)))

#endif
