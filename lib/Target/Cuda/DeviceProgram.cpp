//===- DeviceProgram.cpp - the files of a package for GPUs ----------------------------------------===//
#include "../Host/HostCode.h"
#include "CudaTarget.h"
#include "DeviceCode.h"
#include "par/Support/MakeError.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::par;

static std::string printBitcode(const llvm::Module &module) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return bytes.str().str();
}

static std::string replaceExtension(llvm::StringRef path, llvm::StringRef extension) {
  llvm::SmallString<128> replaced(path);
  llvm::sys::path::replace_extension(replaced, extension);
  return replaced.str().str();
}

/// Beside program<i>.so its kernels: program<i>.ptx for the driver, and program<i>.bc, which that was made
/// of, for the emulator.
llvm::Error CudaTarget::writeProgram(ModuleOp module, const Plan &plan, StringRef manifestHash,
                                     StringRef path) const {
  auto device = module.lookupSymbol<ModuleOp>(kDeviceModule);
  if (!device)
    return makeError("the program has no module of kernels");
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createDeviceMachine(getName(plan.chip));
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> kernels = buildDeviceModule(device, **machine, context);
  if (!kernels)
    return kernels.takeError();
  std::string bitcode = printBitcode(**kernels);
  llvm::Expected<std::string> ptx = printPtx(llvm::MemoryBufferRef(bitcode, "device"));
  if (!ptx)
    return ptx.takeError();
  if (llvm::Error error = writeFile(replaceExtension(path, "bc"), bitcode))
    return error;
  if (llvm::Error error = writeFile(replaceExtension(path, getDeviceText()), *ptx))
    return error;
  // The host's program is what lies around the kernels. Who prints the module afterwards sees both.
  device->remove();
  llvm::Error error = writeHostProgram(module, getAnyProcessor(), manifestHash, path);
  module.push_back(device);
  return error;
}
