/// NVIDIA's libraries are opened by name when they are needed first: par is built and runs without them.
#ifndef PAR_CUDA_LIBRARY_H
#define PAR_CUDA_LIBRARY_H

#include "par/io/Status.h"

#include <string>
#include <vector>

namespace par::cuda {

/// A library, and who has it.
struct LibraryName {
  std::vector<std::string> files; ///< the first that can be opened is taken
  const char *minimum;            ///< "CUDA 12.0": from there on it has every function
  const char *package;            ///< what to install
  const char *purpose = "a package for CUDA";
  const char *otherwise = "compile with --target cpu"; ///< without it
};

/// A function, and where its address goes.
struct Symbol {
  const char *name;
  void **address;
};

/// Opens a library, for as long as the process lives, and finds all of its functions. The one line of an
/// error names the library, or the function that it is too old for, and the package that has it.
io::Status openLibrary(const LibraryName &library, const std::vector<Symbol> &symbols);

} // namespace par::cuda
#endif
