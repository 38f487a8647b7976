//===- Liveness.h - from when to when the memory of a rank program is in use ------------------*- C++ -*-===//
#ifndef PAR_DIALECT_RANK_ANALYSIS_LIVENESS_H
#define PAR_DIALECT_RANK_ANALYSIS_LIVENESS_H

#include "par/Dialect/Rank/IR/Rank.h"
#include <array>
#include <vector>

namespace mlir::par::rank {

constexpr unsigned kCategories = getMaxEnumValForCategory() + 1;
/// Bytes by category.
using CategoryBytes = std::array<int64_t, kCategories>;

/// Points of a program from the first to the last at which a buffer is in use, both included.
struct Lifetime {
  int64_t begin = 0, end = -1;

  bool isEmpty() const { return end < begin; }
};

/// Sums up what is live at each of a number of points.
class LiveBytes {
public:
  explicit LiveBytes(int64_t points) : changes(points + 1, CategoryBytes{}) {}

  void add(Category category, int64_t bytes, Lifetime lifetime);
  /// By point.
  std::vector<CategoryBytes> count() const;

private:
  std::vector<CategoryBytes> changes; ///< from the point before
};

/// Local buffers of a function; points are its ops. A buffer lives from its `rank.alloc`, which takes the
/// memory, to its last use: of what is started, the wait.
class FunctionLiveness {
public:
  struct Local {
    AllocOp alloc;
    Lifetime lifetime;
    bool isFrame = false; ///< of a callee
  };

  explicit FunctionLiveness(FuncOp function);

  int64_t countPoints() const { return static_cast<int64_t>(positions.size()); }
  int64_t getPosition(Operation *op) const { return positions.lookup(op); }
  /// In the order of the function.
  llvm::ArrayRef<Local> getLocals() const { return locals; }

private:
  llvm::DenseMap<Operation *, int64_t> positions;
  SmallVector<Local> locals;
};

/// Slots of a schedule; points are its entries, and one behind them at which the runtime reads outputs.
/// Variables, inputs and constants, which the runtime fills before the first, live throughout.
class ScheduleLiveness {
public:
  explicit ScheduleLiveness(ScheduleOp schedule);

  int64_t countPoints() const { return static_cast<int64_t>(positions.size()) + 1; }
  /// The entries that run functions.
  llvm::ArrayRef<ActionOp> getActions() const { return actions; }
  int64_t getPosition(Operation *entry) const { return positions.lookup(entry); }
  Lifetime get(SlotOp slot) const;

private:
  SmallVector<ActionOp> actions;
  llvm::DenseMap<Operation *, int64_t> positions;
};

/// The runtime writes the slot before a step begins.
bool isFilled(SlotOp slot);

} // namespace mlir::par::rank

#endif // PAR_DIALECT_RANK_ANALYSIS_LIVENESS_H
