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

static void fillRow(const Initial &init, const io::ShardLayout &layout, const io::ShardRow &row, uint64_t key,
                    float *out) {
  for (int64_t i = 0; i < row.count; ++i) {
    int64_t place = row.file + i * row.stride;
    out[i] = io::firstIndex(layout, place) == init.zeroRow ? 0.0f
             : init.kind == InitKind::ones                 ? 1.0f
                                           : float(init.std * io::initialNormal(key, uint64_t(place)));
  }
}

/// `room` is memory for a row of a variable that is not f32.
static void initialise(const Manifest &manifest, const Variable &variable, int rank, char *memory,
                       const io::Weights *weights, uint64_t seed, std::vector<float> &room) {
  uint64_t key = io::initialisationKey(variable.file.name, seed);
  bool direct = variable.type == ElementType::f32;
  io::ShardLayout layout = layoutOf(manifest, variable, rank);
  io::forEachRow(layout, [&](const io::ShardRow &row) {
    if (!direct)
      room.resize(size_t(row.count));
    float *values = direct ? reinterpret_cast<float *>(memory) + row.local : room.data();
    if (weights)
      weights->read(variable.file.name, row.file, row.stride, row.count, values);
    else if (variable.init.kind != InitKind::zeros)
      fillRow(variable.init, layout, row, key, values);
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
