#include "comm/nccl/Nccl.h"

namespace par::nccl {

static constexpr int oldest = 21900; ///< 2.19: communicators that do not block, and all functions

cuda::LibraryName ncclName() { return {{"libnccl.so.2"}, "NCCL 2.19", "NVIDIA's NCCL (libnccl2)"}; }

/// 22809: 2.28.9
static std::string versionName(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

io::Status openNccl(const cuda::LibraryName &library, Nccl &functions) {
  std::vector<cuda::Symbol> symbols = {
#define PAR_NCCL_FUNCTION(name, ...) {#name, reinterpret_cast<void **>(&functions.name)},
#define PAR_NCCL_TEXT(name, ...) {#name, reinterpret_cast<void **>(&functions.name)},
#include "comm/nccl/NcclFunctions.def"
  };
  PAR_TRY(cuda::openLibrary(library, symbols));
  int version = 0;
  PAR_NCCL(functions, ncclGetVersion, &version);
  if (version < oldest)
    return io::Status::error(library.files.front() + " is NCCL " + versionName(version) + ", older than " +
                             versionName(oldest) + "; install a newer " + library.package);
  return {};
}

io::Status loadNccl(const Nccl *&functions) {
  static Nccl loaded;
  static const io::Status status = openNccl(ncclName(), loaded);
  functions = &loaded;
  return status;
}

io::Status Nccl::status(const char *function, ncclResult_t result, ncclComm_t of) const {
  if (result == ncclSuccess || result == ncclInProgress)
    return {};
  const char *text = ncclGetErrorString(result), *last = ncclGetLastError(of);
  return io::Status::error(std::string(function) + ": " + (text ? text : "fails") +
                           (last && *last ? std::string(" (") + last + ")" : ""));
}

} // namespace par::nccl
