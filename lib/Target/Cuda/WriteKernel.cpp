//===- WriteKernel.cpp - kernels by their plans ---------------------------------------------------===//
#include "Attention/WriteAttention.h"
#include "CudaTarget.h"
#include "PlannedKernels.h"
#include "RoundParts.h"
#include "par/Conversion/ScalarEvaluator.h"
#include "par/Dialect/Rank/IR/Epilogue.h"

using namespace mlir;
using namespace mlir::par;

/// True if buffers lie at multiples of an access: all do but those that are a part of another one (rank.call
/// with parts).
static bool areAligned(Operation *op) {
  bool aligned = true;
  op->getParentOfType<ModuleOp>().walk([&](rank::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<rank::FuncOp>(call, call.getCalleeAttr());
    for (unsigned number = 0; call.getParts() > 1 && number < call.getBuffers().size(); ++number)
      aligned &= call.getStride(number, callee) % kAccessBytes == 0;
  });
  return aligned;
}

static LogicalResult write(const KernelTask &task) {
  switch (task.plan.kind) {
  case PlanKind::Flat:
    return task.isAligned ? writeFlatKernel(task) : writeGenericKernel(task);
  case PlanKind::Tile:
    return task.isAligned ? writeTileKernel(task) : writeGenericKernel(task);
  case PlanKind::Row:
  case PlanKind::RowColumn:
    return writeRowKernel(task);
  case PlanKind::LongRow:
  case PlanKind::Total:
    return writeLongRowKernel(task);
  case PlanKind::Totals:
    return writeTotalsKernel(task);
  case PlanKind::Column:
    return writeColumnKernel(task);
  case PlanKind::Scatter:
    return writeScatterKernels(task);
  default:
    return writeGenericKernel(task);
  }
}

FailureOr<func::FuncOp> CudaTarget::writeKernel(OpBuilder &builder, rank::WorkOpInterface work,
                                                StringRef name, ArrayRef<StringAttr> axes) const {
  bool isAligned = areAligned(work);
  if (auto attention = dyn_cast<rank::AttentionOp>(*work))
    return writeAttention(builder, attention, name, isAligned);
  OwningOpRef<rank::KernelOp> epilogue;
  if (auto gemm = dyn_cast<rank::GemmOp>(*work)) {
    epilogue = rank::separateEpilogue(gemm);
    work = cast<rank::WorkOpInterface>(epilogue->getOperation());
  }
  Block &block = work.getBody().front();
  if (failed(decomposeForDevice(block)))
    return failure();
  KernelPlan plan = planKernel(block);
  KernelTask task{builder, work, name, axes, plan, isAligned};
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  OpBuilder::InsertionGuard guard(builder);
  if (failed(write(task)))
    return failure();
  builder.setInsertionPointToEnd(module.getBody());
  if (plan.hasScratch() && failed(writeFinishKernel(task)))
    return failure();
  return module.lookupSymbol<func::FuncOp>(name);
}
