//===- par-random-graph.cpp - writes a random graph that can be compiled and run ------------------------===//
// par-random-graph SEED [large] [bf16]: the graph on stdout. Its first line says on which mesh its shardings
// are.
#include "RandomGraph.h"
#include <cstdlib>
#include <iostream>
#include <string>

int main(int argc, char **argv) {
  bool large = false, narrow = false, valid = argc > 1;
  for (int i = 2; i < argc; ++i) {
    std::string word = argv[i];
    large |= word == "large";
    narrow |= word == "bf16";
    valid &= word == "large" || word == "bf16";
  }
  if (!valid) {
    std::cerr << "error: expected the seed, and \"large\", \"bf16\", both or nothing\n";
    return 1;
  }
  std::cout << mlir::par::test::writeExecutableGraph(std::strtoull(argv[1], nullptr, 10), large, narrow);
  return 0;
}
