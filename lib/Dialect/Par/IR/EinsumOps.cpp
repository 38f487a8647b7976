//===- EinsumOps.cpp - contractions ---------------------------------------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"
#include <numeric>

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

/// einsum_c1 of one group of letters, einsum_c2 and einsum_c3 of one tensor.
static LogicalResult verifyLetters(EinsumOp op, StringRef letters, Value value, StringRef name) {
  auto type = cast<RankedTensorType>(value.getType());
  if (static_cast<int64_t>(letters.size()) != type.getRank())
    return op.emitOpError("einsum_c2: ")
           << name << " has rank " << type.getRank() << " but letters \"" << letters << "\"";
  LogicalResult verdict = success();
  for (auto [dim, letter] : llvm::enumerate(letters)) {
    if (!llvm::isAlpha(letter))
      verdict = op.emitOpError("einsum_c1: '")
                << letter << "' in \"" << op.getEquation() << "\" is not a letter";
    else if (letters.find(letter) != dim)
      verdict = op.emitOpError("einsum_c2: letter '") << letter << "' appears twice in " << name;
    else if (op.getLetterSize(letter) != type.getDimSize(dim))
      verdict = op.emitOpError("einsum_c3: letter '") << letter << "' has size " << op.getLetterSize(letter)
                                                      << " and, in " << name << ", " << type.getDimSize(dim);
  }
  return verdict;
}

LogicalResult EinsumOp::verify() {
  SmallVector<StringRef> letters = getOperandLetters();
  if (getEquation().count("->") != 1 || letters.size() != getInputs().size() || getInputs().empty())
    return emitOpError("einsum_c1: equation \"")
           << getEquation() << "\" must be letters(,letters)*->letters with one group per operand ("
           << getInputs().size() << ")";
  LogicalResult verdict = success();
  for (auto [number, pair] : llvm::enumerate(llvm::zip(letters, getInputs())))
    if (auto rank = cast<RankedTensorType>(std::get<1>(pair).getType()).getRank();
        static_cast<int64_t>(std::get<0>(pair).size()) != rank)
      verdict = emitOpError("einsum_c2: operand ")
                << number << " has rank " << rank << " but letters \"" << std::get<0>(pair) << "\"";
  if (failed(verdict)) // sizes of letters cannot be read
    return verdict;
  for (auto [number, pair] : llvm::enumerate(llvm::zip(letters, getInputs()))) {
    auto [group, input] = pair;
    std::string name = "operand " + std::to_string(number);
    verdict =
        verifyAll({verdict, verifyElementType(*this, "einsum_c5", name, input, "operand 0", getInputs()[0]),
                   verifyLetters(*this, group, input, name)});
  }
  for (char letter : getResultLetters())
    if (llvm::none_of(letters, [&](StringRef group) { return group.contains(letter); }))
      return emitOpError("einsum_c4: letter '") << letter << "' of the result is in no operand";
  return verifyAll({verdict, verifyLetters(*this, getResultLetters(), getResult(), "the result")});
}

//===----------------------------------------------------------------------===//
// Rule, cost
//===----------------------------------------------------------------------===//

