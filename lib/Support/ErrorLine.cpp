//===- ErrorLine.cpp - how a tool says what is wrong ----------------------------------------------===//
#include "par/Support/ErrorLine.h"
#include "par/config/Message.h"
#include "llvm/Support/raw_ostream.h"

void mlir::par::printError(const llvm::Twine &text) { llvm::errs() << ::par::config::errorLine(text.str()); }

void mlir::par::printNote(const llvm::Twine &text) {
  llvm::errs() << "note: " << ::par::config::asMessage(text.str()) << "\n";
}

void mlir::par::printVisible(llvm::raw_ostream &to, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [line, others] = rest.split('\n');
    to << ::par::config::visible({line.data(), line.size()}) << "\n";
    rest = others;
  }
}
