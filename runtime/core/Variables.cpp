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
    bool isZero = init.zeroRow >= 0 && io::firstIndex(layout, place) == init.zeroRow;
    out[i] = isZero                        ? 0.0f
             : init.kind == InitKind::ones ? 1.0f
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
  throw FileError(from.weights->placeOf(variable.file.name) + ": element " +
                  elementText(variable.file.shape, row.file + bad * row.stride) + " is " +
                  (std::isnan(values[bad]) ? "nan" : "inf") +
                  "; give sound weights (par-run takes them as they are with --allow-nonfinite)");
}

namespace {
/// Variables that have the same values in the same places: a parameter and its master, each in its own type.
struct Alike {
  std::vector<const Variable *> variables;
  io::ShardLayout layout;
};

struct Rows {
  const Alike *of;
  int64_t begin, end;
};

/// Their values, worked out by any thread and written by the rank's own.
class Piece {
public:
  explicit Piece(const Rows &rows) : alike(*rows.of), begin(rows.begin), end(rows.end) {}

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
  int64_t begin, end;
  std::vector<Run> runs;
  std::vector<float> values;            ///< of all runs
  std::vector<std::vector<char>> bytes; ///< for each variable
  std::exception_ptr problem;
};
} // namespace

void Piece::fill(const InitialValues &from) {
  const Variable &variable = *alike.variables.front();
  uint64_t key = io::initialisationKey(variable.file.name, from.seed);
  for (int64_t number = begin; number < end; ++number) {
    io::ShardRow row = io::rowAt(alike.layout, number);
    if (runs.empty() || runs.back().begin + runs.back().count != row.local)
      runs.push_back({row.local, 0});
    runs.back().count += row.count;
    size_t old = values.size();
    values.resize(old + size_t(row.count));
    if (from.weights)
      readRow(variable, row, from, values.data() + old);
    else
      fillRow(variable.init, alike.layout, row, key, values.data() + old);
  }
}

void Piece::store(const Variable &variable) {
  std::vector<char> &all = bytes.emplace_back(values.size() * size_t(bytesOf(variable.type)));
  for (size_t i = 0; i < values.size(); ++i)
    storeElement(all.data(), variable.type, int64_t(i), values[i]);
}

void Piece::compute(const InitialValues &from) {
  try {
    fill(from);
    for (const Variable *variable : alike.variables)
      store(*variable);
  } catch (...) { // memory may be over, too
    problem = std::current_exception();
  }
}

void Piece::write(const Arenas &arenas) const {
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

static bool operator==(const io::ShardLayout &a, const io::ShardLayout &b) {
  return a.logical == b.logical && a.local == b.local && a.begin == b.begin && a.strides == b.strides;
}

static bool haveSameValues(const Variable &a, const Variable &b) {
  return a.file.name == b.file.name && a.init.kind == b.init.kind && a.init.std == b.init.std &&
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
    io::ShardLayout layout = layoutOf(manifest, variable, rank);
    std::vector<size_t> &others = ofFile[variable.file.name];
    auto found = std::find_if(others.begin(), others.end(), [&](size_t other) {
      return all[other].layout == layout && haveSameValues(*all[other].variables.front(), variable);
    });
    if (found != others.end()) {
      all[*found].variables.push_back(&variable);
      continue;
    }
    others.push_back(all.size());
    all.push_back({{&variable}, std::move(layout)});
  }
  return all;
}

/// Rows that are about so many elements are a piece.
static constexpr int64_t pieceElements = 1 << 18;

static std::vector<Rows> cutIntoPieces(const std::vector<Alike> &all) {
  std::vector<Rows> pieces;
  for (const Alike &alike : all) {
    int64_t rows = io::rowCount(alike.layout);
    int64_t width = std::max<int64_t>(1, alike.layout.local.empty() ? 1 : alike.layout.local.back());
    int64_t step = std::max<int64_t>(1, pieceElements / width);
    for (int64_t begin = 0; begin < rows; begin += step)
      pieces.push_back({&alike, begin, std::min(rows, begin + step)});
  }
  return pieces;
}

void initialiseVariables(const Manifest &manifest, int rank, const Arenas &arenas,
                         const InitialValues &values, int threads) {
  // Zeros first: a variable that shares memory with another must not erase its values.
  for (const Variable &variable : manifest.programOf(rank).variables)
    arenas.fill(arenas.of(variable), 0, int64_t(localBytes(variable)));
  std::vector<Alike> all = groupAlike(manifest, rank, values);
  std::vector<Rows> list = cutIntoPieces(all);
  cpu::Pool pool(threads);
  // Few at a time, so that little host memory is taken.
  size_t batch = size_t(pool.size()) * 2;
  auto compute = [&](size_t begin) {
    auto first = list.begin() + ptrdiff_t(begin);
    std::vector<Piece> pieces(first, first + ptrdiff_t(std::min(batch, list.size() - begin)));
    cpu::runItems(&pool, int64_t(pieces.size()),
                  [&](int64_t piece) { pieces[size_t(piece)].compute(values); });
    return pieces;
  };
  std::future<std::vector<Piece>> next;
  for (size_t begin = 0; begin < list.size(); begin += batch) {
    std::vector<Piece> pieces = next.valid() ? next.get() : compute(begin);
    if (begin + batch < list.size()) // while these are on their way to the device
      next = io::runBeside([&compute, at = begin + batch] { return compute(at); });
    arenas.beat();
    for (const Piece &piece : pieces)
      piece.write(arenas);
  }
}

} // namespace par::rt
