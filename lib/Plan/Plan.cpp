//===- Plan.cpp - all that is decided about how a model is trained on many devices ----------------------===//
#include "par/Plan/Plan.h"
#include "par/Support/MakeError.h"
#include "par/Support/SuggestWord.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::par;
using Literals = llvm::ArrayRef<llvm::StringLiteral>;

static constexpr llvm::StringLiteral kPhases[] = {
    "import", "annotate", "propagate", "cut", "differentiate", "partition", "overlap", "lower", "emit"};

Literals mlir::par::getPhaseNames() { return Literals(kPhases).drop_back(); }
llvm::StringRef mlir::par::getName(CompilePhase phase) { return kPhases[static_cast<size_t>(phase)]; }

std::optional<CompilePhase> mlir::par::findPhase(llvm::StringRef name) {
  const auto *found = llvm::find(getPhaseNames(), name);
  return found == getPhaseNames().end()
             ? std::nullopt
             : std::optional(static_cast<CompilePhase>(found - getPhaseNames().begin()));
}

static constexpr llvm::StringLiteral kFloats[] = {"f32", "bf16"};
static constexpr llvm::StringLiteral kOptimizers[] = {"adamw", "sgd"};
static constexpr llvm::StringLiteral kGathers[] = {"per-micro-batch", "per-step"};
static constexpr llvm::StringLiteral kDocuments[] = {"pack", "isolate"};
static constexpr llvm::StringLiteral kPolicies[] = {"none", "selective", "full", "auto"};
static constexpr llvm::StringLiteral kOffloads[] = {"none", "optimizer:device-update",
                                                    "optimizer:host-update"};
static constexpr llvm::StringLiteral kTargets[] = {"cpu", "cuda"};
static constexpr llvm::StringLiteral kChips[] = {"native", "x86-64-v2", "x86-64-v3", "x86-64-v4",
                                                 "sm_80",  "sm_90",     "sm_90a"};

Literals mlir::par::getNames(FloatKind) { return kFloats; }
Literals mlir::par::getNames(OptimizerKind) { return kOptimizers; }
Literals mlir::par::getNames(DocumentsKind) { return kDocuments; }
Literals mlir::par::getNames(GatherTime) { return kGathers; }
Literals mlir::par::getNames(RecomputeKind) { return kPolicies; }
Literals mlir::par::getNames(OffloadKind) { return kOffloads; }
Literals mlir::par::getNames(TargetKind) { return kTargets; }
Literals mlir::par::getNames(ChipKind) { return kChips; }

llvm::Expected<FloatKind> mlir::par::parseFloatKind(llvm::StringRef name) {
  if (std::optional<FloatKind> kind = findByName<FloatKind>(name))
    return *kind;
  if (name == "f16")
    return makeError(" f16 is not supported: its range needs scaled losses; use bf16");
  return makeError(" " + name + " is unknown; expected f32 or bf16" + suggestWord(name, {"f32", "bf16"}));
}

int64_t Plan::getAxis(llvm::StringRef name) const {
  for (auto &[axis, size] : mesh)
    if (axis == name)
      return size;
  return 1;
}

int64_t Plan::countRanks() const {
  int64_t ranks = 1;
  for (auto &[axis, size] : mesh)
    ranks *= size;
  return ranks;
}

bool mlir::par::operator==(const Plan &left, const Plan &right) {
  bool equal = true;
  visitFields([&](const PlanField &, const auto &a, const auto &b) { equal &= a == b; }, left, right);
  return equal;
}

bool mlir::par::operator<(const Plan &left, const Plan &right) {
  int order = 0;
  visitFields(
      [&](const PlanField &, const auto &a, const auto &b) {
        if (order == 0)
          order = a < b ? -1 : b < a ? 1 : 0;
      },
      left, right);
  return order < 0;
}

template <typename T>
static llvm::hash_code hashField(const T &value) {
  return llvm::hash_value(value);
}
static llvm::hash_code hashField(const std::optional<int64_t> &value) {
  return llvm::hash_combine(value.has_value(), value.value_or(0));
}
static llvm::hash_code hashField(const std::vector<int64_t> &values) {
  return llvm::hash_combine_range(values.begin(), values.end());
}
static llvm::hash_code hashField(const StageNumbers &numbers) {
  return llvm::hash_combine_range(numbers.begin(), numbers.end());
}
static llvm::hash_code hashField(const Names &names) {
  return llvm::hash_combine_range(names.begin(), names.end());
}
static llvm::hash_code hashField(const NamedAxes &axes) {
  llvm::hash_code hash = 0;
  for (auto &[axis, size] : axes)
    hash = llvm::hash_combine(hash, axis, size);
  return hash;
}

llvm::hash_code mlir::par::hash_value(const Plan &plan) {
  llvm::hash_code hash = 0;
  visitFields(
      [&](const PlanField &, const auto &value) { hash = llvm::hash_combine(hash, hashField(value)); }, plan);
  return hash;
}
