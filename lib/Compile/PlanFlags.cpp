//===- PlanFlags.cpp - plans as flags -------------------------------------------------------------------===//
#include "par/Compile/PlanFlags.h"
#include "par/Support/Bytes.h"
#include "par/Support/MakeError.h"
#include "par/Support/NamePatterns.h"
#include "par/Support/SuggestWord.h"
#include "par/Target/Target.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

template <typename Enum>
static std::vector<std::string> listNames() {
  std::vector<std::string> names;
  for (llvm::StringRef value : getNames(Enum()))
    names.push_back(value.str());
  return names;
}

template <typename Enum>
static void addChoice(Flags &flags, llvm::StringRef name, llvm::StringRef help, Enum &target) {
  flags.choice(name, listNames<Enum>(), help,
               [&target](llvm::StringRef text) { target = *findByName<Enum>(text); });
}

static void addInteger(Flags &flags, llvm::StringRef name, llvm::StringRef help, int64_t &target) {
  flags.integer(name, "N", help, [&target](int64_t value) { target = value; });
}

/// A value of a later feature is refused by `checkPlan`, one that there will never be here.
template <typename Enum>
static void addName(Flags &flags, llvm::StringRef name, llvm::StringRef help, Enum &target) {
  flags.parsed(name, "NAME", help, [&target](llvm::StringRef text) {
    std::optional<Enum> found = findByName<Enum>(text);
    target = found.value_or(Enum());
    return found ? llvm::Error::success()
                 : makeError(" is '" + text + "', expected " + llvm::join(getNames(Enum()), ", ") +
                             suggestWord(text, listNames<Enum>()));
  });
}

static llvm::Error parseMesh(llvm::StringRef text, NamedAxes &mesh) {
  for (llvm::StringRef entry : llvm::split(text, ','))
    if (auto [name, size] = entry.split('='); name == "ep" && size != "1")
      return makeError(": " + entry + " is not built yet; pp, dp and tp are");
  llvm::Expected<NamedAxes> axes = parseMeshAxes(text);
  if (!axes)
    return makeError(": " + llvm::toString(axes.takeError()));
  mesh = std::move(*axes);
  return llvm::Error::success();
}

/// Of flags whose field may have no value: as if the flag were not given. Remedies name it where they take a
/// value back (printDifference).
static constexpr llvm::StringLiteral kNone = "none";

static llvm::Error parseCuts(llvm::StringRef text, std::vector<int64_t> &cuts) {
  cuts.clear();
  if (text == kNone)
    return llvm::Error::success();
  for (llvm::StringRef entry : llvm::split(text, ','))
    if (entry.getAsInteger(10, cuts.emplace_back()))
      return makeError(" is '" + text + "', expected numbers of units");
  return llvm::Error::success();
}

static llvm::Error parsePrefetchLimit(llvm::StringRef text, std::optional<int64_t> &limit) {
  limit = std::nullopt;
  if (text == kNone)
    return llvm::Error::success();
  llvm::Expected<int64_t> bytes = text == "0" ? 0 : parseBytes(text);
  if (!bytes)
    return makeError(": " + llvm::toString(bytes.takeError()) + ", or 0");
  limit = *bytes;
  return llvm::Error::success();
}

static llvm::Error parseNames(llvm::StringRef text, Names &names) {
  names.clear();
  for (llvm::StringRef entry : llvm::split(text, ','))
    names.push_back(entry.str());
  llvm::Expected<NamePatterns> parsed = NamePatterns::parse(names);
  return parsed ? llvm::Error::success() : makeError(": " + llvm::toString(parsed.takeError()));
}

static llvm::Error parseLimits(llvm::StringRef text, StageNumbers &limits) {
  limits.clear();
  for (llvm::StringRef entry : llvm::split(text, ',')) {
    llvm::Expected<int64_t> bytes = parseBytes(entry);
    if (!bytes)
      return makeError(": " + llvm::toString(bytes.takeError()));
    limits.push_back(*bytes);
  }
  return llvm::Error::success();
}

void mlir::par::describeModelFlags(Flags &flags, Plan &plan) {
  addInteger(flags, "seq", "tokens per sequence (default: min(1024, the config's maximum))", plan.seq);
  addInteger(flags, "batch",
             "sequences per optimizer step over all ranks (default: 8 per data-parallel rank)", plan.batch);
  addInteger(flags, "micro-batches", "micro-batches per step (default: 1)", plan.microBatches);
  flags.parsed("dtype", "TYPE",
               "type of a MODEL's parameters and activations: f32 or bf16 (default: f32; of plans that are "
               "found for GPUs bf16)",
               [&plan](llvm::StringRef text) -> llvm::Error {
                 llvm::Expected<FloatKind> kind = parseFloatKind(text);
                 if (!kind)
                   return kind.takeError();
                 plan.dtype = *kind;
                 return llvm::Error::success();
               });
  addChoice(flags, "documents",
            "isolate: tokens see those of their own document only, and positions begin with each; pack: of "
            "all before them in their sequence (default)",
            plan.documents);
  addChoice(flags, "grad-dtype", "type of accumulated gradients (default: f32)", plan.gradType);
  addChoice(flags, "moment-dtype", "type of the optimizer's moments (default: f32)", plan.momentType);
  addChoice(flags, "optimizer", "optimizer (default: adamw)", plan.optimizer);
  flags.parsed(
      "mesh", "AXES",
      "devices by named axes, for example pp=2,dp=2,tp=4 (axes: pp, dp, tp; dp_replicate and dp_shard "
      "instead of dp: ZeRO stores parts over dp_shard only; default: one rank)",
      [&plan](llvm::StringRef text) { return parseMesh(text, plan.mesh); });
}

