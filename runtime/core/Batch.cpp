#include "core/Batch.h"

#include "core/Topology.h"

#include <algorithm>

namespace par::rt {

bool WindowRows::read(int64_t row, int32_t *tokens, int32_t *targets) const {
  int64_t number = first + row;
  if (number >= end)
    return false;
  data.window(number, tokens);
  std::copy_n(tokens + 1, sequence, targets);
  data.maskTargets(number, tokens, targets);
  return true;
}

BatchWriter::BatchWriter(const Manifest &manifest, int rank)
    : program(manifest.programOf(rank)), tokens(size_t(manifest.sequence + 1)),
      targets(size_t(manifest.sequence)) {
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
  bool isTargets = input.name == "targets";
  int32_t padding = isTargets ? io::ignoredTarget : 0; // padded targets count for nothing
  int64_t rows = input.local[0], columns = input.local[1];
  int64_t validColumns = std::clamp<int64_t>(input.shape[1] - begin[1], 0, columns);
  for (size_t m = 0; m < input.offsets.size(); ++m) {
    int32_t *out = part.data();
    for (int64_t row = 0; row < rows; ++row, out += columns) {
      int64_t number = int64_t(m) * input.shape[0] + begin[0] + row;
      bool counts = begin[0] + row < input.shape[0] && source.read(number, tokens.data(), targets.data());
      int64_t valid = counts ? validColumns : 0;
      std::copy_n((isTargets ? targets.data() : tokens.data()) + std::min(begin[1], input.shape[1]), valid,
                  out);
      std::fill(out + valid, out + columns, padding);
    }
    arenas.on->write(arenas.device + input.offsets[m], part.data(), size_t(rows * columns) * sizeof(int32_t));
  }
}

} // namespace par::rt
