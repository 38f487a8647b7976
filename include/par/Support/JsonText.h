//===- JsonText.h - JSON that somebody else wrote ---------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_JSONTEXT_H
#define PAR_SUPPORT_JSONTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// The value that `text` is. Refuses what LLVM's parser does not: brackets that nest deeper than the stack
/// bears, and keys that an object has twice. `name` is the file's, `kind` what it is to be ("plan").
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef name, llvm::StringRef text, llvm::StringRef kind);

} // namespace mlir::par

#endif // PAR_SUPPORT_JSONTEXT_H
