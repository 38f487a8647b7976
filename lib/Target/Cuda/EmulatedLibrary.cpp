//===- EmulatedLibrary.cpp - emulated kernels as a shared library ---------------------------------===//
#include "../Host/HostCode.h"
#include "DeviceCode.h"
#include "EmulatorArchive.h"
#include "HostKernels.h"
#include "InstructionCounts.h"
#include "par/Target/Emulation.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::par;

llvm::Expected<std::string> par::printDeviceCode(llvm::MemoryBufferRef bitcode) { return printPtx(bitcode); }

llvm::Error par::writeEmulatedLibrary(llvm::MemoryBufferRef bitcode, llvm::StringRef path, bool counts) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(bitcode, context);
  if (!module)
    return module.takeError();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      createHostMachine(getAnyProcessor(), llvm::FPOpFusion::Standard);
  if (!machine)
    return machine.takeError();
  InstructionCounts counted;
  if (counts)
    counted.collect(**module);
  if (llvm::Error error =
          rewriteForHost(**module, (*machine)->createDataLayout(), (*machine)->getTargetTriple().str()))
    return error;
  if (counts)
    counted.write(**module);
  std::string archive = (path + ".a").str();
  llvm::Error error = writeFile(archive, getEmulatorArchive());
  if (!error)
    error = writeHostLibrary(**module, **machine, path, {archive});
  llvm::sys::fs::remove(archive);
  return error;
}
