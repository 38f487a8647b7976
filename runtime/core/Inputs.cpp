#include "core/Inputs.h"

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
#define PAR_INPUT(symbol, name, element, shape, time) symbol,
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
};
} // namespace

static constexpr char lossWeightOf[] = "loss_weight.";

/// None for what this runtime does not supply.
static const KnownInput *findKnown(const std::string &given) {
  bool isWeight = given.rfind(lossWeightOf, 0) == 0;
  std::string name = isWeight ? "loss_weight" : given;
  static const KnownInput all[] = {
#define PAR_INPUT(symbol, name, element, shape, time)                                                        \
  {Known::symbol, #name, ElementType::element, Extent::shape, Time::time},
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

/// By the name of the input: the run's, else the package's.
static io::LossWeights weightsOf(const io::LossWeights &given, const Manifest &manifest) {
  io::LossWeights weights;
  for (const io::LossWeights &from : {manifest.lossWeights(), given})
    for (const auto &[name, weight] : from)
      weights[lossWeightOf + name] = weight;
  return weights;
}

static void checkInputs(const Manifest &manifest, const Program &program) {
  const io::LossWeights weights = weightsOf({}, manifest);
  for (const Input &input : program.inputs) {
    std::string place = manifest.path + ": input \"" + input.name + "\"";
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

InputWriter::InputWriter(const Manifest &manifest, const RunOptions &options, const io::TokenData &data,
                         const Start &start, int rank)
    : manifest(manifest), program(manifest.programOf(rank)), options(options), data(data), start(start),
      weights(weightsOf(options.lossWeights, manifest)), batch(manifest, rank) {}

void InputWriter::write(const Arenas &arenas, int64_t step) {
  int64_t first = start.firstWindow(step, manifest.batch);
  batch.write(arenas, WindowRows(data, first, first + manifest.batch, manifest.sequence));
  for (const Input &input : program.inputs)
    if (!BatchWriter::writes(input))
      writeScalar(arenas, input, step);
}

/// A step without any target that counts has a loss and gradients of 0. A model without targets has a loss
/// per row.
double InputWriter::lossScale(int64_t step) const {
  if (!manifest.reads("targets"))
    return 1 / double(manifest.batch);
  int64_t count = data.countTargets(start.firstWindow(step, manifest.batch), manifest.batch);
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

void InputWriter::writeScalar(const Arenas &arenas, const Input &input, int64_t step) const {
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

std::string hashOfStep(const Manifest &manifest, const io::TokenData &data, const Start &start,
                       int64_t step) {
  io::Sha256 hash;
  std::vector<int32_t> window(size_t(manifest.sequence + 1));
  for (int64_t row = 0; manifest.sequence && row < manifest.batch; ++row) {
    data.window(start.firstWindow(step, manifest.batch) + row, window.data());
    hash.update(window.data(), window.size() * sizeof(int32_t));
  }
  return hash.finish();
}

} // namespace par::rt
