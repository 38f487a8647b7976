//===- Places.h - chunk functions, their arguments and their results --------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_PLACES_H
#define PAR_DIALECT_PAR_IR_PLACES_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// What the runtime supplies, and what it reads: runtime/include/par/Inputs.def.
enum class InputKind {
#define PAR_INPUT(symbol, name, element, shape, time, reader) symbol,
#include "par/Inputs.def"
};
enum class OutputKind {
#define PAR_OUTPUT(symbol, name, rank) symbol,
#include "par/Inputs.def"
};

/// The name of the loss that a graph returns without one.
constexpr llvm::StringLiteral kMainLoss = "loss";

/// Names as in a manifest.
StringRef stringifyInputKind(InputKind input);
StringRef stringifyOutputKind(OutputKind output);
/// None for what is not in the list.
std::optional<InputKind> symbolizeInputKind(StringRef name);
std::optional<OutputKind> symbolizeOutputKind(StringRef name);

/// When an input gets a value; a Constant is known when the program is compiled.
enum class InputTime { MicroBatch, Step, Constant };
InputTime getTime(InputKind input);
/// "micro_batch" or "step".
StringRef stringifyInputTime(InputTime time);

} // namespace mlir::par

#include "par/Dialect/Par/IR/PlaceEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "par/Dialect/Par/IR/PlaceAttributes.h.inc"

namespace mlir::par {

/// True for the phases that compute gradients of a micro-batch.
bool isBackward(Phase phase);
/// True for the phases that compute no gradients and need none.
bool isEvaluation(Phase phase);

/// The variable in which every stage of a pipeline has the sum of squares of its gradients, and then that of
/// all.
constexpr StringLiteral kSquaresVariable = "grad_squares";

/// Phase and chunk of a function; null for a layer.
PhaseAttr getPhase(func::FuncOp function);
bool isPhase(func::FuncOp function, Phase phase);
/// The chunk of a chunk function, 0 for a layer.
int64_t getChunk(func::FuncOp function);
/// The coordinate of the pipeline that runs a chunk function; 0 for a layer.
int64_t getStage(func::FuncOp function);
void setPhase(func::FuncOp function, Phase phase, int64_t chunk, int64_t stage = 0);
/// The phase of the chunk, and on the stage, that `like` is of.
void setPhase(func::FuncOp function, Phase phase, func::FuncOp like);

/// The name of the function of another phase of the chunk that `like` is of: "forward_1" -> "backward_1"; a
/// name that does not say the phase gets a suffix.
std::string nameFor(func::FuncOp like, Phase phase);

/// Where an argument comes from; null if nothing says it (arguments of layers).
PlaceAttr getPlace(func::FuncOp function, unsigned argument);
/// Where a result goes to; null if nothing says it.
PlaceAttr getResultPlace(func::FuncOp function, unsigned result);
void setPlace(func::FuncOp function, unsigned argument, PlaceAttr place);
void setResultPlace(func::FuncOp function, unsigned result, PlaceAttr place);

/// One field of the place, null or none where the place is another or there is none.
FlatSymbolRefAttr getVariable(func::FuncOp function, unsigned argument);
FlatSymbolRefAttr getResultVariable(func::FuncOp function, unsigned result);
std::optional<InputKind> getInput(func::FuncOp function, unsigned argument);
/// The name of an input of any kind; empty where the argument is none.
StringRef getInputName(func::FuncOp function, unsigned argument);
std::optional<OutputKind> getOutput(func::FuncOp function, unsigned result);
std::optional<int64_t> getResidual(func::FuncOp function, unsigned argument);
std::optional<int64_t> getResultResidual(func::FuncOp function, unsigned result);
std::optional<int64_t> getBoundary(func::FuncOp function, unsigned argument);
std::optional<int64_t> getResultBoundary(func::FuncOp function, unsigned result);
std::optional<int64_t> getAlias(func::FuncOp function, unsigned result);

/// The variable that a value is read from: an argument's, else null.
FlatSymbolRefAttr getVariable(Value value);
/// The logical type of an argument, in a local function too.
RankedTensorType getGlobalType(func::FuncOp function, unsigned argument);

/// Whether a result is a loss, the main one or another.
bool isLoss(func::FuncOp function, unsigned result);
/// Whether a run gives the loss a weight: each that has a name or says what its weight is otherwise.
bool hasWeight(PlaceAttr loss);
/// The variable that adds up a loss, given its place: "loss" or "loss.balance".
std::string getLossVariable(PlaceAttr loss);
/// The place of the loss that a variable of that name adds up; null if it adds up none.
PlaceAttr getLossOf(MLIRContext *context, StringRef variable);

/// The first argument, or result, of a place; none if there is none.
std::optional<unsigned> findArgument(func::FuncOp function, PlaceAttr place);
std::optional<unsigned> findResult(func::FuncOp function, PlaceAttr place);

/// The chunk functions of a module, found once.
class ChunkFunctions {
public:
  explicit ChunkFunctions(ModuleOp module);

