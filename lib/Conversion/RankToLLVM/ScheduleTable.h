//===- ScheduleTable.h - the entries of a schedule as numbers ---------------------------------*- C++ -*-===//
//
// Code that calls every action with all its pointers grows with micro-batches. A table does not: actions of
// one function have the same operands but for a few, so they share a row of them and say what differs.
//
//===----------------------------------------------------------------------------------------------------===//

#ifndef PAR_LIB_CONVERSION_RANKTOLLVM_SCHEDULETABLE_H
#define PAR_LIB_CONVERSION_RANKTOLLVM_SCHEDULETABLE_H

#include "par/Dialect/Rank/IR/Rank.h"
#include "par/runtime.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::par {

class ScheduleTable {
public:
  /// `firstAction`: number of the first entry in the manifest's list of actions.
  LogicalResult build(rank::ScheduleOp schedule, int64_t firstAction);

  /// par_entry records of runtime.h, member by member.
  ArrayRef<int32_t> getEntries() const { return entries; }
  /// Operands and what else entries point to: `words` of par_run.
  ArrayRef<int64_t> getWords() const { return words; }
  /// What the entries call, by number, with one of the actions that do.
  const llvm::MapVector<StringRef, rank::ActionOp> &getFunctions() const { return functions; }
  int64_t countEntries() const { return int64_t(entries.size() / membersOfEntry); }
  int64_t getMostOperands() const { return mostOperands; }

  static constexpr size_t membersOfEntry = sizeof(par_entry) / sizeof(int32_t);

private:
  using Words = SmallVector<int64_t>;

  LogicalResult addAction(rank::ActionOp action, par_entry &entry);
  LogicalResult addExchange(rank::ExchangeOp exchange, par_entry &entry);
  /// Points the entry to these operands.
  void setOperands(StringRef user, ArrayRef<int64_t> operands, par_entry &entry);
  int32_t addWords(ArrayRef<int64_t> added);
  FailureOr<int64_t> getWord(Value slot);

  SmallVector<int32_t> entries;
  SmallVector<int64_t> words;
  llvm::MapVector<StringRef, rank::ActionOp> functions;
  std::map<std::string, SmallVector<int32_t>> rows; ///< where the rows of a user begin
  std::map<std::vector<int64_t>, int32_t> discards; ///< where lists of them begin
  llvm::DenseSet<Value> written;                    ///< residuals, so far
  int64_t mostOperands = 0;
};

} // namespace mlir::par

#endif // PAR_LIB_CONVERSION_RANKTOLLVM_SCHEDULETABLE_H
