//===- Rotary.cpp - rotary positions: keys and frequencies ----------------------------------------------===//

#include "par/Import/Family.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace mlir::par {

/// The type of scaling. Transformers 4 wrote `type` before it wrote `rope_type`.
static std::string readType(ConfigReader &reader) {
  reader.alias("rope_type", "type");
  return reader.text("rope_type", "default");
}

static void readLlama3(ConfigReader &reader, Rotary &rotary) {
  rotary.scaling = Rotary::Scaling::Llama3;
  rotary.lowFrequencyFactor = reader.positive("low_freq_factor", std::nullopt);
  rotary.highFrequencyFactor = reader.positive("high_freq_factor", std::nullopt);
  if (rotary.highFrequencyFactor <= rotary.lowFrequencyFactor)
    reader.fail("high_freq_factor", "the rotary scaling's high_freq_factor must exceed its "
                                    "low_freq_factor");
}

/// YaRN lets cosines and sines grow with `factor` by this much (Peng et al., 2309.00071, equation 22, with
/// DeepSeek's coefficient).
static double growth(double factor, double coefficient) {
  return factor <= 1 ? 1.0 : 0.1 * coefficient * std::log(factor) + 1.0;
}

static void readYarn(ConfigReader &reader, Rotary &rotary) {
  rotary.scaling = Rotary::Scaling::Yarn;
  rotary.betaFast = reader.positive("beta_fast", rotary.betaFast);
  rotary.betaSlow = reader.positive("beta_slow", rotary.betaSlow);
  rotary.truncate = reader.boolean("truncate", true);
  if (rotary.betaFast < rotary.betaSlow)
    reader.fail("beta_fast", "the rotary scaling's beta_fast must be at least its beta_slow");
  std::optional<double> given = reader.optionalPositive("attention_factor");
  // Zero counts as absent, as in Transformers.
  double ofScores = reader.nonNegative("mscale", 0), ofAll = reader.nonNegative("mscale_all_dim", 0);
  double usual = ofScores != 0 && ofAll != 0 ? growth(rotary.factor, ofScores) / growth(rotary.factor, ofAll)
                                             : growth(rotary.factor, 1.0);
  rotary.attentionFactor = given.value_or(usual);
}

static void readScaling(ConfigReader &reader, int64_t maxPositions, Rotary &rotary) {
  std::string type = readType(reader);
  if (type == "default")
    return;
  if (type != "linear" && type != "dynamic" && type != "llama3" && type != "yarn")
    return reader.fail("rope_type", "the rotary scaling (rope_type) is \"" + type +
                                        "\", which is not supported; supported are default, "
                                        "linear, dynamic, llama3 and yarn");
  if (type == "dynamic") { // of sequences longer than `max_position_embeddings`, and those are refused
    reader.positive("factor", std::nullopt);
    return reader.harmless({"original_max_position_embeddings"});
  }
  std::optional<double> factor = reader.optionalPositive("factor");
  if (type != "linear")
    rotary.originalPositions =
        static_cast<double>(reader.size("original_max_position_embeddings", maxPositions));
  // YaRN's may follow from the context that there was and the one that there is.
  if (type == "yarn" && !factor && reader.has("original_max_position_embeddings"))
    factor = static_cast<double>(maxPositions) / rotary.originalPositions;
  rotary.factor = factor ? *factor : reader.positive("factor", std::nullopt);
  if (type == "llama3")
    readLlama3(reader, rotary);
  else if (type == "yarn")
    readYarn(reader, rotary);
  else
    rotary.scaling = Rotary::Scaling::Linear;
}

/// The keys that stand beside a dictionary, or in it.
static void readBaseAndShare(ConfigReader &reader, Rotary &rotary) {
  rotary.theta = reader.positive("rope_theta", rotary.theta);
  rotary.share = reader.positive("partial_rotary_factor", rotary.share);
  if (rotary.share > 1)
    reader.fail("partial_rotary_factor", "'partial_rotary_factor' is the share of a head that is rotated, "
                                         "expected a number of at most 1");
}

/// Reads a dictionary of rotary positions.
static void readRotaryParameters(ConfigReader &reader, int64_t maxPositions, Rotary &rotary) {
  readBaseAndShare(reader, rotary);
  readScaling(reader, maxPositions, rotary);
}

