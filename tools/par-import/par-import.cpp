//===- par-import.cpp - a Hugging Face config as a graph in the par dialect -----------------------------===//
#include "par/Import/ImportTool.h"
#include "par/Register/Register.h"
#include "par/Support/BeginTool.h"

int main(int argc, char **argv) {
  mlir::par::beginTool("use a smaller model, --batch or --seq");
  mlir::DialectRegistry registry;
  mlir::par::registerDialects(registry);
  return mlir::par::runImportTool(argc, argv, registry);
}
