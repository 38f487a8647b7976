#include "core/Variables.h"

#include "core/Error.h"
#include "core/Topology.h"
#include "par/io/Philox.h"

#include <algorithm>
#include <cmath>

namespace par::rt {

std::vector<io::NamedShape> parameterFiles(const Manifest &manifest) {
  std::vector<io::NamedShape> list;
  for (const Variable &variable : manifest.variables) {
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

namespace {
/// Rows of a variable on their way to the device: those that follow each other are copied at once.
class RowWriter {
public:
  RowWriter(const Arenas &arenas, const Variable &variable) : arenas(arenas), variable(variable) {}
  ~RowWriter() { flush(); }

  /// Elements from the `begin`th on of the rank's part.
  void write(int64_t begin, const std::vector<float> &values) {
    int64_t width = bytesOf(variable.type);
    if (begin * width != first + int64_t(bytes.size()) || bytes.size() >= most)
      flush(), first = begin * width;
    size_t old = bytes.size();
    bytes.resize(old + values.size() * size_t(width));
    for (size_t i = 0; i < values.size(); ++i)
      storeElement(bytes.data() + old, variable.type, int64_t(i), values[i]);
  }

private:
  static constexpr size_t most = 1 << 20;
  void flush() {
    if (!bytes.empty())
      arenas.on->write(arenas.of(variable) + first, bytes.data(), bytes.size());
    bytes.clear();
  }

  const Arenas &arenas;
  const Variable &variable;
  int64_t first = 0; ///< byte of the variable that `bytes` begins with
  std::vector<char> bytes;
};
} // namespace

static void initialise(const Manifest &manifest, const Variable &variable, int rank, const Arenas &arenas,
                       const InitialValues &from) {
  uint64_t key = io::initialisationKey(variable.file.name, from.seed);
  std::vector<float> values;
  RowWriter writer(arenas, variable);
  io::ShardLayout layout = layoutOf(manifest, variable, rank);
  io::forEachRow(layout, [&](const io::ShardRow &row) {
    values.resize(size_t(row.count));
    if (from.weights)
      readRow(variable, row, from, values.data());
    else if (variable.init.kind != InitKind::zeros)
      fillRow(variable.init, layout, row, key, values.data());
    else
      return;
    writer.write(row.local, values);
  });
}

void initialiseVariables(const Manifest &manifest, int rank, const Arenas &arenas,
                         const InitialValues &values) {
  // Zeros first: a variable that shares memory with another must not erase its values.
  const std::vector<Variable> &variables = manifest.programOf(rank).variables;
  for (const Variable &variable : variables)
    arenas.on->fill(arenas.of(variable), 0, localBytes(variable));
  for (const Variable &variable : variables)
    if (variable.role == Role::parameter || variable.role == Role::master)
      initialise(manifest, variable, rank, arenas, values);
}

} // namespace par::rt
