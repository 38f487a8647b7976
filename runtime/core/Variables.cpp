#include "core/Variables.h"

#include "core/Elements.h"
#include "core/Error.h"
#include "core/Topology.h"
#include "par/io/Philox.h"

#include <algorithm>
#include <cmath>
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

/// An element of a file by its coordinates: "[3, 7]".
static std::string elementText(const Shape &shape, int64_t element) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d])
    index[d] = element % shape[d];
  return io::toString(index);
}

/// A weight that is no number would stay unnoticed where no token of the data comes to it.
static void readRow(const Variable &variable, const io::ShardRow &row, const InitialValues &from,
                    float *values) {
  from.weights->read(variable.file.name, row.file, row.stride, row.count, values);
  float sum = 0; // of zeros, or NaN
  for (int64_t i = 0; i < row.count; ++i)
    sum += values[i] * 0;
  if (sum == 0 || from.allowNonfinite)
    return;
  int64_t bad = std::find_if(values, values + row.count, [](float x) { return !std::isfinite(x); }) - values;
  throw Error(from.weights->placeOf(variable.file.name) + ": element " +
              elementText(variable.file.shape, row.file + bad * row.stride) + " is " +
              (std::isnan(values[bad]) ? "nan" : "inf") +
              "; give sound weights (par-run takes them as they are with --allow-nonfinite)");
}

/// `room` is memory for a row of a variable that is not f32.
static void initialise(const Manifest &manifest, const Variable &variable, int rank, char *memory,
                       const InitialValues &from, std::vector<float> &room) {
  uint64_t key = io::initialisationKey(variable.file.name, from.seed);
  bool direct = variable.type == ElementType::f32;
  io::ShardLayout layout = layoutOf(manifest, variable, rank);
  io::forEachRow(layout, [&](const io::ShardRow &row) {
    if (!direct)
      room.resize(size_t(row.count));
    float *values = direct ? reinterpret_cast<float *>(memory) + row.local : room.data();
    if (from.weights)
      readRow(variable, row, from, values);
    else if (variable.init.kind != InitKind::zeros)
      fillRow(variable.init, layout, row, key, values);
    else
      return;
    for (int64_t i = 0; !direct && i < row.count; ++i)
      storeElement(memory, variable.type, row.local + i, values[i]);
  });
}

void initialiseVariables(const Manifest &manifest, int rank, const Arenas &arenas,
                         const InitialValues &values) {
  // Zeros first: a variable that shares memory with another must not erase its values.
  for (const Variable &variable : manifest.program.variables)
    std::memset(arenas.of(variable), 0, size_t(io::elementCount(variable.local) * bytesOf(variable.type)));
  std::vector<float> room;
  for (const Variable &variable : manifest.program.variables)
    if (variable.role == Role::parameter || variable.role == Role::master)
      initialise(manifest, variable, rank, arenas.of(variable), values, room);
}

} // namespace par::rt
