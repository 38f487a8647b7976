/// The runtime's own exception. It never passes a function of the C ABI.
#ifndef PAR_CORE_ERROR_H
#define PAR_CORE_ERROR_H

#include "par/io/Status.h"

#include <stdexcept>

namespace par::rt {

/// One line for the user: file, place, rule, actual, expected, remedy.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is wrong with files is no matter of where ranks are.
struct FileError : Error {
  using Error::Error;
};

inline void check(const io::Status &status) {
  if (!status.ok())
    throw Error(status.message());
}

} // namespace par::rt
#endif
