//===- par-plan.cpp - finds the best plan for a model and a cluster -------------------------------------===//
#include "par/Planner/PlanTool.h"
#include "par/Support/BeginTool.h"

int main(int argc, char **argv) {
  mlir::par::beginTool("plan where there is more");
  return mlir::par::runPlanTool(argc, argv);
}
