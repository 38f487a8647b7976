//===- Rotary.cpp - rotary positions: keys and frequencies ----------------------------------------------===//

#include "par/Import/Family.h"

#include <cmath>

using namespace llvm;

namespace mlir::par {

static void readScaling(ConfigReader &reader, int64_t maxPositions, Rotary &rotary) {
  // Transformers 4 wrote `type` before it wrote `rope_type`.
  std::string old = reader.text("type", "default");
  std::string type = reader.text("rope_type", old);
  reader.only("partial_rotary_factor", 1.0, "rotates only part of a head");
  if (type == "default")
    return;
  if (type != "linear" && type != "dynamic" && type != "llama3")
    return reader.fail("rope_type", "the rotary scaling (rope_type) is \"" + type +
                                        "\", which is not supported; supported are default, "
                                        "linear, dynamic and llama3");
  double factor = reader.positive("factor", std::nullopt);
  // Scales sequences that are longer than `max_position_embeddings`, and those are refused.
  if (type == "dynamic")
    return reader.harmless({"original_max_position_embeddings"});
  rotary.factor = factor;
  rotary.scaling = Rotary::Scaling::Linear;
  if (type == "linear")
    return;
  rotary.scaling = Rotary::Scaling::Llama3;
  rotary.lowFrequencyFactor = reader.positive("low_freq_factor", std::nullopt);
  rotary.highFrequencyFactor = reader.positive("high_freq_factor", std::nullopt);
  rotary.originalPositions =
      static_cast<double>(reader.size("original_max_position_embeddings", maxPositions));
  if (rotary.highFrequencyFactor <= rotary.lowFrequencyFactor)
    reader.fail("high_freq_factor", "the rotary scaling's high_freq_factor must exceed its "
                                    "low_freq_factor");
}

Rotary readRotary(ConfigReader &reader, int64_t maxPositions) {
  Rotary rotary;
  rotary.theta = reader.positive("rope_theta", rotary.theta);
  reader.only("partial_rotary_factor", 1.0, "rotates only part of a head");
  // A non-empty `rope_scaling` beats `rope_parameters`, as in Transformers 5.
  const json::Object *old = reader.dictionary("rope_scaling");
  const json::Object *parameters = reader.dictionary("rope_parameters");
  if (old || parameters) {
    ConfigReader nested = reader.nested(old ? "rope_scaling" : "rope_parameters");
    rotary.theta = nested.positive("rope_theta", rotary.theta);
    readScaling(nested, maxPositions, rotary);
    reader.merge(nested);
  }
  return rotary;
}

static std::string nameOf(Rotary::Scaling scaling) {
  switch (scaling) {
  case Rotary::Scaling::None:
    return "none";
  case Rotary::Scaling::Linear:
    return "linear";
  case Rotary::Scaling::Llama3:
    return "llama3";
  }
  llvm_unreachable("all scalings have a name");
}

void Rotary::describe(KindDescription &kind) const {
  const auto &[theta, scaling, factor, low, high, original] = *this;
  kind.number("rope_theta", theta);
  kind.number("rope_scaling", nameOf(scaling));
  if (scaling == Scaling::None)
    return;
  kind.number("rope_factor", factor);
  if (scaling == Scaling::Linear)
    return;
  kind.number("rope_low_freq_factor", low);
  kind.number("rope_high_freq_factor", high);
  kind.number("rope_original_positions", original);
}

std::vector<double> inverseFrequencies(const Rotary &rotary, int64_t headDim) {
  constexpr double pi = 3.14159265358979323846;
  std::vector<double> frequencies;
  for (int64_t i = 0; i < headDim / 2; ++i) {
    double f = std::pow(rotary.theta, -2.0 * i / headDim);
    double scaled = f / rotary.factor;
    switch (rotary.scaling) {
    case Rotary::Scaling::None:
      break;
    case Rotary::Scaling::Linear:
      f = scaled;
      break;
    case Rotary::Scaling::Llama3: {
      // Llama 3.1's interpolation between kept and scaled frequencies, by how
      // many times the wavelength fits into the original context.
      double turns = rotary.originalPositions * f / (2 * pi);
      double low = rotary.lowFrequencyFactor;
      double high = rotary.highFrequencyFactor;
      double s = (turns - low) / (high - low);
      if (turns < low)
        f = scaled;
      else if (turns <= high)
        f = (1 - s) * scaled + s * f;
      break;
    }
    }
    frequencies.push_back(f);
  }
  return frequencies;
}

} // namespace mlir::par
