//===- RandomGraph.h - random graphs with random shardings ------------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_PROPERTY_RANDOMGRAPH_H
#define PAR_TEST_UNIT_PROPERTY_RANDOMGRAPH_H

#include "GraphWriter.h"

namespace mlir::par::test {

/// A module on a random mesh of 2 to 8 ranks: einsums with odd letters, maths, reductions, norms, softmax,
/// attention, dropout, moves, lookups, layers that are called twice, values and parameters used several
/// times; parameters, inputs and some values are split at random, over sizes that the mesh need not divide.
std::string writeRandomGraph(uint64_t seed);

/// The same on a mesh of dp and tp of up to 4 ranks, with tokens and targets and everything else that a
/// program needs to run. `large`: of prime sizes up to some hundreds, beyond what vectors, tiles and threads
/// take at once. `narrow`: parameters and activations are bf16.
std::string writeExecutableGraph(uint64_t seed, bool large = false, bool narrow = false);

} // namespace mlir::par::test

#endif // PAR_TEST_UNIT_PROPERTY_RANDOMGRAPH_H
