//===- IntegerProgram.cpp - a linear program some of whose variables are whole numbers ------------------===//
#include "par/ShardingSearch/IntegerProgram.h"

using namespace mlir::par;

int IntegerProgram::addColumn(double cost, bool isInteger) {
  columns.push_back({cost, isInteger});
  return static_cast<int>(columns.size()) - 1;
}
