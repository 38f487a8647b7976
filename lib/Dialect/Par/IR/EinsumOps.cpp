//===- EinsumOps.cpp - contractions -------------------------------------------------------------------------===//
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/EinsumOps.cpp.inc"

SmallVector<StringRef> EinsumOp::getOperandLetters() {
  SmallVector<StringRef> letters;
  getEquation().split("->").first.split(letters, ',');
  return letters;
}

StringRef EinsumOp::getResultLetters() { return getEquation().split("->").second; }

int64_t EinsumOp::getLetterSize(char letter) {
  for (auto [letters, input] : llvm::zip(getOperandLetters(), getInputs()))
    if (size_t dim = letters.find(letter); dim != StringRef::npos)
      return cast<RankedTensorType>(input.getType()).getDimSize(dim);
  return 1;
}

/// Every letter once, those of the operands in order of appearance.
static std::string collectLetters(EinsumOp op) {
  std::string letters;
  for (StringRef group : op.getOperandLetters())
    for (char letter : group)
      if (letters.find(letter) == std::string::npos)
        letters += letter;
  return letters;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyLetters(EinsumOp op, StringRef letters, Value value, StringRef name) {
  auto type = cast<RankedTensorType>(value.getType());
  if (static_cast<int64_t>(letters.size()) != type.getRank())
    return op.emitOpError("einsum_c2: ") << name << " has rank " << type.getRank() << " but letters \"" << letters << "\"";
  for (auto [dim, letter] : llvm::enumerate(letters)) {
    if (!llvm::isAlpha(letter))
      return op.emitOpError("einsum_c1: '") << letter << "' in \"" << op.getEquation() << "\" is not a letter";
    if (letters.count(letter) > 1)
      return op.emitOpError("einsum_c2: letter '") << letter << "' appears twice in " << name;
    if (op.getLetterSize(letter) != type.getDimSize(dim))
      return op.emitOpError("einsum_c3: letter '") << letter << "' has size " << op.getLetterSize(letter) << " and, in "
                                                   << name << ", " << type.getDimSize(dim);
  }
  return success();
}

LogicalResult EinsumOp::verify() {
  SmallVector<StringRef> letters = getOperandLetters();
  if (getEquation().count("->") != 1 || letters.size() != getInputs().size() || getInputs().empty())
    return emitOpError("einsum_c1: equation \"")
           << getEquation() << "\" must be letters(,letters)*->letters with one group per operand (" << getInputs().size()
           << ")";
  for (auto [number, pair] : llvm::enumerate(llvm::zip(letters, getInputs()))) {
    auto [group, input] = pair;
    if (cast<RankedTensorType>(input.getType()).getElementType() !=
        cast<RankedTensorType>(getInputs()[0].getType()).getElementType())
      return emitOpError("einsum_c5: operand ") << number << " is " << input.getType() << ", expected the element type of "
                                                << getInputs()[0].getType();
    if (static_cast<int64_t>(group.size()) != cast<RankedTensorType>(input.getType()).getRank())
      return emitOpError("einsum_c2: operand ") << number << " has rank "
                                                << cast<RankedTensorType>(input.getType()).getRank() << " but letters \""
                                                << group << "\"";
  }
  for (auto [number, pair] : llvm::enumerate(llvm::zip(letters, getInputs())))
    if (failed(verifyLetters(*this, std::get<0>(pair), std::get<1>(pair), "operand " + std::to_string(number))))
      return failure();
  for (char letter : getResultLetters())
    if (llvm::none_of(letters, [&](StringRef group) { return group.contains(letter); }))
      return emitOpError("einsum_c4: letter '") << letter << "' of the result is in no operand";
  return verifyLetters(*this, getResultLetters(), getResult(), "the result");
}

//===----------------------------------------------------------------------===//
// Rule, cost
//===----------------------------------------------------------------------===//

RuleAttr EinsumOp::getShardingRule() {
  RuleBuilder rule(*this);
  SmallVector<StringRef> operands = getOperandLetters();
  for (char letter : collectLetters(*this)) {
    bool kept = getResultLetters().contains(letter);
    int64_t factor = rule.addFactor(getLetterSize(letter), kept ? FactorKind::PassThrough : FactorKind::Reduction);
    for (auto [number, group] : llvm::enumerate(operands))
      if (size_t dim = group.find(letter); dim != StringRef::npos)
        rule.mapOperand(number, dim, factor);
    if (kept)
      rule.mapResult(0, getResultLetters().find(letter), factor);
  }
  for (int64_t operand = 0; operand < static_cast<int64_t>(operands.size()); ++operand)
    rule.addLinear({operand});
  return rule.build();
}

double EinsumOp::getFlops() {
  double product = getInputs().size() > 1 ? 2 : 1;
  for (char letter : collectLetters(*this))
    product *= static_cast<double>(getLetterSize(letter));
  return product;
}

KernelKind EinsumOp::getKernelKind() { return matchGemm(*this) ? KernelKind::Gemm : KernelKind::Primitive; }

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

/// The cotangent of operand `number`: the result's cotangent contracted with the other operands, letters that only this operand has
/// being repeated.
static Value differentiateOperand(EinsumOp op, OpBuilder &builder, Value cotangent, unsigned number) {
  SmallVector<StringRef> letters = op.getOperandLetters();
  auto type = cast<RankedTensorType>(op.getInputs()[number].getType());
  std::string equation = op.getResultLetters().str(), available = equation;
  SmallVector<Value> inputs = {cotangent};
  for (auto [other, group] : llvm::enumerate(letters)) {
    if (other == number)
      continue;
    equation += "," + group.str();
    available += group.str();
    inputs.push_back(op.getInputs()[other]);
  }
  std::string kept;
  SmallVector<int64_t> shape, missing;
  for (auto [dim, letter] : llvm::enumerate(letters[number])) {
    if (available.find(letter) == std::string::npos) {
      missing.push_back(dim);
      continue;
    }
    kept += letter;
    shape.push_back(type.getDimSize(dim));
  }
  Value result = builder.create<EinsumOp>(op.getLoc(), type.clone(shape), equation + "->" + kept, inputs, op.getAccTypeAttr());
  if (!missing.empty())
    result = builder.create<ExpandOp>(op.getLoc(), type, result, missing);
  return result;
}

LogicalResult EinsumOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0])
    return success();
  for (unsigned number = 0; number < getInputs().size(); ++number)
    if (needed[number])
      operandCotangents[number] = differentiateOperand(*this, builder, cotangents[0], number);
  return success();
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

