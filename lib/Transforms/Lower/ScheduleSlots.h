//===- ScheduleSlots.h - the memory that actions of a schedule work on ------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_SCHEDULESLOTS_H
#define PAR_LIB_TRANSFORMS_LOWER_SCHEDULESLOTS_H

#include "ReceivedValues.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Schedule/FlightPlan.h"

#include <deque>

namespace mlir::par {

/// The phase whose functions compute from the first chunk to the last one.
Phase getForwardPhase(rank::Purpose purpose);

/// A value that micro-batches leave for later: a slot for each of those that are in flight at once.
struct FlightSlots {
  std::string name; ///< of the first slot
  RankedTensorType type;
  ArrayRef<unsigned> places; ///< by micro-batch (FlightPlan)
  SmallVector<Value> slots;  ///< by place; null: not asked for yet
};

/// The slots of one rank.schedule: each is made when it is asked for first, in front of `end`.
class ScheduleSlots {
public:
  /// All but `end` are to outlive it.
  ScheduleSlots(const ChunkFunctions &functions, const SymbolTable &symbols, rank::Purpose purpose,
                const PipelineSchedule &lists, size_t stage, Operation *end);

  Value getVariable(StringRef name, RankedTensorType type);
  /// Null if no action that was added before uses it.
  Value findVariable(StringRef name) const { return variables.lookup(name); }

  /// Element i of it, in row-major order, is first + step · i.
  Value getConstant(StringRef name, RankedTensorType type, TypedAttr first, int64_t step);

  /// An input or output of the runtime. `global` and `sharding`, which may be null: its logical shape, and
  /// how it is split.
  Value getRuntime(rank::SlotKind kind, StringRef name, RankedTensorType type, int64_t microBatch,
                   TypeAttr global, Attribute sharding);

  Value makeFrame(ActionKind kind);

  /// What a chunk saves: it stays where it is as the schedule goes on.
  FlightSlots &getResidual(int64_t chunk, int64_t number, RankedTensorType type);
  /// What crosses the cut behind a chunk, forward or back. Two chunks of one stage have it in common, and
  /// what a chunk hands on as it came is where it came.
  FlightSlots &getBoundary(Flight flight, int64_t cut, int64_t number, RankedTensorType type);
  Value getSlot(FlightSlots &flight, int64_t microBatch);

private:
  Value make(rank::SlotKind kind, StringRef name, rank::Category category, RankedTensorType type,
             rank::Space space = rank::Space::Device);
  Value makeVariable(VariableOp variable, RankedTensorType type);
  /// The slot of the variable that `variable` may lie in, if it can.
  Value findShared(VariableOp variable, RankedTensorType type) const;
  /// How long what a chunk saves lies.
  Flight findFlight(int64_t chunk, PlaceAttr place) const;

  const ChunkFunctions &functions;
  const SymbolTable &symbols;
  Phase forward;
  const PipelineSchedule &lists;
  int64_t stage;
  ReceivedValues received;
  FlightPlan flights;
  OpBuilder builder;

  llvm::StringMap<Value> variables;
  llvm::DenseMap<std::tuple<StringRef, Attribute, int64_t, Type>, Value> constants; ///< by what they hold
  std::map<std::tuple<rank::SlotKind, std::string, int64_t>, Value> runtime; ///< by kind, name, micro-batch
  std::map<std::pair<int64_t, int64_t>, FlightSlots> residuals;              ///< by chunk and number
  std::map<std::tuple<Flight, int64_t, int64_t>, FlightSlots> crossings;     ///< by what, cut and number
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_SCHEDULESLOTS_H
