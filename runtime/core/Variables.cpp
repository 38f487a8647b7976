#include "core/Variables.h"

#include "core/Topology.h"
#include "par/io/Philox.h"

#include <algorithm>
#include <cstring>

namespace par::rt {

std::vector<io::NamedShape> parameterFiles(const Program &program) {
  std::vector<io::NamedShape> list;
  for (const Variable &variable : program.variables) {
    auto same = [&](const io::NamedShape &other) { return other.name == variable.file.name; };
    if (variable.role == Role::parameter && std::none_of(list.begin(), list.end(), same))
      list.push_back({variable.file.name, variable.file.shape});
  }
  return list;
}

io::ShardLayout layoutOf(const Manifest &manifest, const Variable &variable, int rank) {
  std::vector<int32_t> coordinates = coordinatesOf(manifest.axes, rank);
  return {variable.shape, variable.local,
          shardBegin(manifest.axes, coordinates, variable.sharding, variable.local),
          io::fileStrides(variable.shape, variable.file.permutation)};
}

static void fillRow(const Variable &variable, const io::ShardRow &row, uint64_t key, float *out) {
  for (int64_t i = 0; i < row.count; ++i)
    out[i] = variable.init == InitKind::ones
                 ? 1.0f
                 : float(variable.std * io::initialNormal(key, uint64_t(row.file + i * row.stride)));
}

static void initialise(const Manifest &manifest, const Variable &variable, int rank, float *values,
                       const io::Weights *weights, uint64_t seed) {
  uint64_t key = io::initialisationKey(variable.file.name, seed);
  io::forEachRow(layoutOf(manifest, variable, rank), [&](const io::ShardRow &row) {
    if (weights)
      weights->read(variable.file.name, row.file, row.stride, row.count, values + row.local);
    else if (variable.init != InitKind::zeros)
      fillRow(variable, row, key, values + row.local);
  });
}

void initialiseVariables(const Manifest &manifest, int rank, char *arena, const io::Weights *weights,
                         uint64_t seed) {
  // Zeros first: a variable that shares memory with another must not erase its values.
  for (const Variable &variable : manifest.program.variables)
    std::memset(arena + variable.offset, 0, size_t(io::elementCount(variable.local)) * 4);
  for (const Variable &variable : manifest.program.variables)
    if (variable.role == Role::parameter || variable.role == Role::master)
      initialise(manifest, variable, rank, reinterpret_cast<float *>(arena + variable.offset), weights, seed);
}

} // namespace par::rt
