//===- Plan.h - all that is decided about how a model is trained ------------------------------*- C++ -*-===//
// A plan is a value: made from flags or from a file, kept on the module as `#par.plan`, printed into the
// manifest. docs/Package.md says what its fields mean.

#ifndef PAR_PLAN_PLAN_H
#define PAR_PLAN_PLAN_H

#include "par/Plan/Axes.h"
#include "par/Plan/CompilePhase.h"
#include "par/Schedule/ScheduleKind.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mlir::par {

enum class FloatKind { F32, BF16 };
enum class OptimizerKind { AdamW, Sgd };
/// Programs may know the documents that a window of tokens holds.
enum class DocumentsKind {
  Pack,    ///< nothing: tokens see those of documents before theirs
  Isolate, ///< where each token's begins: tokens see those of their own, and positions begin with it
};
enum class GatherTime { PerMicroBatch, PerStep };
enum class RecomputeKind { None, Selective, Full, Auto };
enum class OffloadKind { None, DeviceUpdate, HostUpdate };
enum class TargetKind { Cpu, Cuda };
/// Of all targets; each says which ones are its own (Target::getChips).
enum class ChipKind { Native, X86V2, X86V3, X86V4, Sm80, Sm90, Sm90A };

/// The text of every value, by number.
llvm::ArrayRef<llvm::StringLiteral> getNames(FloatKind);
llvm::ArrayRef<llvm::StringLiteral> getNames(OptimizerKind);
llvm::ArrayRef<llvm::StringLiteral> getNames(DocumentsKind);
llvm::ArrayRef<llvm::StringLiteral> getNames(GatherTime);
llvm::ArrayRef<llvm::StringLiteral> getNames(RecomputeKind);
llvm::ArrayRef<llvm::StringLiteral> getNames(OffloadKind);
llvm::ArrayRef<llvm::StringLiteral> getNames(TargetKind);
llvm::ArrayRef<llvm::StringLiteral> getNames(ChipKind);

/// Of parameters and activations. The error follows the name of the flag or field: " f16 is not supported:
/// …".
llvm::Expected<FloatKind> parseFloatKind(llvm::StringRef name);

template <typename Enum>
using IfEnum = std::enable_if_t<std::is_enum_v<Enum>, int>;

template <typename Enum, IfEnum<Enum> = 0>
llvm::StringRef getName(Enum value) {
  return getNames(value)[static_cast<size_t>(value)];
}

template <typename Enum, IfEnum<Enum> = 0>
std::optional<Enum> findByName(llvm::StringRef name) {
  llvm::ArrayRef<llvm::StringLiteral> names = getNames(Enum());
  const auto *found = llvm::find(names, name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<Enum>(found - names.begin()));
}

/// A number for all stages of a pipeline, or one for each; empty: there is none.
struct StageNumbers : std::vector<int64_t> {
  using vector::vector;
  int64_t of(int64_t stage) const { return size() == 1 ? front() : at(static_cast<size_t>(stage)); }
};

using Names = std::vector<std::string>;

struct Plan {
  static constexpr int64_t kVersion = 1;

  int64_t version = kVersion;
  std::string model; ///< SHA-256 of what the graph's `par.model` says; empty: any
  int64_t seq = 0;   ///< tokens of a sequence; 0: not decided yet
  int64_t batch = 0; ///< sequences of a step over all ranks; 0: not decided yet
  FloatKind dtype = FloatKind::F32, gradType = FloatKind::F32, momentType = FloatKind::F32;
  DocumentsKind documents = DocumentsKind::Pack;
  OptimizerKind optimizer = OptimizerKind::AdamW;
  Names weightDecayOn; ///< patterns of the parameters that decay; empty: those of rank 2 and more
  Names freeze;        ///< patterns of the parameters that are not trained
  bool overlap = false;
  std::optional<int64_t> prefetchLimit; ///< bytes; nothing: a layer's
  std::optional<int64_t>
      bucketBytes; ///< of collectives that travel together; nothing: the pipeline's default
  int64_t microBatches = 1;
  int64_t zero = 0; ///< stage, 0 to 3
  GatherTime zero3Gather = GatherTime::PerMicroBatch;
  bool sequenceParallel = false;
  std::string strategy;        ///< passes of a plugin that annotate, as MLIR writes them; empty: none
  bool shardingSearch = false; ///< parameters are split by par-search-sharding, not by names
  std::optional<int64_t> parameterLimit; ///< bytes on a rank, of `shardingSearch`; nothing: near the least
  RecomputeKind recompute = RecomputeKind::None;
  StageNumbers recomputeLimit; ///< bytes a micro-batch saves on a rank, of `Auto`
  OffloadKind offload = OffloadKind::None;
  NamedAxes mesh = {{"dp", 1}}; ///< the user's axes, in the order of ranks
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  int64_t chunks = 1; ///< per pipeline rank
  /// Units at which all chunks but the first begin (par-cut-pipeline); empty: where it is best.
  std::vector<int64_t> cuts;
  TargetKind target = TargetKind::Cpu;
  ChipKind chip = ChipKind::Native;