void mlir::par::describeTrainingFlags(Flags &flags, Plan &plan) {
  flags.parsed(
      "weight-decay-on", "PATTERN,..",
      "parameters with weight decay, by names in the model's files, where * is any text (default: all "
      "tensors of rank 2 and more)",
      [&plan](llvm::StringRef text) { return parseNames(text, plan.weightDecayOn); });
  flags.parsed(
      "freeze", "PATTERN,..",
      "parameters that are not trained, for example 'model.embed_tokens.*,model.layers.[0-3].*': they "
      "have no gradient and no optimizer state",
      [&plan](llvm::StringRef text) { return parseNames(text, plan.freeze); });
}

void mlir::par::describeShardingFlags(Flags &flags, Plan &plan) {
  flags.choice(
      "zero", {"0", "1", "2", "3"},
      "ZeRO stage: data-parallel ranks store parts of optimizer state (1), gradients (2), parameters (3)",
      [&plan](llvm::StringRef text) { plan.zero = text[0] - '0'; });
  addChoice(flags, "zero3-gather",
            "with --zero 3: parameters are gathered where a micro-batch reads them (default) or once, held "
            "for the step",
            plan.zero3Gather);
  flags.toggle("sequence-parallel", "splits norms, dropout and residuals along the sequence over tp",
               plan.sequenceParallel);
  flags.text("strategy", "PASS,..",
             "passes of a plugin that annotate the graph before par's own do, as MLIR writes them: name, or "
             "name{option=value} (docs/Plugins.md)",
             plan.strategy);
}

void mlir::par::describeSearchFlags(Flags &flags, Plan &plan) {
  flags.toggle("sharding-search",
               "splits parameters over tp by an integer program over the factors of ops, not by the names of "
               "their dimensions (docs/Planner.md)",
               plan.shardingSearch);
  flags.bytes("parameter-limit",
              "with --sharding-search: most bytes of parameters on a rank (default: a twentieth above the "
              "least there can be)",
              [&plan](int64_t value) { plan.parameterLimit = value; });
}

static void describeOverlapFlags(Flags &flags, Plan &plan) {
  flags.choice("overlap", {"off", "on"},
               "on: collectives run on a thread of their own beside what is computed (default: off; "
               "docs/Overlap.md says when it pays)",
               [&plan](llvm::StringRef text) { plan.overlap = text == "on"; });
  flags.parsed("prefetch-limit", "SIZE",
               "with --overlap on: bytes of parameters gathered ahead, and of gradients kept while they are "
               "reduced (default, or none: the largest layer's; 0: nothing is)",
               [&plan](llvm::StringRef text) { return parsePrefetchLimit(text, plan.prefetchLimit); });
  flags.bytes(
      "bucket-bytes",
      "gradients, and parameters, smaller than that are reduced or gathered together (default: 4194304; "
      "0: every tensor alone)",
      [&plan](int64_t value) { plan.bucketBytes = value; });
}

static void describeMemoryFlags(Flags &flags, Plan &plan) {
  flags.choice("offload", {"none", "optimizer", "optimizer:device-update", "optimizer:host-update"},
               "optimizer: moments and masters stay in host memory; the update copies each layer's to the "
               "device and back (device-update, default) or runs on the host, to which gradients are copied "
               "(host-update)",
               [&plan](llvm::StringRef text) {
                 plan.offload = findByName<OffloadKind>(text).value_or(OffloadKind::DeviceUpdate);
               });
  addChoice(flags, "recompute",
            "what backward passes run again: cheap maths only (none, default), also norms and attention "
            "(selective), whole layers (full), what fits a limit in the least time (auto)",
            plan.recompute);
  flags.parsed("recompute-limit", "SIZE",
               "with --recompute auto: most memory per rank that a micro-batch saves for its backward pass, "
               "or by commas of each stage (default: what --memory-limit leaves)",
               [&plan](llvm::StringRef text) { return parseLimits(text, plan.recomputeLimit); });
}

static void describeTargetFlags(Flags &flags, Plan &plan) {
  addName(flags, "target", "what the package runs on: cpu (default) or cuda", plan.target);
  addName(
      flags, "chip",
      "what its code is for: a processor (native, x86-64-v2, x86-64-v3 or x86-64-v4; default: native), or "
      "with --target cuda a GPU (sm_90, sm_90a or sm_80; default: sm_90)",
      plan.chip);
  flags.parsed("cpu", "NAME", "the same, for processors", [&plan](llvm::StringRef text) {
    std::optional<ChipKind> chip = findByName<ChipKind>(text);
    plan.chip = chip.value_or(ChipKind::Native);
    return chip ? llvm::Error::success()
                : makeError(": unknown processor \"" + text +
                            "\", expected native, x86-64-v2, x86-64-v3 or x86-64-v4");
  });
}

