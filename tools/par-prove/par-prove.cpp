//===- par-prove.cpp - whether ranks compute what one device would --------------------------------------===//
#include "par/Judge/ProveTool.h"
#include "par/Register/Register.h"
#include "par/Support/BeginTool.h"

int main(int argc, char **argv) {
  mlir::par::beginTool("give smaller modules");
  mlir::DialectRegistry registry;
  mlir::par::registerDialects(registry);
  return mlir::par::runProveTool(argc, argv, registry);
}
