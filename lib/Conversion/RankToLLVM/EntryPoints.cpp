//===- EntryPoints.cpp - the runtime's functions as LLVM declarations -----------------------------------===//
#include "EntryPoints.h"

using namespace mlir;
using namespace mlir::par;

void par::declareEntryPoints(OpBuilder &builder, ModuleOp module) {
  MLIRContext *context = builder.getContext();
  // The type letters of EntryPoints.def.
  [[maybe_unused]] Type P = LLVM::LLVMPointerType::get(context), V = LLVM::LLVMVoidType::get(context);
  [[maybe_unused]] Type I = builder.getI32Type(), L = builder.getI64Type(), F = builder.getF32Type();
  auto declare = [&](StringRef name, Type result, ArrayRef<Type> parameters) {
    builder.create<LLVM::LLVMFuncOp>(module.getLoc(), name, LLVM::LLVMFunctionType::get(result, parameters));
  };
#define PAR_ENTRY(name, result, ...) declare(#name, result, {__VA_ARGS__});
#include "par/EntryPoints.def"
}
