//===- LlvmCommandLine.cpp - tools whose flags are LLVM's
//-------------------------------------------------===//
#include "par/Support/LlvmCommandLine.h"
#include "par/Version.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

void mlir::par::printVersionOf(llvm::StringRef name) {
  llvm::cl::SetVersionPrinter([name = name.str()](llvm::raw_ostream &os) {
    os << name << " " << ::par::getVersion() << "\nLLVM " << LLVM_VERSION_STRING << "\n";
  });
}

bool mlir::par::parseLlvmCommandLine(int argc, char **argv, llvm::StringRef overview) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::cl::ParseCommandLineOptions(argc, argv, overview, &stream))
    return true;
  // One line, without the tool's name before each sentence.
  std::string prefix = (llvm::sys::path::filename(argv[0]) + ": ").str();
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(stream.str()).split(lines, '\n', -1, /*KeepEmpty=*/false);
  llvm::errs() << "error:";
  for (llvm::StringRef line : lines) {
    line.consume_front(prefix);
    llvm::errs() << " " << line;
  }
  llvm::errs() << "\n";
  return false;
}
