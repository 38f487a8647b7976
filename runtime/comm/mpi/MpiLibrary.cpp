#include "comm/mpi/MpiLibrary.h"

#include <dlfcn.h>

namespace par::comm {

static io::Status missing(const std::string &why) {
  return io::Status::error("transport mpi: " + why +
                           "; install Open MPI (Debian: openmpi-bin), or give --transport tcp");
}

static io::Status openLibrary(MpiLibrary &library) {
  // Its plugins look their symbols up among the global ones.
  void *handle = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return missing(std::string("Open MPI cannot be loaded: ") + dlerror());
#define PAR_MPI_LOAD(name)                                                                                   \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, #name));                             \
  if (!library.name)                                                                                         \
    return missing("libmpi.so.40 has no function " #name);
  PAR_MPI_FUNCTIONS(PAR_MPI_LOAD)
#undef PAR_MPI_LOAD
  library.world = static_cast<MPI_Comm>(dlsym(handle, "ompi_mpi_comm_world"));
  library.byte = static_cast<MPI_Datatype>(dlsym(handle, "ompi_mpi_byte"));
  library.errorsReturn = static_cast<MPI_Errhandler>(dlsym(handle, "ompi_mpi_errors_return"));
  if (!library.world || !library.byte || !library.errorsReturn)
    return missing("libmpi.so.40 is not Open MPI's");
  return {};
}

io::Status loadMpi(const MpiLibrary *&library) {
  static MpiLibrary loaded;
  static const io::Status status = openLibrary(loaded);
  library = &loaded;
  return status;
}

} // namespace par::comm
