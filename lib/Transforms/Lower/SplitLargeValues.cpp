//===- SplitLargeValues.cpp - values too large to exist whole are computed in parts ---------------------===//
#include "Split.h"
#include "par/Target/Target.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SPLITLARGEVALUES
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct SplitLargeValues : par::impl::SplitLargeValuesBase<SplitLargeValues> {
  using SplitLargeValuesBase::SplitLargeValuesBase;

  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (limit < 0)
      limit = target->limits.largestValue;
    if (leastRows < 0)
      leastRows = target->limits.leastRows;
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> work(getOperation().getOps<func::FuncOp>());
    // Every split leaves smaller values: an end comes by itself.
    while (!work.empty()) {
      func::FuncOp function = work.pop_back_val();
      while (func::FuncOp part = function.isExternal() ? func::FuncOp() : splitOne(function, symbols))
        work.push_back(part);
    }
  }

  /// The function of the parts; null if nothing is left to split.
  func::FuncOp splitOne(func::FuncOp function, SymbolTable &symbols) {
    // Only products make large values from small ones, so only theirs can vanish.
    for (auto einsum : function.getOps<EinsumOp>())
      if (rank::getBytes(einsum.getType()) > limit)
        if (func::FuncOp part = split(einsum, symbols))
          return part;
    return {};
  }

  /// All leading dimensions at once, else one of them.
  func::FuncOp split(EinsumOp einsum, SymbolTable &symbols) {
    int64_t leading = einsum.getType().getRank() - 1;
    if (func::FuncOp part = leading > 1 ? split(einsum, 0, leading, symbols) : func::FuncOp())
      return part;
    for (int64_t dim = 0; dim < leading; ++dim)
      if (func::FuncOp part = split(einsum, dim, 1, symbols))
        return part;
    return {};
  }

  func::FuncOp split(EinsumOp einsum, int64_t first, int64_t count, SymbolTable &symbols) {
    RankedTensorType type = einsum.getType();
    int64_t size = 1, rows = type.getNumElements() / type.getShape().back(), operandBytes = 0;
    for (int64_t dim = first; dim < first + count; ++dim) {
      size *= type.getDimSize(dim);
      operandBytes = std::max(operandBytes, getOperandBytes(einsum, dim));
    }
    int64_t parts = chooseParts(size, rows, rank::getBytes(type));
    if (parts == 1 || isPassedOn(operandBytes, rank::getBytes(type)))
      return {};
    // What is no larger than the product's own operand exists whole anyway.
    Split split(einsum, first, count, std::max<int64_t>(limit, operandBytes));
    return split.close() ? callInParts(split, parts, symbols) : func::FuncOp();
  }

  /// An operand about as large has the rows too: little would be won. (Logits are larger than what they
  /// are made of by the ratio of vocabulary and width, 8 and more; what is inside an MLP by 4 at most.)
  static bool isPassedOn(int64_t operandBytes, int64_t bytes) {
    constexpr int64_t worthwhile = 4;
    return operandBytes * worthwhile >= bytes;
  }

  /// Of the largest operand that has the result's dimension.
  static int64_t getOperandBytes(EinsumOp op, int64_t dim) {
    int64_t bytes = 0;
    char letter = op.getResultLetters()[dim];
    for (auto [letters, operand] : llvm::zip(op.getOperandLetters(), op.getInputs()))
      if (letters.contains(letter))
        bytes = std::max(bytes, rank::getBytes(operand.getType()));
    return bytes;
  }

  /// The fewest parts that are within the limit, as far as parts of `leastRows` rows can be.
  int64_t chooseParts(int64_t size, int64_t rows, int64_t bytes) const {
    int64_t fitting = 0, most = 1;
    auto consider = [&](int64_t parts) {
      if (parts == 1 || rows / parts < leastRows)
        return;
      most = std::max(most, parts);
      if (bytes / parts <= limit)
        fitting = fitting ? std::min(fitting, parts) : parts;
    };
    // Divisors come in pairs.
    for (int64_t divisor = 1; divisor <= size / divisor; ++divisor)
      if (size % divisor == 0) {
        consider(divisor);
        consider(size / divisor);
      }
    return fitting ? fitting : most;
  }
};
} // namespace
