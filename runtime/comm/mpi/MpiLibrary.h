/// Open MPI, opened at run time: packages and par-run work without it, and the same executable uses it where
/// it is.
#ifndef PAR_COMM_MPI_MPILIBRARY_H
#define PAR_COMM_MPI_MPILIBRARY_H

#include "par/io/Status.h"

#include <mpi.h>

namespace par::comm {

// Every function used, in one place.
#define PAR_MPI_FUNCTIONS(X)                                                                                 \
  X(MPI_Init_thread)                                                                                         \
  X(MPI_Finalize)                                                                                            \
  X(MPI_Comm_rank)                                                                                           \
  X(MPI_Comm_size)                                                                                           \
  X(MPI_Comm_group)                                                                                          \
  X(MPI_Comm_create_group)                                                                                   \
  X(MPI_Comm_free)                                                                                           \
  X(MPI_Comm_set_errhandler)                                                                                 \
  X(MPI_Group_incl)                                                                                          \
  X(MPI_Group_free)                                                                                          \
  X(MPI_Error_string)                                                                                        \
  X(MPI_Bcast)                                                                                               \
  X(MPI_Isend)                                                                                               \
  X(MPI_Irecv)                                                                                               \
  X(MPI_Testall)                                                                                             \
  X(MPI_Test)

struct MpiLibrary {
#define PAR_MPI_MEMBER(name) decltype(&::name) name = nullptr;
  PAR_MPI_FUNCTIONS(PAR_MPI_MEMBER)
#undef PAR_MPI_MEMBER
  // Open MPI's handles are addresses of its objects.
  MPI_Comm world = nullptr;
  MPI_Datatype byte = nullptr;
  MPI_Errhandler errorsReturn = nullptr;
};

/// Opens the library once. It stays open until the process ends.
io::Status loadMpi(const MpiLibrary *&library);

} // namespace par::comm
#endif
