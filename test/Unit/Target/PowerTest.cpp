//===- PowerTest.cpp - powf of device code is that of C -------------------------------------------===//
#include "EmulatedKernels.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "par/Register/Register.h"
#include "par/Target/Target.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::par;
using ::par::emulation::BufferRole;
using ::par::emulation::Buffers;

namespace {
constexpr size_t kCount = 4096;

const char *kPower = R"(
module {
module @device {
  func.func @power(%x: memref<4096xf32>, %y: memref<4096xf32>, %z: memref<4096xf32>)
      attributes {launch = {block = array<i64: 1, 1, 1>}} {
    %first = arith.constant 0 : index
    %end = arith.constant 4096 : index
    %one = arith.constant 1 : index
    scf.for %i = %first to %end step %one {
      %a = memref.load %x[%i] : memref<4096xf32>
      %b = memref.load %y[%i] : memref<4096xf32>
      %c = math.powf %a, %b : f32
      memref.store %c, %z[%i] : memref<4096xf32>
    }
    return
  }
}
}
)";

std::vector<float> power(std::vector<float> x, std::vector<float> y) {
  DialectRegistry registry;
  registerDialects(registry);
  registry.insert<memref::MemRefDialect, scf::SCFDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kPower, &context);
  const Target *target = findTarget(TargetKind::Cuda);
  EXPECT_TRUE(succeeded(target->lowerKernels(module->lookupSymbol<ModuleOp>(kDeviceModule))));
  TemporaryFolder folder;
  Plan plan;
  plan.chip = ChipKind::Sm90;
  EXPECT_EQ(llvm::toString(target->writeProgram(*module, plan, "", folder.at("program0.so"))), "");
  auto bitcode = llvm::MemoryBuffer::getFile(folder.at("program0.bc"));
  EmulatedKernels kernels((*bitcode)->getMemBufferRef());
  EXPECT_EQ(kernels.error, "");
  std::vector<float> z(kCount);
  Buffers buffers;
  uint64_t addresses[] = {buffers.add(x.data(), 4 * kCount, BufferRole::Read),
                          buffers.add(y.data(), 4 * kCount, BufferRole::Read),
                          buffers.add(z.data(), 4 * kCount, BufferRole::Write)};
  void *params[] = {&addresses[0], &addresses[1], &addresses[2]};
  const uint32_t one[] = {1, 1, 1};
  par_emulation how = buffers.describe(par_emulation_forward);
  kernels.find("power")(params, one, one, 0, &how);
  buffers.finish();
  EXPECT_EQ(buffers.getFindings(), std::vector<std::string>());
  return z;
}

bool isNear(float got, float expected) {
  if (std::isnan(expected))
    return std::isnan(got);
  return got == expected || std::nextafter(got, expected) == expected;
}

/// All pairs of special values, and random ones: at most one unit in the last place off.
TEST(PowerTest, IsThatOfC) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const float special[] = {0,    -0.0F, 1,      -1,    inf,   -inf,  std::nanf(""), 2,      -2,   3,    -3,
                           0.5F, -0.5F, 1e-40F, 1e38F, 1e-6F, 1e30F, 1e7F,          0.9F,   1.1F, 2.5F, -2.5F,
                           127,  128,   -149,   -150,  65536, 65537, 0.999F,        1.5e9F, 7,    -7};
  std::vector<float> x, y;
  for (float a : special)
    for (float b : special)
      x.push_back(a), y.push_back(b);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> base(0, 10), exponent(-20, 20);
  while (x.size() < kCount)
    x.push_back(base(random)), y.push_back(exponent(random));
  ASSERT_EQ(x.size(), kCount);
  std::vector<float> z = power(x, y);
  for (size_t i = 0; i < kCount; ++i)
    EXPECT_TRUE(isNear(z[i], std::pow(x[i], y[i])))
        << x[i] << "^" << y[i] << " is " << std::pow(x[i], y[i]) << ", got " << z[i];
}
} // namespace
