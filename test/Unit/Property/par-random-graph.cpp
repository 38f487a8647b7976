//===- par-random-graph.cpp - writes a random graph that can be compiled and run ------------------------===//
// par-random-graph SEED: the graph on stdout. Its first line says on which mesh its shardings are.
#include "RandomGraph.h"
#include <cstdlib>
#include <iostream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "error: expected one argument, the seed\n";
    return 1;
  }
  std::cout << mlir::par::test::writeExecutableGraph(std::strtoull(argv[1], nullptr, 10));
  return 0;
}
