//===- SuggestWord.h - a value that is called otherwise elsewhere ------------------------------*- C++
//-*-===//
#ifndef PAR_SUPPORT_SUGGESTWORD_H
#define PAR_SUPPORT_SUGGESTWORD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::par {

/// "; did you mean bf16?" of "bfloat16": the one of `words` that other trainers call so, or that is nearly
/// spelt so; else nothing.
std::string suggestWord(llvm::StringRef text, llvm::ArrayRef<std::string> words);

} // namespace mlir::par

#endif // PAR_SUPPORT_SUGGESTWORD_H
