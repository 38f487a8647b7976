//===- VerifyCut.cpp - checks the chunks of a pipeline --------------------------------------------------===//
#include "par/Dialect/Par/IR/Places.h"
#include "par/Schedule/Schedule.h"
#include "par/Transforms/Cut/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_VERIFYCUT
#include "par/Transforms/Cut/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static constexpr StringLiteral kRemedy = "; mend it, or cut the graph again (--from cut)";

namespace {
/// A value that crosses a cut, at one end of it.
struct Crossing {
  unsigned place; ///< number of the result, or of the argument
  Type type;
  ShardingAttr sharding;
};
using Crossings = std::map<int64_t, Crossing>; ///< by the number of the boundary

struct VerifyCut : par::impl::VerifyCutBase<VerifyCut> {
  using VerifyCutBase::VerifyCutBase;

  void runOnOperation() override {
    ChunkFunctions functions(getOperation());
    if (failed(verifyStages(functions)))
      return signalPassFailure();
    for (Phase phase : {Phase::Forward, Phase::Eval, Phase::Logits})
      if (failed(verifyChunks(functions.getAll(phase))))
        return signalPassFailure();
  }

private:
  //===--------------------------------------------------------------------===//
  // (cut_c1) Chunks and stages
  //===--------------------------------------------------------------------===//

  /// Every chunk is where the schedule places it.
  LogicalResult verifyStages(const ChunkFunctions &functions) {
    if (schedule.empty())
      return success();
    llvm::Expected<std::vector<int64_t>> placed = placeChunksOf(schedule, {stages, microBatches, chunks});
    if (!placed)
      return getOperation().emitError("cut_c1: ") << llvm::toString(placed.takeError());
    if (size_t count = functions.getChunks().size(); count != placed->size())
      return getOperation().emitError("cut_c1: the module has ")
             << count << " chunks, expected " << placed->size() << ", " << chunks.getValue() << " on each of "
             << stages.getValue() << " stages" << kRemedy;
    for (func::FuncOp function : functions.getAll())
      if (auto chunk = static_cast<size_t>(getChunk(function));
          chunk < placed->size() && (*placed)[chunk] != getStage(function))
        return function.emitError("cut_c1: @")
               << function.getSymName() << " of chunk " << chunk << " is on stage " << getStage(function)
               << ", expected stage " << (*placed)[chunk] << ", where " << schedule << " has it" << kRemedy;
    return success();
  }

  /// Numbers without a gap, and what each hands to the next one. What evaluates may end before the last
  /// chunk.
  LogicalResult verifyChunks(ArrayRef<func::FuncOp> functions) {
    func::FuncOp before;
    for (func::FuncOp function : functions) {
      int64_t number = before ? getChunk(before) + 1 : 0;
      if (getChunk(function) != number)
        return function.emitError("cut_c1: @")
               << function.getSymName() << " is of chunk " << getChunk(function)
               << ", but no function of phase " << stringifyPhase(getPhase(function).getPhase())
               << " is of chunk " << number << ", expected chunks numbered from 0 without a gap" << kRemedy;
      if (failed(verifyCrossings(before, function)))
        return failure();
      before = function;
    }
    return verifyCrossings(before, /*behind=*/nullptr);
  }

  //===--------------------------------------------------------------------===//
  // (cut_c2) Boundaries
  //===--------------------------------------------------------------------===//

  static Crossings listReturned(func::FuncOp function) {
    Crossings crossings;
    for (unsigned result = 0; function && result < function.getNumResults(); ++result)
      if (std::optional<int64_t> number = getResultBoundary(function, result))
        crossings[*number] = {result, function.getResultTypes()[result], getResultSharding(function, result)};
    return crossings;
  }

  static Crossings listTaken(func::FuncOp function) {
    Crossings crossings;
    for (unsigned argument = 0; function && argument < function.getNumArguments(); ++argument)
      if (std::optional<int64_t> number = getBoundary(function, argument))
        crossings[*number] = {argument, function.getArgumentTypes()[argument],
                              getSharding(function.getArgument(argument))};
    return crossings;
  }

  /// What chunk function `before` returns is what `behind` takes; either is null at an end of the pipeline.
  static LogicalResult verifyCrossings(func::FuncOp before, func::FuncOp behind) {
    Crossings returned = listReturned(before), taken = listTaken(behind);
    for (auto &[number, crossing] : taken) {
      auto made = returned.find(number);
      if (made == returned.end())
        return fail(behind, "argument", crossing, before)
               << " is boundary " << number << ", which the chunk before does not return" << kRemedy;
      if (made->second.type != crossing.type || made->second.sharding != crossing.sharding)
        return fail(behind, "argument", crossing, before)
               << " is boundary " << number << " as " << describe(crossing) << ", expected "
               << describe(made->second) << ", as the chunk before returns it" << kRemedy;
    }
    for (auto &[number, crossing] : returned)
      if (!taken.count(number))
        return fail(before, "result", crossing, behind)
               << " is boundary " << number << ", which the chunk behind does not take" << kRemedy;
    return success();
  }

  static InFlightDiagnostic fail(func::FuncOp function, StringRef kind, const Crossing &crossing,
                                 func::FuncOp other) {
    InFlightDiagnostic error = function.emitError("cut_c2: ")
                               << kind << " " << crossing.place << " of @" << function.getSymName();
    if (other)
      error.attachNote(other.getLoc()) << "@" << other.getSymName() << " is the chunk beside it";
    return error;
  }

  static std::string describe(const Crossing &crossing) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << crossing.type;
    if (crossing.sharding)
      stream << " " << crossing.sharding;
    return text;
  }
};
} // namespace
