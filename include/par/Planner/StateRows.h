//===- StateRows.h - what ranks of data parallelism store and exchange ------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_STATEROWS_H
#define PAR_PLANNER_STATEROWS_H

#include "par/Cost/CollectiveTimes.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Planner/MeshRanks.h"
#include "par/Schedule/ActionKind.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::par {

/// How long bytes lie on a rank: for the whole step, or from what is done once before its passes until the
/// last of these has read them.
enum class Lifetime { Step, Passes };

/// Bytes of a parameter, or of what belongs to it.
struct MemoryRow {
  rank::Category category;
  Lifetime lifetime;
  bool isOnHost;
  DataAxes over;  ///< of which each rank has a part
  double perByte; ///< all parts, for each of the parameter's bytes
};

/// What the ranks of data parallelism exchange in the function of an action, which waits for all that it
/// starts.
struct CollectiveRow {
  ActionKind action;
  CollectiveKind kind;
  DataAxes over;               ///< ranks that take part
  DataAxes dividedOver;        ///< ranks of which each has a part of the tensor already
  bool isStarted;              ///< before a unit that is in the same function, and waited for behind it
  double perByte;              ///< bytes of the tensor, all parts, for each of the parameters' bytes
  llvm::StringSet<> variables; ///< parameters
};

/// One plan's rows, of all units. What they are of each unit follows from its parameters.
struct StateRows {
  llvm::StringMap<std::vector<MemoryRow>> variables; ///< by parameter
  std::vector<CollectiveRow> collectives;
  /// Copies between device and host, for each byte and each tensor that lies on the host.
  double copiedPerByte = 0, copiesPerTensor = 0;
  bool startsCopies = false;
  DataAxes updatedOver = DataAxes::None; ///< ranks of which each updates a part
  bool splitsBackward = false;           ///< backward passes have two parts
  double bucketBytes = 0;                ///< smaller tensors travel together

  /// Of what is exchanged while an action runs.
  bool starts(CollectiveKind kind, llvm::ArrayRef<ActionKind> actions) const;
};

/// Of rank programs whose memory is planned; nothing where they have no training step.
std::optional<StateRows> tabulateState(ModuleOp module);

} // namespace mlir::par

#endif // PAR_PLANNER_STATEROWS_H
