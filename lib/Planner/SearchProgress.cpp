//===- SearchProgress.cpp - how far a search has come ---------------------------------------------------===//
#include "par/Planner/SearchProgress.h"
#include "par/Support/Seconds.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::par;

double SearchProgress::getSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string SearchProgress::describe() const {
  std::string text = llvm::formatv("{0:f0} s, {1}: {2} weighed, {3} estimated, {4} compiled", getSeconds(),
                                   doing.load(), weighed.load(), estimated.load(), compiled.load());
  if (double found = best)
    text += "; best so far " + formatSeconds(found) + " a step";
  return text;
}
