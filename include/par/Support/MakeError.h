//===- MakeError.h - an llvm::Error of a line of text -----------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_MAKEERROR_H
#define PAR_SUPPORT_MAKEERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// For the user to read, without `error:`, which who prints it puts in front.
inline llvm::Error makeError(const llvm::Twine &text) {
  return llvm::make_error<llvm::StringError>(text.str(), llvm::inconvertibleErrorCode());
}

} // namespace mlir::par

#endif // PAR_SUPPORT_MAKEERROR_H
