#include "core/Variables.h"

#include "core/Error.h"
#include "core/Topology.h"
#include "cpu/Pool.h"
#include "par/io/Philox.h"
#include "par/io/Threads.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <future>
#include <map>
#include <string_view>

namespace par::rt {

io::Shard shardOf(const Manifest &manifest, const Variable &variable, int rank) {
  std::vector<int32_t> coordinates = coordinatesOf(manifest.axes, rank);
  return {variable.local, shardBegin(manifest.axes, coordinates, variable.sharding, variable.local)};
}

static void fillRow(const Initial &init, const io::Shard &shard, const io::ShardRow &row, uint64_t key,
                    float *out) {
  for (int64_t i = 0; i < row.count; ++i) {
    bool isZero = init.zeroRow >= 0 && io::firstIndex(shard, row.local + i) == init.zeroRow;
    out[i] = isZero ? 0.0f
             : init.kind == InitKind::ones
                 ? 1.0f
                 : float(init.std * io::initialNormal(key, uint64_t(row.file + i * row.stride)));
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
static void readRow(const io::FilePlace &place, const io::TensorPart &part, const io::ShardRow &row,
                    const InitialValues &from, float *values) {
  from.weights->read(part.name, row.file, row.stride, row.count, values);
  float sum = 0; // of zeros, or NaN
  for (int64_t i = 0; i < row.count; ++i)
    sum += values[i] * 0;
  if (sum != 0 && !from.allowNonfinite) {
    int64_t bad =
        std::find_if(values, values + row.count, [](float x) { return !std::isfinite(x); }) - values;
    throw FileError(from.weights->placeOf(part.name) + ": element " +
                    elementText(part.shape, row.file + bad * row.stride) + " is " +
                    (std::isnan(values[bad]) ? "nan" : "inf") +
                    "; give sound weights (par-run takes them as they are with --allow-nonfinite)");
  }
  for (int64_t i = 0; place.offset != 0 && i < row.count; ++i)
    values[i] = io::fromFile(place, values[i]);
}

namespace {
/// Variables that have the same values in the same places: a parameter and its master, each in its own type.
struct Alike {
  std::vector<const Variable *> variables;
  io::Shard shard;
  std::vector<io::TensorPart> parts; ///< that the whole variable lies in
};

/// The elements that a shard has of one of the parts.
struct Rows {
  const Alike *of;
  const io::TensorPart *part;
  io::ShardLayout layout;
  int64_t begin, end;
};

/// Their values, worked out by any thread and written by the rank's own.
class Portion {
public:
  explicit Portion(const Rows &rows) : alike(*rows.of), rows(rows) {}

  void compute(const InitialValues &from);
  /// Throws what `compute` has thrown.
  void write(const Arenas &arenas) const;

private:
  /// Elements that lie side by side in the rank's part: rows without padding between them.
  struct Run {
    int64_t begin, count;
  };
  void fill(const InitialValues &from);
  void store(const Variable &variable);

  const Alike &alike;
  const Rows &rows;
  std::vector<Run> runs;
  std::vector<float> values;            ///< of all runs
  std::vector<std::vector<char>> bytes; ///< for each variable
  std::exception_ptr problem;
};
} // namespace

void Portion::fill(const InitialValues &from) {
  const Variable &variable = *alike.variables.front();
  uint64_t key = io::initialisationKey(rows.part->name, from.seed);
  for (int64_t number = rows.begin; number < rows.end; ++number) {
    io::ShardRow row = io::rowAt(rows.layout, number);
    if (runs.empty() || runs.back().begin + runs.back().count != row.local)
      runs.push_back({row.local, 0});
    runs.back().count += row.count;
    size_t old = values.size();
    values.resize(old + size_t(row.count));
    if (from.weights)
      readRow(variable.file, *rows.part, row, from, values.data() + old);
    else
      fillRow(variable.init, alike.shard, row, key, values.data() + old);
  }
}

void Portion::store(const Variable &variable) {
  std::vector<char> &all = bytes.emplace_back(values.size() * size_t(bytesOf(variable.type)));
  for (size_t i = 0; i < values.size(); ++i)
    storeElement(all.data(), variable.type, int64_t(i), values[i]);
}

void Portion::compute(const InitialValues &from) {
  try {
    fill(from);
    for (const Variable *variable : alike.variables)
      store(*variable);
  } catch (...) { // memory may be over, too
    problem = std::current_exception();
  }
}

void Portion::write(const Arenas &arenas) const {
  if (problem)
    std::rethrow_exception(problem);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const Variable &variable = *alike.variables[i];
    const char *next = bytes[i].data();
    for (const Run &run : runs) {
      size_t size = size_t(run.count * bytesOf(variable.type));
      arenas.on->write(arenas.of(variable) + run.begin * bytesOf(variable.type), next, size);
      next += size;
    }
  }
}

static bool haveSameValues(const Variable &a, const Variable &b) {
  return a.shape == b.shape && a.file == b.file && a.init.kind == b.init.kind && a.init.std == b.init.std &&
         a.init.zeroRow == b.init.zeroRow;
}

/// All that have values other than zeros.
static std::vector<Alike> groupAlike(const Manifest &manifest, int rank, const InitialValues &from) {
  std::vector<Alike> all;
  std::map<std::string_view, std::vector<size_t>> ofFile;
  for (const Variable &variable : manifest.programOf(rank).variables) {
    if ((variable.role != Role::parameter && variable.role != Role::master) ||
        (!from.weights && variable.init.kind == InitKind::zeros))
      continue;
    io::Shard shard = shardOf(manifest, variable, rank);
    std::vector<size_t> &others = ofFile[variable.file.pieces.front().name];
    auto found = std::find_if(others.begin(), others.end(), [&](size_t other) {
      const io::Shard &known = all[other].shard;
      return known.local == shard.local && known.begin == shard.begin &&
             haveSameValues(*all[other].variables.front(), variable);
    });
    if (found != others.end()) {
      all[*found].variables.push_back(&variable);
      continue;
    }
    others.push_back(all.size());
    all.push_back({{&variable}, std::move(shard), io::partsOf(variable.file, variable.shape)});
  }
  return all;
}

/// Rows that are about so many elements are a portion.
static constexpr int64_t portionElements = 1 << 18;

static std::vector<Rows> cutIntoPortions(const std::vector<Alike> &all) {
  std::vector<Rows> portions;
  for (const Alike &alike : all)
    for (const io::TensorPart &part : alike.parts) {
      io::ShardLayout layout = io::layoutOf(alike.shard, part);
      int64_t rows = io::rowCount(layout);
      int64_t width = std::max<int64_t>(1, layout.size.empty() ? 1 : layout.size.back());
      int64_t step = std::max<int64_t>(1, portionElements / width);
      for (int64_t begin = 0; begin < rows; begin += step)
        portions.push_back({&alike, &part, layout, begin, std::min(rows, begin + step)});
    }
  return portions;
}

void initialiseVariables(const Manifest &manifest, int rank, const Arenas &arenas,
                         const InitialValues &values, int threads) {
  // Zeros first: a variable that shares memory with another must not erase its values.
  for (const Variable &variable : manifest.programOf(rank).variables)
    arenas.fill(arenas.of(variable), 0, int64_t(localBytes(variable)));
  std::vector<Alike> all = groupAlike(manifest, rank, values);
  std::vector<Rows> list = cutIntoPortions(all);
  cpu::Pool pool(threads);
  // Few at a time, so that little host memory is taken.
  size_t batch = size_t(pool.size()) * 2;
  auto compute = [&](size_t begin) {
    auto first = list.begin() + ptrdiff_t(begin);
    std::vector<Portion> portions(first, first + ptrdiff_t(std::min(batch, list.size() - begin)));
    cpu::runItems(&pool, int64_t(portions.size()),
                  [&](int64_t portion) { portions[size_t(portion)].compute(values); });
    return portions;
  };
  std::future<std::vector<Portion>> next;
  for (size_t begin = 0; begin < list.size(); begin += batch) {
    std::vector<Portion> portions = next.valid() ? next.get() : compute(begin);
    if (begin + batch < list.size()) // while these are on their way to the device
      next = io::runBeside([&compute, at = begin + batch] { return compute(at); });
    arenas.beat();
    for (const Portion &portion : portions)
      portion.write(arenas);
  }
}

} // namespace par::rt
