//===- LlvmCommandLine.cpp - tools whose flags are LLVM's -------------------------------------------===//
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

/// One line, without the tool's name before each sentence.
static void printProblem(llvm::StringRef text, llvm::StringRef tool) {
  std::string prefix = (tool + ": ").str();
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  llvm::errs() << "error:";
  for (llvm::StringRef line : lines) {
    line.consume_front(prefix);
    llvm::errs() << " " << line;
  }
  llvm::errs() << "\n";
}

/// A flag with one value, of which LLVM would take the last; passes are lists.
static llvm::cl::Option *findTwice() {
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.second->getNumOccurrences() > 1 && entry.second->getNumOccurrencesFlag() == llvm::cl::Optional)
      return entry.second;
  return nullptr;
}

bool mlir::par::parseLlvmCommandLine(int argc, char **argv, llvm::StringRef overview) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::cl::ParseCommandLineOptions(argc, argv, overview, &stream)) {
    printProblem(stream.str(), llvm::sys::path::filename(argv[0]));
    return false;
  }
  llvm::cl::Option *twice = findTwice();
  if (twice)
    llvm::errs() << "error: " << (twice->ArgStr.size() == 1 ? "-" : "--") << twice->ArgStr
                 << " is given twice; give it once\n";
  return !twice;
}
