//===- RuleAttr.cpp - sharding rules: syntax, queries and builder ---------------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

namespace {
/// Factors are numbered in the order in which their names first appear.
struct RuleParser {
  AsmParser &parser;
  llvm::StringMap<int64_t> numbers = {};

  int64_t number(StringRef name) { return numbers.try_emplace(name, numbers.size()).first->second; }

  ParseResult parseDim(SmallVectorImpl<DenseI64ArrayAttr> &dims) {
    SmallVector<int64_t> factors;
    if (!parser.parseOptionalInteger(unit).has_value()) {
      do {
        StringRef name;
        if (parser.parseKeyword(&name))
          return failure();
        factors.push_back(number(name));
      } while (succeeded(parser.parseOptionalStar()));
    }
    dims.push_back(DenseI64ArrayAttr::get(parser.getContext(), factors));
    return success();
  }

  ParseResult parseTensors(SmallVectorImpl<TensorFactorsAttr> &tensors) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
      SmallVector<DenseI64ArrayAttr> dims;
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parseDim(dims); }))
        return failure();
      tensors.push_back(TensorFactorsAttr::get(parser.getContext(), dims));
      return success();
    });
  }

  ParseResult parseSizes(SmallVectorImpl<int64_t> &sizes) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
      StringRef name;
      int64_t size;
      if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseInteger(size))
        return failure();
      size_t factor = number(name);
      if (sizes.size() <= factor)
        sizes.resize(factor + 1, 1);
      sizes[factor] = size;
      return success();
    });
  }

  int64_t unit = 1;
};
} // namespace

static ParseResult parseTail(RuleParser &rule, SmallVectorImpl<FactorKind> &kinds,
                             SmallVectorImpl<DenseI64ArrayAttr> &linear) {
  AsmParser &parser = rule.parser;
  StringRef keyword;
  while (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (parser.parseEqual())
      return failure();
    if (keyword == "linear") {
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
            SmallVector<int64_t> set;
            if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                               [&] { return parser.parseInteger(set.emplace_back()); }))
              return failure();
            linear.push_back(DenseI64ArrayAttr::get(parser.getContext(), set));
            return success();
          }))
        return failure();
      continue;
    }
    std::optional<FactorKind> kind = symbolizeFactorKind(keyword);
    if (!kind)
      return parser.emitError(parser.getNameLoc(), "unknown factor kind ") << keyword;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
          StringRef name;
          if (parser.parseKeyword(&name))
            return failure();
          size_t factor = rule.number(name);
          if (kinds.size() <= factor)
            kinds.resize(factor + 1, FactorKind::PassThrough);
          kinds[factor] = *kind;
          return success();
        }))
      return failure();
  }
  return success();
}

Attribute RuleAttr::parse(AsmParser &parser, Type) {
  RuleParser rule{parser};
  SmallVector<TensorFactorsAttr> operands, results;
  SmallVector<int64_t> sizes;
  SmallVector<FactorKind> kinds;
  SmallVector<DenseI64ArrayAttr> linear;
  if (parser.parseLess() || rule.parseTensors(operands) || parser.parseArrow() ||
      rule.parseTensors(results) || rule.parseSizes(sizes) || parseTail(rule, kinds, linear) ||
      parser.parseGreater())
    return {};
  sizes.resize(rule.numbers.size(), 1);
  kinds.resize(rule.numbers.size(), FactorKind::PassThrough);
  return RuleAttr::getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(),
                              ArrayRef<TensorFactorsAttr>(operands), ArrayRef<TensorFactorsAttr>(results),
                              ArrayRef<int64_t>(sizes), ArrayRef<FactorKind>(kinds),
                              ArrayRef<DenseI64ArrayAttr>(linear));
}

static void printTensors(AsmPrinter &printer, ArrayRef<TensorFactorsAttr> tensors) {
  printer << "(";
  llvm::interleaveComma(tensors, printer, [&](TensorFactorsAttr tensor) {
    printer << "[";
    llvm::interleaveComma(tensor.getDims(), printer, [&](DenseI64ArrayAttr dim) {
      if (dim.empty())
        printer << "1";
      llvm::interleave(
          dim.asArrayRef(), printer, [&](int64_t factor) { printer << RuleAttr::getFactorName(factor); },
          "*");
    });
    printer << "]";
  });
  printer << ")";
}

