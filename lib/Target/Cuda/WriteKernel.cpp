//===- WriteKernel.cpp - kernels by their strategies ------------------------------------------------===//
#include "CudaTarget.h"
#include "KernelStrategy.h"
#include "RoundParts.h"
#include "par/Conversion/ScalarEvaluator.h"
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "par/Target/LibraryCall.h"

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

FailureOr<func::FuncOp> CudaTarget::writeKernel(OpBuilder &builder, rank::WorkOpInterface work,
                                                StringRef name, ArrayRef<StringAttr> axes) const {
  bool isAligned = areAligned(work);
  if (auto library = dyn_cast<rank::LibraryWorkInterface>(*work)) {
    const LibraryCall *call = getLibraryCall(kind, library);
    return call ? call->writeKernel(builder, library, name, isAligned) : FailureOr<func::FuncOp>(failure());
  }
  OwningOpRef<rank::KernelOp> epilogue;
  if (auto gemm = dyn_cast<rank::GemmOp>(*work)) {
    epilogue = rank::separateEpilogue(gemm);
    work = cast<rank::WorkOpInterface>(epilogue->getOperation());
  }
  Block &block = work.getBody().front();
  if (failed(decomposeForDevice(block)))
    return failure();
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  OpBuilder::InsertionGuard guard(builder);
  if (failed(selectStrategy(block)->write({builder, work, name, axes, isAligned})))
    return failure();
  return module.lookupSymbol<func::FuncOp>(name);
}
