//===- ErrorLine.cpp - how a tool says what is wrong ----------------------------------------------===//
#include "par/Support/ErrorLine.h"
#include "par/config/Sources.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

void mlir::par::printError(const llvm::Twine &text) {
  std::string line = ::par::config::nameSources(text.str());
  // A value may have anything in it, and the error is one line.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  llvm::errs() << "error: " << line << "\n";
}
