/// Which variables go into a checkpoint, how they are cut, and who writes which block.
#ifndef PAR_CORE_CHECKPOINTTENSORS_H
#define PAR_CORE_CHECKPOINTTENSORS_H

#include "core/Manifest.h"
#include "par/io/Checkpoint.h"

#include <set>

namespace par::rt {

/// A variable and the tensor of a checkpoint that holds it: parameters under their file's name (the master's
/// values where there is one), moments under that name and their own suffix ("….weight.m").
struct CheckpointVariable {
  const Variable *variable;
  std::string name;
  std::vector<int64_t> permutation; ///< dimension i of the tensor is dimension permutation[i] of the variable
  io::CheckpointTensor tensor;
  bool saved; ///< false for what is only restored: parameters that have a master, replicas of tied ones
};

std::vector<CheckpointVariable> checkpointVariables(const Manifest &manifest);

/// Parameters that are not trained, under their file's names.
std::set<std::string> frozenTensors(const Manifest &manifest);

/// The block of a rank's shard and its number in the grid; -1 when the shard is padding only, and where the
/// rank's program has no such variable.
int64_t ownBlock(const Manifest &manifest, const CheckpointVariable &variable, int rank,
                 io::CheckpointBlock &block);

/// Elements between neighbours in the shard, per dimension of the tensor.
Shape shardStrides(const CheckpointVariable &variable);

/// The tensors that a rank writes into one of its two files, in order.
std::vector<io::NamedShape> tensorsOfFile(const Manifest &manifest,
                                          const std::vector<CheckpointVariable> &variables, bool optimizer,
                                          int rank);

} // namespace par::rt
#endif