  /// Null if the chunk has no function of the phase.
  func::FuncOp find(Phase phase, int64_t chunk) const;
  bool has(Phase phase) const { return !getAll(phase).empty(); }
  /// Of all chunks, in their order.
  SmallVector<func::FuncOp> getAll(Phase phase) const;
  /// Of all chunks and phases, in the module's order.
  ArrayRef<func::FuncOp> getAll() const { return inOrder; }
  /// Chunks that have a function, in their order.
  ArrayRef<int64_t> getChunks() const { return chunks; }
  /// By chunk, from chunk 0 on: the stage that runs it; stage 0 where no function says it.
  std::vector<int64_t> getStages() const;
  /// Chunks whose last backward function reduces their gradients (par-fuse-reduction).
  std::set<int64_t> getReducedInLast() const;
  /// True for a module that holds functions of a backward pass.
  bool isDifferentiated() const;

private:
  std::map<std::pair<Phase, int64_t>, func::FuncOp> byPhase;
  SmallVector<func::FuncOp> inOrder;
  SmallVector<int64_t> chunks;
};

/// Whether accumulators are empty when a call begins: those of its chunk alone, and those to which several
/// chunks of the stage add.
struct EmptyAccumulators {
  bool own = false, shared = false;

  /// What the program holds for `input`, a beta.
  double getBeta(InputKind input) const {
    return (input == InputKind::SharedBeta ? shared : own) ? 0.0 : 1.0;
  }
};

/// Says of the calls of a step of one stage, one after the other, which ones find their accumulators empty:
/// beta is 0 there and 1 in all others, whatever the order of micro-batches is.
class Accumulation {
public:
  /// Both are to outlive it.
  Accumulation(const ChunkFunctions &functions, const SymbolTable &symbols)
      : symbols(symbols), functions(functions) {}

  /// Of the next call; an error where some of the function's accumulators of one beta are empty and others
  /// are not.
  FailureOr<EmptyAccumulators> begin(func::FuncOp function);

private:
  bool isShared(FlatSymbolRefAttr accumulator, int64_t stage);
  bool isOnlyReduced(func::FuncOp function, FlatSymbolRefAttr accumulator) const;
  /// What a function adds to: accumulators of its own, and those that other chunks of its stage add to.
  struct Accumulators {
    SmallVector<FlatSymbolRefAttr> own, shared;
  };
  Accumulators find(func::FuncOp function);
  FailureOr<bool> begin(func::FuncOp function, ArrayRef<FlatSymbolRefAttr> accumulators);

  const SymbolTable &symbols;
  const ChunkFunctions &functions;
  llvm::DenseMap<std::pair<Attribute, int64_t>, llvm::SmallDenseSet<int64_t>> adders; ///< chunks
  llvm::DenseSet<Attribute> begun; ///< variables that a call has added to
  llvm::DenseMap<Operation *, EmptyAccumulators>
      later; ///< of functions that were called: of each further call
};

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_PLACES_H
