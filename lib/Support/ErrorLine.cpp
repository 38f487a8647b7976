//===- ErrorLine.cpp - how a tool says what is wrong ----------------------------------------------===//
#include "par/Support/ErrorLine.h"
#include "par/config/Message.h"
#include "llvm/Support/raw_ostream.h"

void mlir::par::printError(const llvm::Twine &text) { llvm::errs() << ::par::config::errorLine(text.str()); }

void mlir::par::printNote(const llvm::Twine &text) {
  llvm::errs() << "note: " << ::par::config::asMessage(text.str()) << "\n";
}
