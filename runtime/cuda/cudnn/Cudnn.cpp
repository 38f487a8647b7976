#include "cuda/cudnn/Cudnn.h"

namespace par::cuda {

static constexpr size_t oldest = 91100;

static std::string textOf(size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

LibraryName cudnnName() {
  return {{"libcudnn.so.9"},
          "cuDNN 9.11",
          "NVIDIA's cuDNN (libcudnn9-cuda-13)",
          "attention by cuDNN",
          "run with --attention generated"};
}

io::Status openCudnn(const LibraryName &library, Cudnn &functions) {
  std::vector<Symbol> symbols = {
#define PAR_CUDNN_FUNCTION(name, ...) {#name, reinterpret_cast<void **>(&functions.name)},
#define PAR_CUDNN_OTHER(result, name, ...) {#name, reinterpret_cast<void **>(&functions.name)},
#include "cuda/cudnn/CudnnFunctions.def"
  };
  PAR_TRY(openLibrary(library, symbols));
  size_t version = functions.cudnnGetVersion();
  if (version < oldest)
    return io::Status::error(library.files.front() + " is cuDNN " + textOf(version) + ", expected " +
                             textOf(oldest) + " or newer; install a newer " + library.package);
  return {};
}

io::Status loadCudnn(const Cudnn *&functions) {
  static Cudnn loaded;
  static const io::Status status = openCudnn(cudnnName(), loaded);
  functions = &loaded;
  return status;
}

std::string Cudnn::version() const { return textOf(cudnnGetVersion()); }

io::Status Cudnn::status(const char *function, cudnnStatus_t result) const {
  return result == CUDNN_STATUS_SUCCESS
             ? io::Status()
             : io::Status::error(std::string(function) + ": " + cudnnGetErrorString(result));
}

} // namespace par::cuda
