//===- par-schedule.cpp - pipeline schedules: order, time, bubble ---------------------------------------===//
#include "par/Schedule/ScheduleTool.h"
#include "par/Support/BeginTool.h"

int main(int argc, char **argv) {
  mlir::par::beginTool("use fewer --stages or --micro-batches");
  return mlir::par::runScheduleTool(argc, argv);
}
