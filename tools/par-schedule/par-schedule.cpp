//===- par-schedule.cpp - pipeline schedules: order, time, bubble ---------------------------------------===//
#include "par/Schedule/ScheduleTool.h"

int main(int argc, char **argv) { return mlir::par::runScheduleTool(argc, argv); }
