//===- par-import.cpp - a Hugging Face config as a graph in the par dialect -----------------------------===//
#include "par/Import/ImportTool.h"
#include "par/Register/Register.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::par::registerDialects(registry);
  return mlir::par::runImportTool(argc, argv, registry);
}
