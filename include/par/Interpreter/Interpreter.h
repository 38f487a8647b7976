//===- Interpreter.h - evaluates functions of the par dialect ---------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_INTERPRETER_H
#define PAR_INTERPRETER_INTERPRETER_H

#include "par/Dialect/Par/IR/Par.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::par {

/// Values of one place (an argument, a result) on every rank, or of every place on one rank.
using Tensors = std::vector<Tensor>;

/// Evaluates functions in f64 on all ranks of a mesh in lockstep: every op is evaluated for all ranks before
/// the next one, and members of a group exchange data where the op is a collective. Without a mesh there is
/// one rank and every op is taken to be global. It works on any function of tensors whose ops implement
/// InterpretableOpInterface or CollectiveOpInterface, or are par.call, func.call and func.return.
///
/// What an op gives is rounded to its element type where that is bf16 or f16, collectives included: that is
/// where compiled programs round too. f32 is not rounded.
class Interpreter {
public:
  /// `mesh` null: one rank. Functions are looked up by name as they were at construction.
  explicit Interpreter(ModuleOp module, MeshAttr mesh = {});

  int64_t getNumRanks() const { return numRanks; }
  MeshAttr getMesh() const { return mesh; }
  ModuleOp getModule() const { return module; }
  /// Off: bf16 and f16 stay f64 as well, so that programs that mean the same give the same whatever order
  /// they compute in.
  void setRounding(bool on) { rounding = on; }
  bool isRounding() const { return rounding; }

  /// `arguments[rank][i]` → result[rank][i]. Failure after emitting an error at the op concerned: no
  /// interpretation, unknown callee, recursion, wrong number or shape of arguments.
  FailureOr<std::vector<Tensors>> run(func::FuncOp function, std::vector<Tensors> arguments);
  /// One rank only.
  FailureOr<Tensors> run(func::FuncOp function, Tensors arguments);
  /// The ops of a block on the values of its arguments; the operands of its terminator. Types are not
  /// checked.
  FailureOr<std::vector<Tensors>> run(Block &block, std::vector<Tensors> arguments);
  /// Null if the module has no such function.
  func::FuncOp lookup(StringRef name);

private:
  /// Values by rank.
  using Frame = llvm::DenseMap<Value, Tensors>;
  LogicalResult checkArguments(func::FuncOp function, const std::vector<Tensors> &arguments);
  LogicalResult evaluate(Operation &op, Frame &frame);
  LogicalResult evaluateCall(Operation &op, StringRef callee, Frame &frame);
  LogicalResult evaluateParts(CallOp call, Frame &frame);
  LogicalResult evaluateCollective(Operation &op, Frame &frame);
  LogicalResult evaluateLocal(Operation &op, Frame &frame);
  std::vector<Tensors> gatherOperands(Operation &op, const Frame &frame) const;
  std::vector<Tensors> makeResults(Operation &op) const;
  void store(Operation &op, std::vector<Tensors> results, Frame &frame) const;

  ModuleOp module;
  MeshAttr mesh;
  int64_t numRanks;
  bool rounding = true;
  SymbolTable symbols;
  llvm::SmallPtrSet<Operation *, 8> active; ///< functions being evaluated
};

} // namespace mlir::par

#endif // PAR_INTERPRETER_INTERPRETER_H
