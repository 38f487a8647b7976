//===- par-lsp-server.cpp - MLIR's language server with par's dialects ------------------------------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "par/Register/Register.h"
#include "par/Support/LlvmCommandLine.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::par::registerDialects(registry);
  mlir::par::printVersionOf("par-lsp-server");
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
