//===- ParAttributes.cpp - syntax of meshes and of descriptions of state --------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Dialect/Par/IR/Places.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::par;

#include "par/Dialect/Par/IR/ParEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "par/Dialect/Par/IR/AllAttributes.cpp.inc"

void ParDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "par/Dialect/Par/IR/AllAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    int64_t size;
    if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(size))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    sizes.push_back(size);
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(parser.getContext(), names, sizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip(getNames(), getSizes()), printer, [&](auto axis) {
    printer << '"' << std::get<0>(axis).getValue() << "\"=" << std::get<1>(axis);
  });
  printer << "]>";
}

LogicalResult MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes) {
  llvm::StringSet<> seen;
  int64_t ranks = 1;
  for (auto [name, size] : llvm::zip(names, sizes)) {
    if (size < 1)
      return emitError() << "mesh axis \"" << name.getValue() << "\" has size " << size
                         << ", expected at least 1";
    if (name.getValue().empty() || !seen.insert(name.getValue()).second)
      return emitError() << "mesh axis \"" << name.getValue() << "\" is empty or appears twice";
    // Ranks are numbered in 32 bits; products of a shape with sizes of axes stay countable in 64.
    if (llvm::MulOverflow(ranks, size, ranks) || ranks > std::numeric_limits<int32_t>::max())
      return emitError() << "mesh has more than " << std::numeric_limits<int32_t>::max() << " ranks";
  }
  return success();
}

int64_t MeshAttr::getNumRanks() const { return getSize(getNames()); }

int64_t MeshAttr::getPosition(StringRef name) const {
  for (auto [position, axis] : llvm::enumerate(getNames()))
    if (axis.getValue() == name)
      return position;
  return -1;
}

int64_t MeshAttr::getSize(StringRef name) const {
  int64_t position = getPosition(name);
  return position < 0 ? 1 : getSizes()[position];
}

int64_t MeshAttr::getSize(ArrayRef<StringAttr> axes) const {
  int64_t size = 1;
  for (StringAttr axis : axes)
    size *= getSize(axis.getValue());
  return size;
}

SmallVector<StringRef> MeshAttr::getUserAxes(ArrayRef<StringRef> axes) const {
  SmallVector<StringRef> users;
  for (auto [name, size] : llvm::zip(getNames(), getSizes())) {
    StringRef user = getParentAxis(name.getValue());
    if (size > 1 && llvm::is_contained(axes, name.getValue()) && !llvm::is_contained(users, user))
      users.push_back(user);
  }
  return users;
}

//===----------------------------------------------------------------------===//
// Init and file
//===----------------------------------------------------------------------===//

Attribute InitAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  double std = 0.0;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<InitKind> kind = symbolizeInitKind(keyword);
  if (!kind) {
    parser.emitError(loc, "expected normal, zeros or ones, got ") << keyword;
    return {};
  }
  if (*kind == InitKind::Normal && (parser.parseComma() || parser.parseFloat(std)))
    return {};
  std::optional<int64_t> zeroRow;
  if (succeeded(parser.parseOptionalComma())) {
    SMLoc place = parser.getCurrentLocation();
    int64_t row;
    if (parser.parseKeyword("zero_row") || parser.parseEqual() || parser.parseInteger(row))
      return {};
    if (row < 0)
      return parser.emitError(place, "zero_row is ") << row << ", expected at least 0", Attribute();
    zeroRow = row;
  }
  if (parser.parseGreater())
    return {};
  FloatAttr deviation = *kind == InitKind::Normal ? parser.getBuilder().getF64FloatAttr(std) : FloatAttr();
  return InitAttr::get(parser.getContext(), *kind, deviation, zeroRow);
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyInitKind(getKind());
  if (getKind() == InitKind::Normal) {
    printer << ", ";
    printer.printFloat(APFloat(getStd()));
  }
  if (getZeroRow())
    printer << ", zero_row = " << *getZeroRow();
  printer << ">";
}

Attribute FileAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SmallVector<int64_t> shape, permutation;
  if (parser.parseLess() || parser.parseString(&name))
    return {};
  auto parseIntegers = [&](SmallVectorImpl<int64_t> &into) -> ParseResult {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          [&] { return parser.parseInteger(into.emplace_back()); });
  };
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("shape"))) {
      if (parser.parseEqual() || parseIntegers(shape))
        return {};
    } else if (parser.parseKeyword("permutation") || parser.parseEqual() || parseIntegers(permutation)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return FileAttr::get(parser.getContext(), StringAttr::get(parser.getContext(), name), shape, permutation);
}

void FileAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName();
  auto printIntegers = [&](StringRef key, ArrayRef<int64_t> values) {
    if (values.empty())
      return;
    printer << ", " << key << " = [";
    llvm::interleaveComma(values, printer);
    printer << "]";
  };
  printIntegers("shape", getShape());
  printIntegers("permutation", getPermutation());
  printer << ">";
}