namespace {
/// Loops over all letters, result letters outermost, with one running offset per tensor.
struct EinsumLoops {
  SmallVector<int64_t> sizes;
  /// Per letter, the step of every operand and, last, of the result.
  SmallVector<SmallVector<int64_t>> steps;
  ArrayRef<Tensor> operands;
  std::vector<double> &result;

  void run(unsigned depth, SmallVector<int64_t> offsets) {
    if (depth == sizes.size()) {
      double product = 1;
      for (auto [operand, offset] : llvm::zip(operands, offsets))
        product *= operand.values[offset];
      result[offsets.back()] += product;
      return;
    }
    if (depth + 1 == sizes.size() && operands.size() == 2)
      return runInnermost(depth, offsets);
    for (int64_t index = 0; index < sizes[depth]; ++index) {
      run(depth + 1, offsets);
      for (unsigned tensor = 0; tensor < offsets.size(); ++tensor)
        offsets[tensor] += steps[depth][tensor];
    }
  }

  void runInnermost(unsigned depth, ArrayRef<int64_t> offsets) {
    const double *a = &operands[0].values[offsets[0]], *b = &operands[1].values[offsets[1]];
    double *c = &result[offsets[2]];
    int64_t stepA = steps[depth][0], stepB = steps[depth][1], stepC = steps[depth][2];
    for (int64_t index = 0; index < sizes[depth]; ++index)
      c[index * stepC] += a[index * stepA] * b[index * stepB];
  }
};
} // namespace

LogicalResult EinsumOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results, InterpreterContext &) {
  SmallVector<StringRef> groups = getOperandLetters();
  std::string letters = getResultLetters().str();
  for (char letter : collectLetters(*this))
    if (letters.find(letter) == std::string::npos)
      letters += letter;
  EinsumLoops loops{{}, {}, operands, results[0].values};
  auto step = [](StringRef group, ArrayRef<int64_t> shape, char letter) {
    size_t dim = group.find(letter);
    return dim == StringRef::npos ? 0 : rowMajorStrides(shape)[dim];
  };
  for (char letter : letters) {
    loops.sizes.push_back(0);
    SmallVector<int64_t> steps;
    for (auto [group, operand] : llvm::zip(groups, operands)) {
      steps.push_back(step(group, operand.shape(), letter));
      if (size_t dim = group.find(letter); dim != StringRef::npos)
        loops.sizes.back() = operand.shape()[dim];
    }
    steps.push_back(step(getResultLetters(), results[0].shape(), letter));
    loops.steps.push_back(steps);
  }
  std::fill(results[0].values.begin(), results[0].values.end(), 0.0);
  loops.run(0, SmallVector<int64_t>(operands.size() + 1, 0));
  return success();
}
