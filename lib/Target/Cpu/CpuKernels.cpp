//===- CpuKernels.cpp - kernels for processors ----------------------------------------------------===//
#include "../Kernels/KernelWriter.h"
#include "../Kernels/LowerKernels.h"
#include "CpuTarget.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::par;

FailureOr<func::FuncOp> CpuTarget::writeKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                               ArrayRef<StringAttr> axes) const {
  constexpr Sharing sharing{/*enoughRows=*/16, /*roomColumns=*/1024, /*sharesElements=*/false};
  FailureOr<PartKernel> kernel = writePartKernel(builder, work, name, axes, sharing);
  return failed(kernel) ? FailureOr<func::FuncOp>() : kernel->function;
}

/// f32 functions that are calls of the C library, before the polynomials take them.
template <typename Op>
static void callLibrary(ModuleOp module, StringRef name) {
  SmallVector<Op> ops;
  module.walk([&](Op op) {
    if (op.getType().isF32())
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = builder.getFunctionType(SmallVector<Type>(ops.front()->getNumOperands(), builder.getF32Type()),
                                      builder.getF32Type());
  auto declaration = builder.create<func::FuncOp>(module.getLoc(), name, type);
  declaration.setPrivate();
  // Pure: equal calls may be merged and moved out of loops.
  declaration->setAttr("passthrough", builder.getStrArrayAttr({"nounwind", "willreturn"}));
  for (Op op : ops) {
    builder.setInsertionPoint(op);
    auto call = builder.create<func::CallOp>(op.getLoc(), declaration, op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  }
}

LogicalResult CpuTarget::lowerKernels(ModuleOp kernels) const {
  callLibrary<math::PowFOp>(kernels, "powf");
  return lowerLoopsToLLVM(kernels);
}
