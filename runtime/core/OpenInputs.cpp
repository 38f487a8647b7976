#include "core/Elements.h"
#include "core/InputReaders.h"
#include "core/Topology.h"
#include "par/io/FilePlace.h"

#include <algorithm>

namespace par::rt {

std::vector<io::OpenInput> openInputsOf(const Manifest &manifest, const char *reader) {
  std::vector<io::OpenInput> inputs;
  for (const Input *input : inputsOf(manifest, reader))
    inputs.push_back({input->name, nameOf(input->type), input->shape});
  return inputs;
}

/// The number of an input among those of its reader.
static size_t numberOf(const Manifest &manifest, const Input &input) {
  std::vector<const Input *> all = inputsOf(manifest, input.reader.c_str());
  return size_t(
      std::find_if(all.begin(), all.end(), [&](const Input *other) { return other->name == input.name; }) -
      all.begin());
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

PartOfTensor::PartOfTensor(const Manifest &manifest, int rank, const Input &input, bool isOfRow)
    : input(&input), number(numberOf(manifest, input)) {
  Shape first = shardBegin(manifest.axes, coordinatesOf(manifest.axes, rank), input.sharding, input.local);
  begin = isOfRow ? first.front() : 0;
  auto inner = [&](const Shape &shape) { return Shape(shape.begin() + isOfRow, shape.end()); };
  Shape shape = inner(input.shape);
  io::Shard shard{inner(input.local), inner(first)};
  int64_t width = bytesOf(input.type);
  bytes = io::elementCount(shard.local) * width;
  io::ShardLayout layout = io::layoutOf(shard, io::partsOf(io::wholePlace("", shape), shape).front());
  io::forEachRow(layout, [&](const io::ShardRow &row) {
    Run run{row.local * width, row.file * width, row.count * width};
    if (!runs.empty() && runs.back().to + runs.back().bytes == run.to &&
        runs.back().from + runs.back().bytes == run.from)
      runs.back().bytes += run.bytes;
    else
      runs.push_back(run);
  });
}

void PartOfTensor::copy(const unsigned char *whole, unsigned char *part) const {
  std::fill_n(part, bytes, 0);
  for (const Run &run : runs)
    std::copy_n(whole + run.from, run.bytes, part + run.to);
}

static std::vector<PartOfTensor> partsOf(const ReaderTask &task, bool isOfRow) {
  std::vector<PartOfTensor> parts;
  for (const Input *input : task.inputs)
    parts.emplace_back(task.manifest, task.rank, *input, isOfRow);
  return parts;
}

/// Bytes of the largest part of `rows` rows.
static size_t bufferBytes(const std::vector<PartOfTensor> &parts, bool isOfRow) {
  int64_t most = 0;
  for (const PartOfTensor &part : parts)
    most = std::max(most, part.bytes * (isOfRow ? part.input->local.front() : 1));
  return size_t(most);
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

RowsReader::RowsReader(const ReaderTask &task)
    : manifest(task.manifest), sources(task.sources), parts(partsOf(task, /*isOfRow=*/true)),
      buffer(bufferBytes(parts, /*isOfRow=*/true)) {}

void RowsReader::write(const Arenas &arenas, int64_t step) {
  int64_t first = sources.start.firstWindow(step, manifest.batch);
  write(arenas, sources.rows, first, first + manifest.batch);
}

void RowsReader::write(const Arenas &arenas, const io::RowData &rows, int64_t first, int64_t end) {
  for (const PartOfTensor &part : parts) {
    const Input &input = *part.input;
    for (size_t m = 0; m < input.offsets.size(); ++m) {
      for (int64_t row = 0; row < input.local.front(); ++row) {
        unsigned char *to = buffer.data() + row * part.bytes;
        int64_t ofBatch = part.begin + row, number = first + int64_t(m) * input.shape.front() + ofBatch;
        if (ofBatch < input.shape.front() && number < end)
          part.copy(rows.row(part.number, number), to);
        else
          std::fill_n(to, part.bytes, 0);
      }
      arenas.on->write(arenas.device + input.offsets[m], buffer.data(),
                       size_t(part.bytes * input.local.front()));
    }
  }
}

ValueReader::ValueReader(const ReaderTask &task)
    : sources(task.sources), parts(partsOf(task, /*isOfRow=*/false)),
      buffer(bufferBytes(parts, /*isOfRow=*/false)) {}

void ValueReader::write(const Arenas &arenas, int64_t) {
  for (const PartOfTensor &part : parts) {
    part.copy(sources.values.value(part.number).data(), buffer.data());
    arenas.on->write(arenas.device + part.input->offsets.front(), buffer.data(), size_t(part.bytes));
  }
}

} // namespace par::rt
