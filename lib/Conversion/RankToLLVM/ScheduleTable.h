//===- ScheduleTable.h - the entries of a schedule as numbers ---------------------------------*- C++ -*-===//
//
// Code that calls every action with all its pointers grows with micro-batches. A table grows by a few bytes:
// what actions do is written once, and a step says which it is and what operands differ.
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
  LogicalResult build(rank::ScheduleOp schedule);

  /// par_step and par_entry records of runtime.h, member by member.
  ArrayRef<int32_t> getSteps() const { return steps; }
  ArrayRef<int32_t> getEntries() const { return entries; }
  /// Operands and what else entries point to: `words` of par_run.
  ArrayRef<int64_t> getWords() const { return words; }
  /// What the entries call, by number, with one of the actions that do.
  const llvm::MapVector<StringRef, rank::ActionOp> &getFunctions() const { return functions; }
  int64_t countSteps() const { return static_cast<int64_t>(steps.size() / membersOf<par_step>); }
  int64_t getMostOperands() const { return mostOperands; }

private:
  using Words = SmallVector<int64_t>;
  template <typename Record>
  static constexpr size_t membersOf = sizeof(Record) / sizeof(int32_t);
  template <typename Record>
  static std::vector<int32_t> getMembers(const Record &record);

  LogicalResult addAction(rank::ActionOp action);
  LogicalResult addExchange(rank::ExchangeOp exchange);
  void addStep(const par_entry &entry, int32_t patch);
  /// Points the entry to these operands and returns where those that differ from its row stand.
  int32_t setOperands(StringRef user, ArrayRef<int64_t> operands, par_entry &entry);
  int32_t addWords(ArrayRef<int64_t> added);
  FailureOr<Words> getOperands(ValueRange buffers);

  SmallVector<int32_t> steps, entries;
  SmallVector<int64_t> words = {0}; ///< a step without a patch points to this count
  llvm::MapVector<StringRef, rank::ActionOp> functions;
  std::map<std::string, SmallVector<int32_t>> rows; ///< where the rows of a user begin
  std::map<std::vector<int64_t>, int32_t> lists;    ///< where patches and lists of discards begin
  std::map<std::vector<int32_t>, int32_t> numbers;  ///< of entries, by their members
  llvm::DenseSet<Value> written;                    ///< residuals, so far
  int64_t mostOperands = 0;
};

} // namespace mlir::par

#endif // PAR_LIB_CONVERSION_RANKTOLLVM_SCHEDULETABLE_H