  int64_t getAxis(llvm::StringRef name) const;
  /// Sequences of the graph: of one micro-batch over all data-parallel ranks.
  int64_t getGraphBatch() const { return batch / microBatches; }
  int64_t countRanks() const;
  /// The product of the sizes of all axes that have a role.
  int64_t countRanks(AxisRole role) const { return par::countRanks(mesh, role); }
  int64_t countStages() const { return countRanks(AxisRole::Pipeline); }
};

/// What there is to know of a field beside its value.
struct PlanField {
  llvm::StringLiteral name; ///< in plan.json and in `#par.plan`
  llvm::StringLiteral flag; ///< of par-compile; empty: it has none
  CompilePhase phase;       ///< the first one that depends on it
  bool isRare = false;      ///< written where it is not the default, and else left out of plan.json
};

/// Calls `visit(const PlanField &, member of each plan…)` for every field, in the order in which they are
/// printed: what is first to be changed in a plan that is too large comes first.
template <typename Visit, typename... Plans>
void visitFields(Visit &&visit, Plans &&...plans) {
  visit(PlanField{"version", "", CompilePhase::Import}, plans.version...);
  visit(PlanField{"model", "", CompilePhase::Import}, plans.model...);
  visit(PlanField{"seq", "seq", CompilePhase::Import}, plans.seq...);
  visit(PlanField{"batch", "batch", CompilePhase::Import}, plans.batch...);
  visit(PlanField{"dtype", "dtype", CompilePhase::Import}, plans.dtype...);
  visit(PlanField{"documents", "documents", CompilePhase::Import, /*isRare=*/true}, plans.documents...);
  visit(PlanField{"grad_dtype", "grad-dtype", CompilePhase::Differentiate}, plans.gradType...);
  visit(PlanField{"moment_dtype", "moment-dtype", CompilePhase::Differentiate}, plans.momentType...);
  visit(PlanField{"optimizer", "optimizer", CompilePhase::Differentiate}, plans.optimizer...);
  visit(PlanField{"weight_decay_on", "weight-decay-on", CompilePhase::Differentiate}, plans.weightDecayOn...);
  visit(PlanField{"freeze", "freeze", CompilePhase::Annotate}, plans.freeze...);
  visit(PlanField{"overlap", "overlap", CompilePhase::Overlap}, plans.overlap...);
  visit(PlanField{"prefetch_limit", "prefetch-limit", CompilePhase::Overlap}, plans.prefetchLimit...);
  visit(PlanField{"bucket_bytes", "bucket-bytes", CompilePhase::Partition}, plans.bucketBytes...);
  visit(PlanField{"micro_batches", "micro-batches", CompilePhase::Import}, plans.microBatches...);
  visit(PlanField{"zero", "zero", CompilePhase::Annotate}, plans.zero...);
  visit(PlanField{"sequence_parallel", "sequence-parallel", CompilePhase::Annotate},
        plans.sequenceParallel...);
  visit(PlanField{"strategy", "strategy", CompilePhase::Annotate, /*isRare=*/true}, plans.strategy...);
  visit(PlanField{"sharding_search", "sharding-search", CompilePhase::Annotate}, plans.shardingSearch...);
  visit(PlanField{"parameter_limit", "parameter-limit", CompilePhase::Annotate}, plans.parameterLimit...);
  visit(PlanField{"zero3_gather", "zero3-gather", CompilePhase::Differentiate}, plans.zero3Gather...);
  visit(PlanField{"recompute", "recompute", CompilePhase::Differentiate}, plans.recompute...);
  visit(PlanField{"recompute_limit", "recompute-limit", CompilePhase::Differentiate},
        plans.recomputeLimit...);
  visit(PlanField{"offload", "offload", CompilePhase::Lower}, plans.offload...);
  visit(PlanField{"mesh", "mesh", CompilePhase::Annotate}, plans.mesh...);
  visit(PlanField{"schedule", "schedule", CompilePhase::Cut}, plans.schedule...);
  visit(PlanField{"chunks", "chunks", CompilePhase::Cut}, plans.chunks...);
  visit(PlanField{"cuts", "cuts", CompilePhase::Cut}, plans.cuts...);
  visit(PlanField{"target", "target", CompilePhase::Differentiate}, plans.target...);
  visit(PlanField{"chip", "chip", CompilePhase::Emit}, plans.chip...);
}

bool operator==(const Plan &left, const Plan &right);
/// By all fields, in their order: for plans as keys.
bool operator<(const Plan &left, const Plan &right);
inline bool operator!=(const Plan &left, const Plan &right) { return !(left == right); }
llvm::hash_code hash_value(const Plan &plan);

} // namespace mlir::par

#endif // PAR_PLAN_PLAN_H
