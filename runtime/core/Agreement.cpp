#include "core/Agreement.h"

#include "core/AttentionChoice.h"
#include "core/Bf16Choice.h"
#include "core/DataFiles.h"
#include "core/LearningRate.h"

#include <cstdio>

namespace par::rt {

using Options = RunOptions;

static std::string text(double value) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.17g", value);
  double shorter = 0;
  char few[32];
  std::snprintf(few, sizeof(few), "%g", value);
  return std::sscanf(few, "%lf", &shorter) == 1 && shorter == value ? few : digits;
}
static std::string text(int64_t value) { return std::to_string(value); }
static std::string text(uint64_t value) { return std::to_string(value); }
static std::string text(bool value) { return value ? "it" : "it not"; }
/// Of a file that only rank 0 writes, or that every machine may have under a name of its own.
static std::string given(const std::string &value) { return text(!value.empty()); }
static std::string orNone(int64_t value, int64_t least = 1) { return value < least ? "none" : text(value); }

static std::string typeName(io::TokenType type) {
  return type == io::TokenType::automatic ? "none" : io::nameOf(type);
}

/// By content: machines may keep the same files under other names.
static std::string weights(const Options &options, const Loaded &loaded) {
  return options.weights.empty() || loaded.resume ? "none" : loaded.weights.summary();
}

static std::string evaluationData(const Options &, const Loaded &loaded) {
  return !loaded.evaluate.empty() ? summaryOf(loaded.evalData, loaded.evalRows) : "none";
}

static std::string lossWeights(const Options &options, const Loaded &) {
  std::string all;
  for (const auto &[name, weight] : options.lossWeights)
    all += (all.empty() ? "" : ",") + name + "=" + text(weight);
  return all.empty() ? "none" : all;
}

static std::string resumePoint(const Options &, const Loaded &loaded) {
  return loaded.resume
             ? "step " + text(loaded.start.step) + " with hash " + loaded.start.checkpoint.substr(0, 16)
             : "none";
}

static constexpr char sameData[] = "let every process read the same data";
static constexpr char sameFolder[] =
    "let every process read the same checkpoint, in a folder that all machines share";

const std::vector<RankOption> &rankOptions() {
  static const std::vector<RankOption> list = {
      {"--steps", [](const Options &o, const Loaded &) { return text(o.steps); }},
      {"--epochs", nullptr}, // they have become steps
      {"--seed", [](const Options &o, const Loaded &) { return text(o.seed); }},
      {"--shuffle", [](const Options &o, const Loaded &) { return text(o.data.shuffle); }},
      {"--documents",
       [](const Options &o, const Loaded &l) -> std::string {
         return nameOf(documentsOf(o.data, l.manifest));
       }},
      {"--document-end", [](const Options &o, const Loaded &) { return orNone(o.data.documentEnd, 0); }},
      {"--data-dtype", [](const Options &o, const Loaded &) { return typeName(o.data.type); }},
      {"--data", [](const Options &, const Loaded &l) { return summaryOf(l.data, l.rows); }, sameData},
      {"--input", [](const Options &, const Loaded &l) { return l.values.summary(); },
       "give every process the same values"},
      {"--weights", weights, "let every process read the same weights"},
      {"--resume", resumePoint, sameFolder},
      {"--lr", [](const Options &o, const Loaded &) { return text(o.hyper.lr); }},
      {"--lr-schedule",
       [](const Options &o, const Loaded &) -> std::string { return nameOf(o.hyper.schedule); }},
      {"--warmup-steps", [](const Options &o, const Loaded &) { return text(o.hyper.warmupSteps); }},
      {"--decay-steps", [](const Options &o, const Loaded &) { return orNone(o.hyper.decaySteps); }},
      {"--cooldown-steps", [](const Options &o, const Loaded &) { return orNone(o.hyper.cooldownSteps); }},
      {"--min-lr", [](const Options &o, const Loaded &) { return text(o.hyper.minLr); }},
      {"--beta1", [](const Options &o, const Loaded &) { return text(o.hyper.beta1); }},
      {"--beta2", [](const Options &o, const Loaded &) { return text(o.hyper.beta2); }},
      {"--eps", [](const Options &o, const Loaded &) { return text(o.hyper.eps); }},
      {"--weight-decay", [](const Options &o, const Loaded &) { return text(o.hyper.weightDecay); }},
      {"--clip-grad-norm", [](const Options &o, const Loaded &) { return text(o.hyper.clip); }},
      {"--loss-weight", lossWeights},
      {"--eval-data", evaluationData, sameData},
      {"--eval-every", [](const Options &o, const Loaded &) { return orNone(o.evalEvery); }},
      {"--checkpoint", [](const Options &o, const Loaded &) { return given(o.checkpoint); }},
      {"--checkpoint-every", [](const Options &o, const Loaded &) { return orNone(o.checkpointEvery); }},
      {"--save-minutes", nullptr}, // rank 0 says when
      {"--keep", nullptr},
      {"--keep-best", [](const Options &o, const Loaded &) { return text(o.keepBest); }},
      {"--save-params", [](const Options &o, const Loaded &) { return given(o.saveParams); }},
      {"--save-grads", [](const Options &o, const Loaded &) { return given(o.saveGrads); }},
      {"--metrics", nullptr},
      {"--log-every", nullptr},
      {"--profile", [](const Options &o, const Loaded &) { return text(o.profile); }},
      {"--timeout", [](const Options &o, const Loaded &) { return text(o.timeout); }},
      {"--allow-nonfinite", [](const Options &o, const Loaded &) { return text(o.allowNonfinite); }},
      {"--deterministic", [](const Options &o, const Loaded &) { return text(o.deterministic); }},
      {"--attention", [](const Options &o, const Loaded &) -> std::string { return nameOf(o.attention); }},
      {"--tune-seconds", [](const Options &o, const Loaded &) { return text(o.tuneSeconds); }},
      {"--rank", nullptr},
      {"--transport", nullptr}, // ranks with another one do not meet
      {"--emulate-link", nullptr},
      {"--trace", [](const Options &o, const Loaded &) { return given(o.trace); }},
      {"--emulate-kernels",
       [](const Options &o, const Loaded &) {
         return o.kernels.areEmulated() ? text(o.kernels.flops / 1e9) + "," + text(o.kernels.bytes / 1e9)
                                        : std::string("none");
       }},
      {"--bf16-units", [](const Options &, const Loaded &l) { return bf16UnitsOf(l.manifest); },
       "give all processes the one that every processor has"},
      {"--config", nullptr},
  };
  return list;
}

std::vector<std::string> agreedValues(const Options &options, const Loaded &loaded) {
  std::vector<std::string> values;
  for (const RankOption &option : rankOptions())
    if (option.value)
      values.push_back(option.value(options, loaded));
  return values;
}

std::string disagreement(const std::vector<std::string> &first, const std::vector<std::string> &second,
                         const std::string &firstRank, const std::string &secondRank) {
  size_t at = 0;
  for (const RankOption &option : rankOptions()) {
    if (!option.value)
      continue;
    if (at >= first.size() || at >= second.size())
      return secondRank + " runs another version of par than " + firstRank +
             "; start the same par-run everywhere";
    if (first[at] != second[at])
      return std::string(option.flag) + ": " + secondRank + " has " + second[at] + ", " + firstRank +
             " has " + first[at] + "; " + option.remedy;
    ++at;
  }
  return "";
}

} // namespace par::rt