Rotary readRotary(ConfigReader &reader, int64_t maxPositions, Rotary rotary) {
  readBaseAndShare(reader, rotary);
  // A non-empty `rope_scaling` beats `rope_parameters`, as in Transformers 5.
  const json::Object *old = reader.dictionary("rope_scaling");
  const json::Object *parameters = reader.dictionary("rope_parameters");
  if (old || parameters) {
    ConfigReader nested = reader.nested(old ? "rope_scaling" : "rope_parameters");
    readRotaryParameters(nested, maxPositions, rotary);
    reader.merge(nested);
  }
  return rotary;
}

RotaryOfKinds readRotaryOfKinds(ConfigReader &reader, int64_t maxPositions, RotaryOfKinds rotary) {
  rotary.full.theta = reader.positive("rope_theta", rotary.full.theta);
  if (reader.dictionary("rope_parameters")) {
    ConfigReader kinds = reader.nested("rope_parameters");
    for (auto [kind, ofKind] : {std::pair(StringRef("full_attention"), &rotary.full),
                                std::pair(StringRef("sliding_attention"), &rotary.windowed)})
      if (kinds.dictionary(kind)) {
        ConfigReader nested = kinds.nested(kind);
        readRotaryParameters(nested, maxPositions, *ofKind);
        kinds.merge(nested);
      }
    reader.merge(kinds);
  }
  // Written before layers had parameters of their own, and meant for those without a window.
  if (reader.dictionary("rope_scaling")) {
    ConfigReader nested = reader.nested("rope_scaling");
    readRotaryParameters(nested, maxPositions, rotary.full);
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
  case Rotary::Scaling::Yarn:
    return "yarn";
  }
  llvm_unreachable("all scalings have a name");
}

void Rotary::describe(KindDescription &kind) const {
  const auto &[theta, scaling, factor, low, high, original, betaFast, betaSlow, truncate, attentionFactor,
               share] = *this;
  kind.number("rope_theta", theta);
  kind.number("rope_scaling", nameOf(scaling));
  if (share != 1)
    kind.number("partial_rotary_factor", share);
  if (scaling == Scaling::None)
    return;
  kind.number("rope_factor", factor);
  if (scaling == Scaling::Linear)
    return;
  kind.number("rope_original_positions", original);
  if (scaling == Scaling::Llama3) {
    kind.number("rope_low_freq_factor", low);
    kind.number("rope_high_freq_factor", high);
    return;
  }
  kind.number("rope_beta_fast", betaFast);
  kind.number("rope_beta_slow", betaSlow);
  kind.number("rope_truncate", truncate);
  kind.number("rope_attention_factor", attentionFactor);
}

constexpr double pi = 3.14159265358979323846;

/// Llama 3.1's interpolation between kept and scaled frequencies, by how many times the wavelength fits into
/// the original context.
static double interpolateLlama3(const Rotary &rotary, double frequency) {
  double turns = rotary.originalPositions * frequency / (2 * pi);
  double low = rotary.lowFrequencyFactor, high = rotary.highFrequencyFactor;
  double scaled = frequency / rotary.factor, s = (turns - low) / (high - low);
  if (turns < low)
    return scaled;
  return turns <= high ? (1 - s) * scaled + s * frequency : frequency;
}

/// YaRN's ramp between kept and scaled frequencies, by the number of the pair (Peng et al., 2309.00071, 3.2).
static double interpolateYarn(const Rotary &rotary, double frequency, int64_t pair, int64_t pairs) {
  double size = static_cast<double>(2 * pairs);
  // The pair that turns `turns` times in the original context.
  auto pairOf = [&](double turns) {
    return size * std::log(rotary.originalPositions / (turns * 2 * pi)) / (2 * std::log(rotary.theta));
  };
  double low = pairOf(rotary.betaFast), high = pairOf(rotary.betaSlow);
  if (rotary.truncate)
    low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, size - 1);
  if (low == high)
    high += 0.001;
  double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  return frequency / rotary.factor * ramp + frequency * (1 - ramp);
}

std::vector<double> inverseFrequencies(const Rotary &rotary, int64_t headDim) {
  std::vector<double> frequencies;
  int64_t pairs = rotary.countPairs(headDim);
  for (int64_t i = 0; i < pairs; ++i) {
    double f = std::pow(rotary.theta, -static_cast<double>(i) / static_cast<double>(pairs));
    switch (rotary.scaling) {
    case Rotary::Scaling::None:
      break;
    case Rotary::Scaling::Linear:
      f = f / rotary.factor;
      break;
    case Rotary::Scaling::Llama3:
      f = interpolateLlama3(rotary, f);
      break;
    case Rotary::Scaling::Yarn:
      f = interpolateYarn(rotary, f, i, pairs);
      break;
    }
    frequencies.push_back(f);
  }
  return frequencies;
}

} // namespace mlir::par
