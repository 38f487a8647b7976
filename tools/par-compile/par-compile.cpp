//===- par-compile.cpp - compiles a model to native rank programs ---------------------------------------===//
#include "par/Compile/CompileTool.h"
#include "par/Planner/PlanTool.h"
#include "par/Support/BeginTool.h"
#include "par/Support/ToolPath.h"

int main(int argc, char **argv) {
  mlir::par::beginTool("use a smaller model, or compile where there is more");
  return mlir::par::runCompileTool(argc, argv, mlir::par::getToolPath("par-run"), mlir::par::findPlan);
}
