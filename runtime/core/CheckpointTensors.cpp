#include "core/CheckpointTensors.h"

#include "core/Error.h"
#include "core/Topology.h"
#include "par/io/Philox.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace par::rt {

static const Variable *findVariable(const Manifest &manifest, Role role, const std::string &name,
                                    bool byOwner) {
  for (const Variable &variable : manifest.variables)
    if (variable.role == role && (byOwner ? variable.of : variable.name) == name)
      return &variable;
  return nullptr;
}

/// The rank that writes the block at these positions, of those that run the owner's program. Replicas of
/// different tensors take turns, so that the writing is shared.
static int writerOf(const Manifest &manifest, const Variable &variable, const std::vector<int64_t> &positions,
                    size_t turn) {
  std::vector<int> coordinates(manifest.axes.size(), -1);
  for (size_t d = 0; d < positions.size(); ++d) {
    int64_t rest = positions[d];
    for (size_t i = variable.sharding[d].size(); i-- > 0;) {
      int axis = variable.sharding[d][i];
      coordinates[size_t(axis)] = int(rest % manifest.axes[size_t(axis)].size);
      rest /= manifest.axes[size_t(axis)].size;
    }
  }
  int rank = 0;
  const RankSet &allowed = manifest.programs[variable.owner].ranks;
  for (size_t axis = 0; axis < coordinates.size(); ++axis) {
    int size = manifest.axes[axis].size;
    auto some = allowed.find(int(axis));
    size_t choices = some == allowed.end() ? size_t(size) : some->second.size();
    if (coordinates[axis] < 0) {
      coordinates[axis] = some == allowed.end() ? int(turn % choices) : some->second[turn % choices];
      turn /= choices;
    }
    rank = rank * size + coordinates[axis];
  }
  return rank;
}

static void cut(const Manifest &manifest, CheckpointVariable &entry, size_t turn) {
  const Variable &variable = *entry.variable;
  io::CheckpointTensor &tensor = entry.tensor;
  int64_t blocks = 1;
  for (int64_t d : entry.permutation) {
    tensor.shape.push_back(variable.shape[size_t(d)]);
    tensor.block.push_back(std::min(variable.local[size_t(d)], variable.shape[size_t(d)]));
    blocks *= (tensor.shape.back() + tensor.block.back() - 1) / tensor.block.back();
  }
  for (int64_t number = 0; number < blocks; ++number) {
    io::CheckpointBlock block = io::blockOf(tensor, number);
    std::vector<int64_t> positions(variable.shape.size());
    for (size_t i = 0; i < entry.permutation.size(); ++i)
      positions[size_t(entry.permutation[i])] = block.begin[i] / tensor.block[i];
    tensor.ranks.push_back(writerOf(manifest, variable, positions, turn));
  }
}

/// Whether a parameter is a tensor of the files as a whole, which gives it its name in checkpoints.
static bool isTensorOfFiles(const Variable &parameter) {
  return parameter.hasFile && io::wholePiece(parameter.file, parameter.shape);
}

/// What a parameter is of a tensor of checkpoints. One that is in several tensors of the files, in a part of
/// one or with an offset has a tensor of its own there, which holds its values.
static io::FilePiece pieceInCheckpoints(const Variable &parameter) {
  return isTensorOfFiles(parameter) ? parameter.file.pieces.front()
                                    : io::wholePlace(parameter.name, parameter.shape).pieces.front();
}

static CheckpointVariable makeEntry(const Manifest &manifest, const Variable &variable,
                                    const Variable &parameter) {
  bool optimizer = variable.role == Role::moment;
  io::FilePiece piece = pieceInCheckpoints(parameter);
  CheckpointVariable entry{&variable, piece.name, piece.permutation, {}, true};
  entry.tensor.fileShape = piece.shape;
  entry.tensor.optimizer = optimizer;
  if (optimizer) {
    bool prefixed = variable.name.rfind(parameter.name, 0) == 0;
    entry.name += prefixed ? variable.name.substr(parameter.name.size()) : "." + variable.name;
  }
  if (variable.shape != parameter.shape) {
    entry.permutation.resize(variable.shape.size());
    std::iota(entry.permutation.begin(), entry.permutation.end(), 0);
    entry.tensor.fileShape = variable.shape;
  }
  cut(manifest, entry, size_t(io::fnv1a64(entry.name)));
  return entry;
}

