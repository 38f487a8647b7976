//===- par-random-graph.cpp - writes a random graph that can be compiled and run ------------------------===//
// par-random-graph SEED [large]: the graph on stdout. Its first line says on which mesh its shardings are.
#include "RandomGraph.h"
#include <cstdlib>
#include <cstring>
#include <iostream>

int main(int argc, char **argv) {
  bool large = argc == 3 && std::strcmp(argv[2], "large") == 0;
  if (argc != 2 && !large) {
    std::cerr << "error: expected the seed, and \"large\" or nothing\n";
    return 1;
  }
  std::cout << mlir::par::test::writeExecutableGraph(std::strtoull(argv[1], nullptr, 10), large);
  return 0;
}
