#include "core/Inputs.h"

#include "core/Elements.h"
#include "core/Error.h"
#include "core/LearningRate.h"
#include "par/io/Philox.h"
#include "par/io/Sha256.h"

#include <algorithm>
#include <cmath>

namespace par::rt {

namespace {
/// The columns of par/Inputs.def.
enum class Known {
#define PAR_INPUT(symbol, name, element, shape, time, reader) symbol,
#include "par/Inputs.def"
};
enum class Extent { Rows, Pair, Scalar };
enum class Time { MicroBatch, Step, Constant };
struct KnownInput {
  Known kind;
  const char *name;
  ElementType type;
  Extent extent;
  Time time;
  const char *reader;
};

/// A row of the list of readers.
struct ReaderKind {
  const char *name;
  Time serves;
  std::unique_ptr<InputReader> (*make)(const ReaderTask &task);
};

template <typename Reader>
std::unique_ptr<InputReader> makeReader(const ReaderTask &task) {
  return std::make_unique<Reader>(task);
}

const ReaderKind readerKinds[] = {
#define PAR_READER(symbol, name, serves) {#name, Time::serves, makeReader<symbol##Reader>},
#include "par/Inputs.def"
};
} // namespace

static constexpr char lossWeightOf[] = "loss_weight.";

/// None for what this runtime does not supply.
static const KnownInput *findKnown(const std::string &given) {
  bool isWeight = given.rfind(lossWeightOf, 0) == 0;
  std::string name = isWeight ? "loss_weight" : given;
  static const KnownInput all[] = {
#define PAR_INPUT(symbol, name, element, shape, time, reader)                                                \
  {Known::symbol, #name, ElementType::element, Extent::shape, Time::time, readers::reader},
#include "par/Inputs.def"
  };
  for (const KnownInput &known : all)
    if (name == known.name && known.time != Time::Constant)
      return &known;
  return nullptr;
}

static Shape shapeOf(Extent extent, const Manifest &manifest) {
  if (extent == Extent::Rows)
    return {manifest.batch / manifest.microBatches, manifest.sequence};
  return extent == Extent::Pair ? Shape{2} : Shape{};
}

/// Weights by the name of the input: the run's, else the package's.
static io::LossWeights weightsOf(const io::LossWeights &given, const Manifest &manifest) {
  io::LossWeights weights;
  for (const io::LossWeights &from : {manifest.lossWeights(), given})
    for (const auto &[name, weight] : from)
      weights[lossWeightOf + name] = weight;
  return weights;
}

/// Who fills an input: what the manifest says of an open one, what the list says of another.
static const char *readerOf(const Input &input) {
  if (!input.reader.empty())
    return input.reader.c_str();
  const KnownInput *known = findKnown(input.name);
  return known ? known->reader : readers::None;
}

/// Its reader serves inputs of its time, which its offsets are for; rows are those of a micro-batch.
static void checkOpenInput(const Manifest &manifest, const Input &input, const std::string &place) {
  auto refuse = [&](const std::string &what) {
    throw Error(place + " " + what + "; compile the package again");
  };
  Time time = input.time == "step" ? Time::Step : Time::MicroBatch;
  auto serves = [&](const ReaderKind &kind) { return input.reader == kind.name && kind.serves == time; };
  if (std::none_of(std::begin(readerKinds), std::end(readerKinds), serves))
    refuse("has the reader \"" + input.reader +
           "\", and this runtime has none of that name for inputs of a " + input.time);
  if (findKnown(input.name))
    refuse("has a reader, but is one that the runtime fills by itself");
  int64_t count = time == Time::Step ? 1 : manifest.microBatches;
  if (int64_t(input.offsets.size()) != count)
    refuse("has " + std::to_string(input.offsets.size()) + " offsets, expected " + std::to_string(count));
  int64_t rows = manifest.batch / manifest.microBatches;
  if (input.reader == readers::Rows && (input.shape.empty() || input.shape.front() != rows))
    refuse("has the shape " + io::toString(input.shape) + ", but a micro-batch has " + std::to_string(rows) +
           " rows");
  for (const Program &program : manifest.programs)
    for (const Input &other : program.inputs)
      if (other.name == input.name &&
          (other.type != input.type || other.shape != input.shape || other.reader != input.reader))
        refuse("has another type, shape or reader in another program");
}

static void checkInputs(const Manifest &manifest, const Program &program) {
  const io::LossWeights weights = weightsOf({}, manifest);
  for (const Input &input : program.inputs) {
    std::string place = manifest.path + ": input \"" + input.name + "\"";
    if (!input.reader.empty()) {
      checkOpenInput(manifest, input, place);
      continue;
    }
    const KnownInput *known = findKnown(input.name);
    if (!known || (known->kind == Known::LossWeight && !weights.count(input.name)))
      throw Error(place + " is not one that this runtime provides; compile the package again");
    if (known->time == Time::MicroBatch && int64_t(input.offsets.size()) != manifest.microBatches)
      throw Error(place + " has " + std::to_string(input.offsets.size()) +
                  " offsets, expected one per micro-batch");
    Shape shape = shapeOf(known->extent, manifest);
    if (input.type != known->type || input.shape != shape)
      throw Error(place + " has another type or shape than " +
                  (known->type == ElementType::f32 ? "f32 " : "i32 ") + io::toString(shape) +
                  "; compile the package again");
  }
}

void checkInputs(const Manifest &manifest) {
  for (const Program &program : manifest.programs)
    checkInputs(manifest, program);
}

InputWriter::InputWriter(const Manifest &manifest, const InputSources &sources, int rank) {
  for (const ReaderKind &kind : readerKinds) {
    ReaderTask task{manifest, sources, rank, ownInputs(manifest, rank, kind.name)};
    if (!task.inputs.empty())
      readers.push_back(kind.make(task));
  }
}

void InputWriter::write(const Arenas &arenas, int64_t step) {
  for (const std::unique_ptr<InputReader> &reader : readers)
    reader->write(arenas, step);
}

std::vector<const Input *> ownInputs(const Manifest &manifest, int rank, const std::string &reader) {
  std::vector<const Input *> inputs;
  for (const Input &input : manifest.programOf(rank).inputs)
    if (readerOf(input) == reader)
      inputs.push_back(&input);
  return inputs;
}

std::vector<const Input *> inputsOf(const Manifest &manifest, const char *reader) {
  std::vector<const Input *> inputs;
  for (const Program &program : manifest.programs)
    for (const Input &input : program.inputs) {
      auto isSame = [&](const Input *other) { return other->name == input.name; };
      if (readerOf(input) == std::string(reader) && std::none_of(inputs.begin(), inputs.end(), isSame))
        inputs.push_back(&input);
    }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

WindowsReader::WindowsReader(const ReaderTask &task)
    : manifest(task.manifest), sources(task.sources), batch(manifest, task.rank) {}

void WindowsReader::write(const Arenas &arenas, int64_t step) {
  int64_t first = sources.start.firstWindow(step, manifest.batch);
  batch.write(arenas, WindowRows(sources.tokens, first, first + manifest.batch, manifest.sequence));
}

//===----------------------------------------------------------------------===//
// Numbers of the run
//===----------------------------------------------------------------------===//

RunReader::RunReader(const ReaderTask &task)
    : task(task), weights(weightsOf(task.sources.options.lossWeights, task.manifest)) {}

void RunReader::write(const Arenas &arenas, int64_t step) {
  for (const Input *input : task.inputs)
    writeScalar(arenas, *input, step);
}

/// A step without any target that counts has a loss and gradients of 0. A model without tokens has a loss
/// per row.
double RunReader::lossScale(int64_t step) const {
  int64_t batch = task.manifest.batch;
  if (!task.manifest.sequence)
    return 1 / double(batch);
  int64_t count = task.sources.tokens.countTargets(task.sources.start.firstWindow(step, batch), batch);
  return count ? 1 / double(count) : 0;
}

/// An f32 scalar of a step.
static double valueOf(Known kind, const RunOptions &options, int64_t step) {
  const Hyperparameters &hyper = options.hyper;
  switch (kind) {
  case Known::LearningRate:
    return learningRate(hyper, step, options.steps);
  case Known::Beta1:
    return hyper.beta1;
  case Known::Beta2:
    return hyper.beta2;
  case Known::Epsilon:
    return hyper.eps;
  case Known::WeightDecay:
    return hyper.weightDecay;
  case Known::Clip:
    return hyper.clip;
  case Known::Bias1:
    return 1 - std::pow(hyper.beta1, double(step));
  case Known::Bias2:
    return 1 - std::pow(hyper.beta2, double(step));
  default:
    throw Error("internal error: no scalar of a step");
  }
}

void RunReader::writeScalar(const Arenas &arenas, const Input &input, int64_t step) const {
  const RunOptions &options = task.sources.options;
  Known kind = findKnown(input.name)->kind;
  for (size_t m = 0; m < input.offsets.size(); ++m) {
    device::Address out = arenas.device + input.offsets[m];
    if (input.type == ElementType::i32) {
      uint64_t key = io::dropoutKey(options.seed, uint64_t(step));
      uint32_t words[2] = {kind == Known::Step         ? uint32_t(step)
                           : kind == Known::MicroBatch ? uint32_t(m)
                                                       : uint32_t(key),
                           uint32_t(key >> 32)};
      arenas.on->write(out, words, kind == Known::DropoutKey ? 8 : 4);
      continue;
    }
    float rounded = float(kind == Known::LossScale    ? lossScale(step)
                          : kind == Known::LossWeight ? weights.at(input.name)
                                                      : valueOf(kind, options, step));
    arenas.on->write(out, &rounded, 4);
  }
}

std::string hashOfStep(const Manifest &manifest, const InputSources &sources, int64_t step) {
  io::Sha256 hash;
  std::vector<int32_t> window(size_t(manifest.sequence + 1));
  bool hasWindows = !inputsOf(manifest, readers::Windows).empty();
  std::vector<io::OpenInput> open = openInputsOf(manifest, readers::Rows);
  int64_t first = sources.start.firstWindow(step, manifest.batch);
  for (int64_t row = first; row < first + manifest.batch; ++row) {
    if (hasWindows) {
      sources.tokens.window(row, window.data());
      hash.update(window.data(), window.size() * sizeof(int32_t));
    }
    for (size_t i = 0; i < open.size(); ++i)
      hash.update(sources.rows.row(i, row),
                  size_t(sources.rows.rowElements(i) * io::bytesOfInput(open[i].type)));
  }
  return hash.finish();
}

} // namespace par::rt