RuleAttr EinsumOp::getShardingRule() {
  RuleBuilder rule(*this);
  SmallVector<StringRef> operands = getOperandLetters();
  for (char letter : collectLetters(*this)) {
    bool kept = getResultLetters().contains(letter);
    int64_t factor =
        rule.addFactor(getLetterSize(letter), kept ? FactorKind::PassThrough : FactorKind::Reduction);
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

OpClass EinsumOp::getOpClass() { return OpClass::Contraction; }

FailureOr<Value> EinsumOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  llvm::SmallDenseMap<char, Value> position;
  for (auto [letter, each] : llvm::zip(getResultLetters(), index))
    position[letter] = each;
  std::string summed;
  SmallVector<int64_t> sizes;
  for (StringRef letters : getOperandLetters())
    for (char letter : letters)
      if (!getResultLetters().contains(letter) && summed.find(letter) == std::string::npos) {
        summed += letter;
        sizes.push_back(getLetterSize(letter));
      }
  // Products and sums have the widest of the types, at least f32.
  Type type = ElementBuilder::getHeldType(getResult());
  if (Type operands = ElementBuilder::getHeldType(getInputs()[0]);
      operands.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    type = operands;
  auto product = [&](ArrayRef<Value> inner) -> FailureOr<Value> {
    for (auto [letter, each] : llvm::zip(summed, inner))
      position[letter] = each;
    Value result;
    for (auto [letters, input] : llvm::zip(getOperandLetters(), getInputs())) {
      Index source;
      for (char letter : letters)
        source.push_back(position[letter]);
      FailureOr<Value> element = b.evaluate(input, source);
      if (failed(element))
        return failure();
      Value wide = b.round(*element, type);
      result = result ? b.create<arith::MulFOp>(result, wide) : wide;
    }
    return result;
  };
  FailureOr<Value> result = sizes.empty() ? product({}) : b.reduce(sizes, type, ReduceKind::Sum, product);
  return failed(result) ? result : b.round(*result, getElementTypeOrSelf(getResult()));
}

/// What the runtime does not multiply is a generated loop.
KernelKind EinsumOp::getKernelKind() { return matchGemm(*this) ? KernelKind::Gemm : KernelKind::Primitive; }

bool EinsumOp::mayWidenResults() { return true; }

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

/// The cotangent of operand `number`: the result's cotangent contracted with the other operands, letters that
/// only this operand has being repeated.
static Value differentiateOperand(EinsumOp op, OpBuilder &builder, Value cotangent, unsigned number) {
  SmallVector<StringRef> letters = op.getOperandLetters();
  auto type = cast<RankedTensorType>(op.getInputs()[number].getType());
  std::string equation = op.getResultLetters().str(), available = equation;
  // The operands of a contraction share one type, its result may have another.
  SmallVector<Value> inputs = {convertFloat(builder, cotangent.getLoc(), cotangent, type.getElementType())};
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
  Value result = builder.create<EinsumOp>(op.getLoc(), type.clone(shape), equation + "->" + kept, inputs,
                                          op.getAccTypeAttr());
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
/// One letter: its size and its step through every operand and, last, the result.
struct EinsumLoop {
  int64_t size = 0;
  SmallVector<int64_t> steps;
};

/// Loops over all letters with one running offset per tensor.
struct EinsumLoops {
  std::vector<EinsumLoop> loops;
  ArrayRef<Tensor> operands;
  std::vector<double> &result;

  /// The smallest steps innermost: what is read and written together lies together.
  void order() {
    auto stride = [](const EinsumLoop &loop) {
      return std::accumulate(loop.steps.begin(), loop.steps.end(), int64_t(0));
    };
    std::stable_sort(loops.begin(), loops.end(),
                     [&](const EinsumLoop &a, const EinsumLoop &b) { return stride(a) > stride(b); });
  }

  void run(unsigned depth, SmallVector<int64_t> offsets) {
    if (depth == loops.size()) {
      double product = 1;
      for (auto [operand, offset] : llvm::zip(operands, offsets))
        product *= operand.values[offset];
      result[offsets.back()] += product;
      return;
    }
    if (depth + 1 == loops.size() && operands.size() == 2)
      return runInnermost(loops[depth], offsets);
    for (int64_t index = 0; index < loops[depth].size; ++index) {
      run(depth + 1, offsets);
      for (auto [offset, step] : llvm::zip(offsets, loops[depth].steps))
        offset += step;
    }
  }

  void runInnermost(const EinsumLoop &loop, ArrayRef<int64_t> offsets) {
    const double *a = operands[0].values.data() + offsets[0], *b = operands[1].values.data() + offsets[1];
    double *c = result.data() + offsets[2];
    for (int64_t index = 0; index < loop.size; ++index)
      c[index * loop.steps[2]] += a[index * loop.steps[0]] * b[index * loop.steps[1]];
  }
};
} // namespace

LogicalResult EinsumOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                  InterpreterContext &) {
  EinsumLoops loops{{}, operands, results[0].values};
  auto stepOf = [](StringRef group, const Tensor &tensor, char letter) {
    size_t dim = group.find(letter);
    return dim == StringRef::npos ? 0 : rowMajorStrides(tensor.shape())[dim];
  };
  for (char letter : collectLetters(*this)) {
    EinsumLoop &loop = loops.loops.emplace_back();
    loop.size = getLetterSize(letter);
    for (auto [group, operand] : llvm::zip(getOperandLetters(), operands))
      loop.steps.push_back(stepOf(group, operand, letter));
    loop.steps.push_back(stepOf(getResultLetters(), results[0], letter));
  }
  loops.order();
  std::fill(results[0].values.begin(), results[0].values.end(), 0.0);
  loops.run(0, SmallVector<int64_t>(operands.size() + 1, 0));
  return success();
}
