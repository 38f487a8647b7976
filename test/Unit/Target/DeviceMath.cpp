//===- DeviceMath.cpp - a function of numbers as device code, executed ----------------------------===//
#include "DeviceMath.h"
#include "EmulatedKernels.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "par/Register/Register.h"
#include "par/Target/Target.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::par;
using ::par::emulation::BufferRole;
using ::par::emulation::Buffers;

static std::string getModule(const std::string &code, size_t count, bool inBf16) {
  std::string size = std::to_string(count), type = "memref<" + size + "xf32>";
  return "module {\nmodule @device {\n  func.func @each(%x: " + type + ", %y: " + type + ", %z: " + type +
         (inBf16 ? ", %narrow: memref<1xi16>" : "") + R"()
      attributes {launch = {block = array<i64: 1, 1, 1>}} {
    %first = arith.constant 0 : index
    %next = arith.constant 1 : index
    %end = arith.constant )" +
         size + " : index\n    scf.for %i = %first to %end step %next {\n" +
         "      %a = memref.load %x[%i] : " + type + "\n      %b = memref.load %y[%i] : " + type + "\n" +
         code + "\n      memref.store %r, %z[%i] : " + type + "\n    }\n    return\n  }\n}\n}\n";
}

std::vector<float> mlir::par::computeOnDevice(const std::string &code, std::vector<float> x,
                                              std::vector<float> y, bool inBf16) {
  DialectRegistry registry;
  registerDialects(registry);
  registry.insert<memref::MemRefDialect, scf::SCFDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(getModule(code, x.size(), inBf16), &context);
  std::vector<float> z(x.size());
  const Target *target = findTarget(TargetKind::Cuda);
  EXPECT_TRUE(module && succeeded(target->lowerKernels(module->lookupSymbol<ModuleOp>(kDeviceModule))));
  TemporaryFolder folder;
  Plan plan;
  plan.chip = ChipKind::Sm90;
  EXPECT_EQ(llvm::toString(target->writeProgram(*module, plan, "", folder.at("program0.so"))), "");
  auto bitcode = llvm::MemoryBuffer::getFile(folder.at("program0.bc"));
  EmulatedKernels kernels((*bitcode)->getMemBufferRef());
  EXPECT_EQ(kernels.error, "");
  Buffers buffers;
  size_t bytes = 4 * x.size();
  uint16_t narrow = 0;
  uint64_t addresses[] = {buffers.add(x.data(), bytes, BufferRole::Read),
                          buffers.add(y.data(), bytes, BufferRole::Read),
                          buffers.add(z.data(), bytes, BufferRole::Write),
                          buffers.add(&narrow, sizeof(narrow), BufferRole::Read)};
  void *params[] = {&addresses[0], &addresses[1], &addresses[2], &addresses[3]};
  const uint32_t one[] = {1, 1, 1};
  par_emulation how = buffers.describe(par_emulation_forward);
  kernels.find("each")(params, one, one, 0, &how);
  buffers.finish();
  EXPECT_EQ(buffers.getFindings(), std::vector<std::string>());
  return z;
}
