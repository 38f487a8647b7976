//===- WithoutCbc.cpp - what stands for the solver where there is none ----------------------------------===//
#include "par/ShardingSearch/IntegerProgram.h"
#include "par/Support/MakeError.h"

using namespace mlir::par;

bool mlir::par::hasSolver() { return false; }

llvm::Expected<ProgramAnswer> mlir::par::solveProgram(const IntegerProgram &, const ProgramLimits &) {
  return makeError(
      "a search of shardings needs COIN-OR CBC, which was absent when par was built; install the "
      "Debian package coinor-libcbc-dev and build again");
}
