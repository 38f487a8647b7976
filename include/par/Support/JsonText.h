//===- JsonText.h - JSON that others wrote or will read ---------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_JSONTEXT_H
#define PAR_SUPPORT_JSONTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// The value that `text` is. Refuses what LLVM's parser does not: brackets that nest deeper than the stack
/// bears, and keys that an object has twice. `name` is the file's, `kind` what it is to be ("plan").
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef name, llvm::StringRef text, llvm::StringRef kind);

/// `value` as text, indented by two, with its keys in order. A float keeps its point: readers of configs
/// (Transformers 5) refuse the integer 3 where a field is a float, and LLVM's printer writes 3.0 so. A
/// negative whole number is written as an integer, as LLVM does not say which of the two it was.
std::string printJson(const llvm::json::Value &value);

} // namespace mlir::par

#endif // PAR_SUPPORT_JSONTEXT_H
