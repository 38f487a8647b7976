//===- HostKernelText.h - device code as text, run on the host ----------------------------------===//
#ifndef PAR_TEST_UNIT_TARGET_HOSTKERNELTEXT_H
#define PAR_TEST_UNIT_TARGET_HOSTKERNELTEXT_H

#include "EmulatedKernels.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::par {

using ::par::emulation::BufferRole;
using ::par::emulation::Buffers;

inline const std::string kHead = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.redux.sync.min(i32, i32)
declare i32 @llvm.nvvm.redux.sync.max(i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare float @llvm.nvvm.ex2.approx.ftz.f(float)
declare float @llvm.nvvm.rcp.approx.ftz.f(float)
declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3))
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
!nvvm.annotations = !{!0}
!0 = !{ptr @kernel, !"kernel", i32 1}
)";

/// The beginning of a kernel: %i is the number of a thread in a grid of blocks of 64.
inline const std::string kEntry = R"(define void @kernel(ptr %in, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %b, 64
  %i = add i32 %first, %t
)";

inline std::string toBitcode(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic why;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, why, context);
  EXPECT_TRUE(module) << why.getMessage().str() << " in " << why.getLineContents().str();
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  if (module)
    llvm::WriteBitcodeToFile(*module, stream);
  return bitcode;
}

/// The text with one change, which it must have room for.
inline std::string change(std::string text, const std::string &from, const std::string &to) {
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

/// What a launch of two blocks of 64 threads writes, and what was found.
template <typename Element>
struct Outcome {
  std::vector<Element, DeviceAllocator<Element>> out =
      std::vector<Element, DeviceAllocator<Element>>(128, Element(-1));
  std::vector<std::string> findings;
  ::par::emulation::SectorUse read, written;
};

template <typename Element>
Outcome<Element> run(const std::string &text, par_emulation_order order = par_emulation_forward) {
  Outcome<Element> outcome;
  std::string bitcode = toBitcode(text);
  EmulatedKernels kernels(llvm::MemoryBufferRef(bitcode, "kernel"));
  EXPECT_EQ(kernels.error, "");
  if (!kernels.error.empty())
    return outcome;
  std::vector<Element, DeviceAllocator<Element>> in(128);
  for (int i = 0; i < 128; ++i)
    in[i] = Element(3 * i);
  Buffers buffers;
  uint64_t addresses[] = {buffers.add(in.data(), 512, BufferRole::Read),
                          buffers.add(outcome.out.data(), 512, BufferRole::Write)};
  void *params[] = {&addresses[0], &addresses[1]};
  const uint32_t grid[] = {2, 1, 1}, block[] = {64, 1, 1};
  par_emulation how = buffers.describe(order);
  kernels.find("kernel")(params, grid, block, 0, &how);
  buffers.finish();
  outcome.findings = buffers.getFindings();
  outcome.read = buffers.getSectorUse(0);
  outcome.written = buffers.getSectorUse(1);
  return outcome;
}

inline bool isFound(const std::vector<std::string> &findings, const std::string &text) {
  for (const std::string &finding : findings)
    if (finding.find(text) != std::string::npos)
      return true;
  return false;
}

/// A change that is a mistake.
struct Fault {
  const char *name;
  const std::string *kernel;
  std::string from, to, finding;
};

/// The emulator names the fault, and where it is.
inline void expectFound(const Fault &fault) {
  SCOPED_TRACE(fault.name);
  std::string text = change(*fault.kernel, fault.from, fault.to);
  text = change(text, "  %from =", "  %far = add i32 %t, 128\n  %from =");
  std::vector<std::string> findings = run<int>(text).findings;
  EXPECT_TRUE(isFound(findings, fault.finding)) << ::testing::PrintToString(findings);
  if (fault.finding.find("written") == std::string::npos)
    EXPECT_TRUE(isFound(findings, " at kernel:")) << "no place: " << ::testing::PrintToString(findings);
}

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_HOSTKERNELTEXT_H
