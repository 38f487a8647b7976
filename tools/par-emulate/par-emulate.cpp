//===- par-emulate.cpp - makes the kernels of a package run without its device --------------------===//
#include "par/Emit/EmulatePackage.h"
#include "par/Support/BeginTool.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/Flags.h"
#include "par/Support/OutputFile.h"

using namespace mlir::par;

int main(int argc, char **argv) {
  beginTool("run it where there is more");
  std::string package;
  Flags flags(
      "par-emulate DIR.par",
      "Adds program0.emulated.so to a package of --target cuda: its kernels for this machine's processor, "
      "made of the very module that its PTX is made of, with every access to memory checked.");
  flags.positional(package);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  llvm::Error error = package.empty() ? llvm::createStringError("a package is missing: DIR.par; see --help")
                                      : emulatePackage(package);
  if (error) {
    printError(std::move(error));
    return 1;
  }
  llvm::outs() << "wrote the emulated kernels of " << package << "\n";
  return finishOutput(0);
}