static void printKind(AsmPrinter &printer, RuleAttr rule, FactorKind kind) {
  SmallVector<std::string> names;
  for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
    if (rule.getKinds()[factor] == kind)
      names.push_back(RuleAttr::getFactorName(factor));
  if (names.empty())
    return;
  printer << " " << stringifyFactorKind(kind) << "={";
  llvm::interleaveComma(names, printer);
  printer << "}";
}

void RuleAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printTensors(printer, getOperands());
  printer << "->";
  printTensors(printer, getResults());
  printer << " {";
  llvm::interleaveComma(llvm::enumerate(getSizes()), printer,
                        [&](auto it) { printer << getFactorName(it.index()) << "=" << it.value(); });
  printer << "}";
  for (FactorKind kind : {FactorKind::Reduction, FactorKind::NeedReplication, FactorKind::Permutation})
    printKind(printer, *this, kind);
  if (!getLinear().empty()) {
    printer << " linear=[";
    llvm::interleaveComma(getLinear(), printer, [&](DenseI64ArrayAttr set) {
      printer << "{";
      llvm::interleaveComma(set.asArrayRef(), printer);
      printer << "}";
    });
    printer << "]";
  }
  printer << ">";
}

Attribute TensorFactorsAttr::parse(AsmParser &parser, Type) {
  SmallVector<DenseI64ArrayAttr> dims;
  auto parseDim = [&]() -> ParseResult {
    SmallVector<int64_t> factors;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       [&] { return parser.parseInteger(factors.emplace_back()); }))
      return failure();
    dims.push_back(DenseI64ArrayAttr::get(parser.getContext(), factors));
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseGreater())
    return {};
  return TensorFactorsAttr::get(parser.getContext(), dims);
}

void TensorFactorsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](DenseI64ArrayAttr dim) {
    printer << "[";
    llvm::interleaveComma(dim.asArrayRef(), printer);
    printer << "]";
  });
  printer << "]>";
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

std::string RuleAttr::getFactorName(int64_t factor) {
  std::string name(1, static_cast<char>('a' + factor % 26));
  return factor < 26 ? name : name + std::to_string(factor / 26);
}

static int64_t majorFactor(TensorFactorsAttr tensor, int64_t dim) {
  DenseI64ArrayAttr factors = tensor.getDims()[dim];
  return factors.empty() ? -1 : factors[0];
}

int64_t RuleAttr::getOperandFactor(int64_t operand, int64_t dim) const {
  return majorFactor(getOperands()[operand], dim);
}
int64_t RuleAttr::getResultFactor(int64_t result, int64_t dim) const {
  return majorFactor(getResults()[result], dim);
}

static bool hasFactor(TensorFactorsAttr tensor, int64_t factor) {
  return llvm::any_of(tensor.getDims(),
                      [&](DenseI64ArrayAttr dim) { return llvm::is_contained(dim.asArrayRef(), factor); });
}

bool RuleAttr::operandHas(int64_t operand, int64_t factor) const {
  return hasFactor(getOperands()[operand], factor);
}
bool RuleAttr::resultHas(int64_t result, int64_t factor) const {
  return hasFactor(getResults()[result], factor);
}

bool RuleAttr::maySplit(int64_t factor) const {
  if (getKinds()[factor] == FactorKind::NeedReplication)
    return false;
  auto isMinor = [&](TensorFactorsAttr tensor) {
    return llvm::any_of(tensor.getDims(), [&](DenseI64ArrayAttr dim) {
      return !dim.empty() && llvm::is_contained(dim.asArrayRef().drop_front(), factor);
    });
  };
  return llvm::none_of(getOperands(), isMinor) && llvm::none_of(getResults(), isMinor);
}

LogicalResult RuleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<TensorFactorsAttr>, ArrayRef<TensorFactorsAttr> results,
                               ArrayRef<int64_t> sizes, ArrayRef<FactorKind> kinds,
                               ArrayRef<DenseI64ArrayAttr>) {
  if (sizes.size() != kinds.size())
    return emitError() << "rule has " << sizes.size() << " factor sizes and " << kinds.size() << " kinds";
  for (auto [factor, kind] : llvm::enumerate(kinds))
    for (auto [number, result] : llvm::enumerate(results))
      if (kind == FactorKind::PassThrough && !hasFactor(result, factor))
        return emitError() << "rule_c1: factor " << getFactorName(factor) << " is pass_through but result "
                           << number << " lacks it; make it reduction, permutation or need_replication";
  return success();
}