void mlir::par::describeHeadroomFlag(Flags &flags, std::optional<Headroom> &headroom, const char *plans) {
  flags.parsed("headroom", "SIZE|PERCENT",
               std::string("memory of a device that ") + plans +
                   " leave free (default: 5% of a GPU, none with --memory-limit)",
               [&headroom](llvm::StringRef text) -> llvm::Error {
                 llvm::Expected<Headroom> parsed = parseHeadroom(text);
                 if (!parsed)
                   return makeError(" " + llvm::toString(parsed.takeError()));
                 headroom = *parsed;
                 return llvm::Error::success();
               });
}

void mlir::par::describeProgramFlags(Flags &flags, Plan &plan) {
  describeOverlapFlags(flags, plan);
  describeMemoryFlags(flags, plan);
  addName(
      flags, "schedule",
      "order of a pipeline's forward and backward passes: gpipe, 1f1b (default), interleaved-1f1b, zb-h1, "
      "zb-h2, zb-v, dualpipe-v or layer-wise (docs/Schedules.md)",
      plan.schedule);
  addInteger(flags, "chunks",
             "chunks of the model per pipeline stage (default: 1; 2 for interleaved-1f1b, zb-v, dualpipe-v)",
             plan.chunks);
  flags.parsed("cuts", "A,B,..",
               "the unit at which every chunk but the first begins; --explain lists the units (default, or "
               "none: where the slowest chunk is shortest)",
               [&plan](llvm::StringRef text) { return parseCuts(text, plan.cuts); });
  describeTargetFlags(flags, plan);
}

llvm::Error mlir::par::takeChip(std::set<std::string> &given) {
  if (given.count("cpu") && given.count("chip"))
    return makeError("--cpu and --chip both say what code is for; give --chip alone");
  if (given.count("cpu"))
    given.insert("chip");
  return llvm::Error::success();
}

void mlir::par::completeChip(Plan &plan, const std::set<std::string> &given) {
  if (const Target *target = findTarget(plan.target); target && !given.count("chip"))
    plan.chip = target->getChips().front();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string mlir::par::printMesh(const NamedAxes &axes) {
  std::string text;
  for (auto &[axis, size] : axes)
    text += (text.empty() ? "" : ",") + axis + "=" + std::to_string(size);
  return text;
}

/// Empty: no flag says so.
static std::string printValue(int64_t value) { return std::to_string(value); }
static std::string printValue(const std::string &text) { return text.empty() ? "" : "'" + text + "'"; }
static std::string printValue(const NamedAxes &axes) { return printMesh(axes); }
static std::string printValue(const std::optional<int64_t> &value) {
  return value ? std::to_string(*value) : "";
}
static std::string printValue(const std::vector<int64_t> &values) {
  return llvm::join(llvm::map_range(values, [](int64_t value) { return std::to_string(value); }), ",");
}
static std::string printValue(const Names &names) {
  return names.empty() ? "" : "'" + llvm::join(names, ",") + "'";
}
static std::string printValue(OffloadKind kind) {
  // As people write it.
  return kind == OffloadKind::DeviceUpdate ? "optimizer" : getName(kind).str();
}
static std::string printValue(const StageNumbers &numbers) {
  return printValue(static_cast<const std::vector<int64_t> &>(numbers));
}
template <typename Enum, IfEnum<Enum> = 0>
static std::string printValue(Enum value) {
  return getName(value).str();
}

template <typename T>
static std::string printField(const PlanField &field, const T &value) {
  std::string text = printValue(value);
  return text.empty() || field.flag.empty() ? "" : ("--" + field.flag + " " + text).str();
}
static std::string printField(const PlanField &field, bool value) {
  if (field.flag == "sequence-parallel" || field.flag == "sharding-search")
    return value ? ("--" + field.flag).str() : "";
  return ("--" + field.flag + (value ? " on" : " off")).str();
}

std::string mlir::par::printFlag(const Plan &plan, llvm::StringRef name) {
  std::string text;
  visitFields(
      [&](const PlanField &field, const auto &value) {
        if (field.name == name)
          text = printField(field, value);
      },
      plan);
  return text;
}

std::string mlir::par::printDifference(const Plan &from, const Plan &to) {
  std::vector<std::string> flags;
  visitFields(
      [&](const PlanField &field, const auto &before, const auto &after) {
        std::string text = printField(field, after);
        if (text.empty() && (field.name == "cuts" || field.name == "prefetch_limit"))
          text = ("--" + field.flag + " " + kNone).str();
        if (before != after && !text.empty())
          flags.push_back(text);
      },
      from, to);
  return llvm::join(flags, " ");
}
