#include "cuda/Library.h"

#include <dlfcn.h>

namespace par::cuda {

/// What the loader says of the first name; that of the others differs by the name alone.
static void *openFirst(const std::vector<std::string> &files, std::string &why) {
  for (const std::string &file : files) {
    if (void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
      return handle;
    const char *said = dlerror();
    if (why.empty())
      why = said ? said : "cannot be opened";
  }
  return nullptr;
}

io::Status openLibrary(const LibraryName &library, const std::vector<Symbol> &symbols) {
  std::string why;
  void *handle = openFirst(library.files, why);
  if (!handle)
    return io::Status::error(std::string(library.purpose) + " needs " + library.files.front() + ": " + why +
                             "; install " + library.package + ", or " + library.otherwise);
  for (const Symbol &symbol : symbols)
    if (!(*symbol.address = dlsym(handle, symbol.name)))
      return io::Status::error(library.files.front() + " has no function " + symbol.name +
                               ", so it is older than " + library.minimum + "; install a newer " +
                               library.package);
  return {};
}

} // namespace par::cuda