/// rule_c2 for one operand or result.
static bool verifyFactors(Operation *op, RuleAttr rule, TensorFactorsAttr factors, Type type,
                          const Twine &name) {
  bool valid = true;
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(type).getShape())) {
    int64_t product = 1;
    for (int64_t factor : factors.getDims()[dim].asArrayRef())
      product *= rule.getSizes()[factor];
    if (product == size)
      continue;
    op->emitOpError("rule_c2: dimension ") << dim << " of " << name << " has size " << size
                                           << ", its factors multiply to " << product << ": " << rule;
    valid = false;
  }
  return valid;
}

LogicalResult RuleAttr::verifyFor(Operation *op) const {
  bool valid = true;
  for (auto [number, type] : llvm::enumerate(op->getOperandTypes()))
    valid &= verifyFactors(op, *this, getOperands()[number], type, "operand " + Twine(number));
  for (auto [number, type] : llvm::enumerate(op->getResultTypes()))
    valid &= verifyFactors(op, *this, getResults()[number], type, "result " + Twine(number));
  return success(valid);
}

//===----------------------------------------------------------------------===//
// Builder
//===----------------------------------------------------------------------===//

RuleBuilder::RuleBuilder(Operation *op) : context(op->getContext()) {
  for (Value operand : op->getOperands())
    operands.emplace_back(cast<RankedTensorType>(operand.getType()).getRank());
  for (Value result : op->getResults())
    results.emplace_back(cast<RankedTensorType>(result.getType()).getRank());
}

int64_t RuleBuilder::addFactor(int64_t size, FactorKind kind) {
  sizes.push_back(size);
  kinds.push_back(kind);
  return sizes.size() - 1;
}

RuleBuilder &RuleBuilder::mapOperand(int64_t operand, int64_t dim, int64_t factor) {
  operands[operand][dim].push_back(factor);
  return *this;
}

RuleBuilder &RuleBuilder::mapResult(int64_t result, int64_t dim, int64_t factor) {
  results[result][dim].push_back(factor);
  return *this;
}

RuleBuilder &RuleBuilder::addLinear(ArrayRef<int64_t> set) {
  linear.emplace_back(set);
  return *this;
}

TensorFactorsAttr RuleBuilder::makeFactors(const SmallVector<SmallVector<int64_t>> &tensor) const {
  SmallVector<DenseI64ArrayAttr> dims;
  for (const auto &dim : tensor)
    dims.push_back(DenseI64ArrayAttr::get(context, dim));
  return TensorFactorsAttr::get(context, dims);
}

RuleAttr RuleBuilder::build() const {
  // Most operands and results of an op have the same factors: what the last one had is not made anew.
  const SmallVector<SmallVector<int64_t>> *last = nullptr;
  TensorFactorsAttr made;
  auto convert = [&](const SmallVector<SmallVector<SmallVector<int64_t>>> &tensors) {
    SmallVector<TensorFactorsAttr> attributes;
    for (const auto &tensor : tensors) {
      if (!last || *last != tensor)
        made = makeFactors(tensor);
      last = &tensor;
      attributes.push_back(made);
    }
    return attributes;
  };
  SmallVector<DenseI64ArrayAttr> sets;
  for (const auto &set : linear)
    sets.push_back(DenseI64ArrayAttr::get(context, set));
  SmallVector<TensorFactorsAttr> read = convert(operands), written = convert(results);
  return RuleAttr::get(context, read, written, sizes, kinds, sets);
}

RuleAttr RuleBuilder::pointwise(Operation *op, ArrayRef<SmallVector<int64_t>> linear) {
  RuleBuilder rule(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    int64_t factor = rule.addFactor(size);
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (cast<RankedTensorType>(operand.getType()).getRank() != 0)
        rule.mapOperand(number, dim, factor);
    for (unsigned number = 0; number < op->getNumResults(); ++number)
      rule.mapResult(number, dim, factor);
  }
  for (ArrayRef<int64_t> set : linear)
    rule.addLinear(set);
  return rule.build();
}
