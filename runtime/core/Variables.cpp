#include "core/Variables.h"

#include "core/Elements.h"
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

/// `room` is memory for a row of a variable that is not f32.
static void initialise(const Manifest &manifest, const Variable &variable, int rank, char *memory,
                       const io::Weights *weights, uint64_t seed, std::vector<float> &room) {
  uint64_t key = io::initialisationKey(variable.file.name, seed);
  bool direct = variable.type == ElementType::f32;
  io::forEachRow(layoutOf(manifest, variable, rank), [&](const io::ShardRow &row) {
    if (!direct)
      room.resize(size_t(row.count));
    float *values = direct ? reinterpret_cast<float *>(memory) + row.local : room.data();
    if (weights)
      weights->read(variable.file.name, row.file, row.stride, row.count, values);
    else if (variable.init != InitKind::zeros)
      fillRow(variable, row, key, values);
    else
      return;
    for (int64_t i = 0; !direct && i < row.count; ++i)
      storeElement(memory, variable.type, row.local + i, values[i]);
  });
}

void initialiseVariables(const Manifest &manifest, int rank, const Arenas &arenas, const io::Weights *weights,
                         uint64_t seed) {
  // Zeros first: a variable that shares memory with another must not erase its values.
  for (const Variable &variable : manifest.program.variables)
    std::memset(arenas.of(variable), 0, size_t(io::elementCount(variable.local) * bytesOf(variable.type)));
  std::vector<float> room;
  for (const Variable &variable : manifest.program.variables)
    if (variable.role == Role::parameter || variable.role == Role::master)
      initialise(manifest, variable, rank, arenas.of(variable), weights, seed, room);
}

} // namespace par::rt
