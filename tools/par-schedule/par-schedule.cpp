//===- par-schedule.cpp - pipeline schedules: order, time, bubble ---------------------------------------===//
#include "par/Schedule/ScheduleTool.h"
#include "par/Support/OutOfMemory.h"

int main(int argc, char **argv) {
  mlir::par::endWithoutMemory("use fewer --stages or --micro-batches");
  return mlir::par::runScheduleTool(argc, argv);
}
