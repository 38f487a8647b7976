#include "core/Batch.h"

#include "core/Topology.h"

#include <algorithm>

namespace par::rt {

BatchRow::BatchRow(int64_t sequence)
    : tokens(size_t(sequence + 1)), targets(size_t(sequence)), positions(size_t(sequence)),
      documents(size_t(sequence)) {}

bool WindowRows::read(int64_t number, BatchRow &row) const {
  int64_t window = first + number;
  if (window >= end)
    return false;
  data.window(window, row.tokens.data());
  std::copy_n(row.tokens.begin() + 1, sequence, row.targets.begin());
  data.maskTargets(window, row.tokens.data(), row.targets.data());
  data.findDocuments(window, row.tokens.data(), row.positions.data(), row.documents.data());
  return true;
}

namespace {
/// An input that has a number for each token.
struct RowInput {
  const char *name;
  std::vector<int32_t> BatchRow::*values;
  int32_t padding; ///< of sequences and tokens that are not there
};
} // namespace

static const RowInput *findRowInput(const std::string &name) {
  // Padded targets count for nothing.
  static const RowInput all[] = {{"tokens", &BatchRow::tokens, 0},
                                 {"targets", &BatchRow::targets, io::ignoredTarget},
                                 {"token_positions", &BatchRow::positions, 0},
                                 {"token_documents", &BatchRow::documents, 0}};
  for (const RowInput &input : all)
    if (name == input.name)
      return &input;
  return nullptr;
}

bool BatchWriter::writes(const Input &input) { return findRowInput(input.name) != nullptr; }

BatchWriter::BatchWriter(const Manifest &manifest, int rank)
    : program(manifest.programOf(rank)), row(manifest.sequence) {
  std::vector<int32_t> coordinates = coordinatesOf(manifest.axes, rank);
  for (const Input &input : program.inputs)
    begins.push_back(shardBegin(manifest.axes, coordinates, input.sharding, input.local));
  for (const Input &input : program.inputs)
    if (writes(input))
      part.resize(std::max(part.size(), size_t(io::elementCount(input.local))));
}

void BatchWriter::write(const Arenas &arenas, const RowSource &source) {
  for (size_t i = 0; i < begins.size(); ++i)
    if (const Input &input = program.inputs[i]; writes(input))
      writeInput(arenas, input, begins[i], source);
}

void BatchWriter::writeInput(const Arenas &arenas, const Input &input, const Shape &begin,
                             const RowSource &source) {
  const RowInput &kind = *findRowInput(input.name);
  int64_t rows = input.local[0], columns = input.local[1];
  int64_t validColumns = std::clamp<int64_t>(input.shape[1] - begin[1], 0, columns);
  for (size_t m = 0; m < input.offsets.size(); ++m) {
    int32_t *out = part.data();
    for (int64_t i = 0; i < rows; ++i, out += columns) {
      int64_t number = int64_t(m) * input.shape[0] + begin[0] + i;
      bool counts = begin[0] + i < input.shape[0] && source.read(number, row);
      int64_t valid = counts ? validColumns : 0;
      std::copy_n((row.*kind.values).begin() + std::min(begin[1], input.shape[1]), valid, out);
      std::fill(out + valid, out + columns, kind.padding);
    }
    arenas.on->write(arenas.device + input.offsets[m], part.data(), size_t(rows * columns) * sizeof(int32_t));
  }
}

} // namespace par::rt
