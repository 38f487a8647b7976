#include "core/Inputs.h"

#include "core/Error.h"
#include "core/LearningRate.h"
#include "par/io/Philox.h"
#include "par/io/Sha256.h"

#include <algorithm>
#include <cmath>

namespace par::rt {

namespace {
/// Scalars by name; `elements` of an i32 or f32 value.
struct KnownInput {
  const char *name;
  ElementType type;
  Shape shape;
};
} // namespace

static const std::vector<KnownInput> &knownScalars() {
  static const std::vector<KnownInput> known = {
      {"lr", ElementType::f32, {}},           {"beta1", ElementType::f32, {}},
      {"beta2", ElementType::f32, {}},        {"eps", ElementType::f32, {}},
      {"clip", ElementType::f32, {}},         {"bias1", ElementType::f32, {}},
      {"bias2", ElementType::f32, {}},        {"step", ElementType::i32, {}},
      {"weight_decay", ElementType::f32, {}}, {"dropout_key", ElementType::i32, {2}},
      {"micro_batch", ElementType::i32, {}},  {"loss_scale", ElementType::f32, {}}};
  return known;
}

void checkInputs(const Manifest &manifest) {
  for (const Input &input : manifest.program.inputs) {
    std::string place = manifest.path + ": input \"" + input.name + "\"";
    KnownInput expected{
        nullptr, ElementType::i32, {manifest.batch / manifest.microBatches, manifest.sequence}};
    if (!BatchWriter::writes(input)) {
      auto known = std::find_if(knownScalars().begin(), knownScalars().end(),
                                [&](const KnownInput &k) { return input.name == k.name; });
      if (known == knownScalars().end())
        throw Error(place + " is not one that this runtime provides; compile the package again");
      expected = *known;
    }
    bool perMicroBatch = BatchWriter::writes(input) || input.name == "micro_batch";
    if (perMicroBatch && int64_t(input.offsets.size()) != manifest.microBatches)
      throw Error(place + " has " + std::to_string(input.offsets.size()) +
                  " offsets, expected one per micro-batch");
    if (input.type != expected.type || input.shape != expected.shape)
      throw Error(place + " has another type or shape than " +
                  (expected.type == ElementType::f32 ? "f32 " : "i32 ") + io::toString(expected.shape) +
                  "; compile the package again");
  }
}

InputWriter::InputWriter(const Manifest &manifest, const RunOptions &options, const io::TokenData &data,
                         const Start &start, int rank)
    : manifest(manifest), options(options), data(data), start(start), batch(manifest, rank) {}

void InputWriter::write(const Arenas &arenas, int64_t step) {
  int64_t first = start.firstWindow(step, manifest.batch);
  batch.write(arenas, WindowRows(data, first, first + manifest.batch, manifest.sequence));
  for (const Input &input : manifest.program.inputs)
    if (!BatchWriter::writes(input))
      writeScalar(arenas, input, step);
}

/// A step without any target that counts has a loss and gradients of 0.
double InputWriter::lossScale(int64_t step) const {
  int64_t count = data.countTargets(start.firstWindow(step, manifest.batch), manifest.batch);
  return count ? 1 / double(count) : 0;
}

void InputWriter::writeScalar(const Arenas &arenas, const Input &input, int64_t step) const {
  const Hyperparameters &hyper = options.hyper;
  const std::string &name = input.name;
  for (size_t m = 0; m < input.offsets.size(); ++m) {
    device::Address out = arenas.device + input.offsets[m];
    if (input.type == ElementType::i32) {
      uint64_t key = io::dropoutKey(options.seed, uint64_t(step));
      uint32_t words[2] = {name == "step"          ? uint32_t(step)
                           : name == "micro_batch" ? uint32_t(m)
                                                   : uint32_t(key),
                           uint32_t(key >> 32)};
      arenas.on->write(out, words, name == "dropout_key" ? 8 : 4);
      continue;
    }
    double value = name == "lr"             ? learningRate(hyper, step, options.steps)
                   : name == "beta1"        ? hyper.beta1
                   : name == "beta2"        ? hyper.beta2
                   : name == "eps"          ? hyper.eps
                   : name == "weight_decay" ? hyper.weightDecay
                   : name == "clip"         ? hyper.clip
                   : name == "bias1"        ? 1 - std::pow(hyper.beta1, double(step))
                   : name == "bias2"        ? 1 - std::pow(hyper.beta2, double(step))
                                            : lossScale(step);
    float rounded = float(value);
    arenas.on->write(out, &rounded, 4);
  }
}

std::string hashOfStep(const Manifest &manifest, const io::TokenData &data, const Start &start,
                       int64_t step) {
  io::Sha256 hash;
  std::vector<int32_t> window(size_t(manifest.sequence + 1));
  for (int64_t row = 0; row < manifest.batch; ++row) {
    data.window(start.firstWindow(step, manifest.batch) + row, window.data());
    hash.update(window.data(), window.size() * sizeof(int32_t));
  }
  return hash.finish();
}

} // namespace par::rt