namespace {
/// The names of checkpoints' tensors, and which parameter's each is.
class TensorNames {
public:
  explicit TensorNames(const Manifest &manifest) : manifest(manifest) {}

  /// False for a name that is taken by another parameter that is the same tensor of the files. Throws Error
  /// when it is taken by anything else.
  bool insert(const CheckpointVariable &entry, const Variable &parameter) {
    auto [first, isNew] = names.insert({entry.name, {&parameter, entry.tensor.optimizer}});
    const auto &[other, optimizer] = first->second;
    if (isNew ||
        (optimizer == entry.tensor.optimizer && isTensorOfFiles(*other) && isTensorOfFiles(parameter)))
      return isNew;
    throw Error(manifest.path + ": parameters \"" + other->name + "\" and \"" + parameter.name +
                "\" or what belongs to them have one name in checkpoints, \"" + entry.name +
                "\"; rename one of them in the graph and compile again");
  }

private:
  const Manifest &manifest;
  std::map<std::string, std::pair<const Variable *, bool>> names;
};
} // namespace

std::vector<CheckpointVariable> checkpointVariables(const Manifest &manifest) {
  std::vector<CheckpointVariable> list;
  TensorNames names(manifest);
  for (const Variable &variable : manifest.variables) {
    if (variable.role != Role::parameter && variable.role != Role::moment && variable.role != Role::master)
      continue;
    const Variable *parameter = variable.role == Role::parameter
                                    ? &variable
                                    : findVariable(manifest, Role::parameter, variable.of, false);
    if (!parameter) // a moment of nothing
      continue;
    CheckpointVariable entry = makeEntry(manifest, variable, *parameter);
    bool superseded =
        variable.role == Role::parameter && findVariable(manifest, Role::master, variable.name, true);
    entry.saved = !superseded && names.insert(entry, *parameter);
    list.push_back(std::move(entry));
  }
  return list;
}

std::set<std::string> frozenTensors(const Manifest &manifest) {
  std::set<std::string> names;
  for (const Variable &variable : manifest.variables)
    if (variable.role == Role::parameter && !variable.isTrained)
      names.insert(pieceInCheckpoints(variable).name);
  return names;
}

int64_t ownBlock(const Manifest &manifest, const CheckpointVariable &entry, int rank,
                 io::CheckpointBlock &block) {
  if (!manifest.programOf(rank).findVariable(entry.variable->name))
    return -1;
  std::vector<int32_t> coordinates = coordinatesOf(manifest.axes, rank);
  int64_t number = 0;
  for (size_t i = 0; i < entry.permutation.size(); ++i) {
    const std::vector<int> &axes = entry.variable->sharding[size_t(entry.permutation[i])];
    int64_t position = positionOn(manifest.axes, coordinates, axes);
    int64_t count = (entry.tensor.shape[i] + entry.tensor.block[i] - 1) / entry.tensor.block[i];
    if (position >= count)
      return -1;
    number = number * count + position;
  }
  block = io::blockOf(entry.tensor, number);
  return number;
}

Shape shardStrides(const CheckpointVariable &entry) {
  const Shape &local = entry.variable->local;
  Shape strides(local.size(), 1), permuted;
  for (size_t d = local.size(); d-- > 1;)
    strides[d - 1] = strides[d] * local[d];
  for (int64_t d : entry.permutation)
    permuted.push_back(strides[size_t(d)]);
  return permuted;
}

std::vector<io::NamedShape> tensorsOfFile(const Manifest &manifest,
                                          const std::vector<CheckpointVariable> &variables, bool optimizer,
                                          int rank) {
  std::vector<io::NamedShape> list;
  for (const CheckpointVariable &entry : variables) {
    io::CheckpointBlock block;
    if (!entry.saved || entry.tensor.optimizer != optimizer)
      continue;
    int64_t number = ownBlock(manifest, entry, rank, block);
    if (number >= 0 && entry.tensor.ranks[size_t(number)] == rank)
      list.push_back({entry.name, entry.tensor.ranks.size() == 1 ? entry.tensor.fileShape : block.size});
  }
  return list;
}

} // namespace par::rt
