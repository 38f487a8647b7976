#include "comm/mpi/MpiEnd.h"
#include "comm/mpi/MpiRoute.h"

namespace par::comm {

const MpiLibrary &mpi() {
  const MpiLibrary *library = nullptr;
  (void)loadMpi(library); // startMpi has checked it
  return *library;
}

io::Status statusOf(int code, const char *function) {
  if (code == MPI_SUCCESS)
    return {};
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  mpi().MPI_Error_string(code, text, &length);
  return io::Status::error(std::string(function) + ": " + std::string(text, size_t(length)));
}

void MpiEnd::advance() {
  for (MpiRoute *route : receiving)
    route->advance();
}

} // namespace par::comm
