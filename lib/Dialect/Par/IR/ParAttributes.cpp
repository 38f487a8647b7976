//===- ParAttributes.cpp - syntax of meshes and of descriptions of state --------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Dialect/Par/IR/Places.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cstdio>
#include <cstdlib>

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

/// `ep = ["dp.1", "tp"]`.
static ParseResult parseView(AsmParser &parser, SmallVectorImpl<MeshViewAttr> &views) {
  std::string name;
  SmallVector<StringAttr> axes;
  auto parseAxis = [&]() -> ParseResult {
    std::string axis;
    if (parser.parseString(&axis))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), axis));
    return success();
  };
  if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return failure();
  views.push_back(MeshViewAttr::get(parser.getContext(), StringAttr::get(parser.getContext(), name), axes));
  return success();
}

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
  SmallVector<MeshViewAttr> views;
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
      (succeeded(parser.parseOptionalComma()) &&
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                      [&] { return parseView(parser, views); })) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(parser.getContext(), names, sizes, views);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip(getNames(), getSizes()), printer, [&](auto axis) {
    printer << '"' << std::get<0>(axis).getValue() << "\"=" << std::get<1>(axis);
  });
  printer << "]";
  if (!getViews().empty()) {
    printer << ", {";
    llvm::interleaveComma(getViews(), printer, [&](MeshViewAttr view) {
      printer.printKeywordOrString(view.getName().getValue());
      printer << " = [";
      llvm::interleaveComma(view.getAxes(), printer);
      printer << "]";
    });
    printer << "}";
  }
  printer << ">";
}

/// A view has a name of its own, and axes of the mesh, each once.
static LogicalResult verifyView(llvm::function_ref<InFlightDiagnostic()> emitError, MeshViewAttr view,
                                ArrayRef<StringAttr> names, llvm::StringSet<> &seen) {
  StringRef name = view.getName().getValue();
  const auto *part = llvm::find_if(names, [&](StringAttr axis) { return isPartOf(axis.getValue(), name); });
  if (part != names.end())
    return emitError() << "mesh view \"" << name << "\" has the name of the axis " << *part
                       << " or of what it is a part of; give it another";
  if (name.empty() || !seen.insert(name).second)
    return emitError() << "mesh view \"" << name << "\" is empty or appears twice";
  llvm::SmallDenseSet<StringAttr> used;
  for (StringAttr axis : view.getAxes())
    if (!llvm::is_contained(names, axis) || !used.insert(axis).second)
      return emitError() << "mesh view \"" << name << "\": " << axis
                         << " is not an axis of the mesh, or appears twice";
  return success();
}

LogicalResult MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes, ArrayRef<MeshViewAttr> views) {
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
  for (MeshViewAttr view : views)
    if (failed(verifyView(emitError, view, names, seen)))
      return failure();
  return success();
}

int64_t MeshAttr::getNumRanks() const { return getSize(getNames()); }

int64_t MeshAttr::getPosition(StringRef name) const {
  for (auto [position, axis] : llvm::enumerate(getNames()))
    if (axis.getValue() == name)
      return position;
  return -1;
}

bool MeshAttr::hasName(StringRef name) const {
  return llvm::any_of(getViews(), [&](MeshViewAttr view) { return view.getName().getValue() == name; }) ||
         llvm::any_of(getNames(), [&](StringAttr axis) { return isPartOf(axis.getValue(), name); });
}

SmallVector<StringAttr> MeshAttr::getAxes(StringRef name) const {
  for (MeshViewAttr view : getViews())
    if (view.getName().getValue() == name)
      return SmallVector<StringAttr>(view.getAxes());
  SmallVector<StringAttr> axes;
  for (StringAttr axis : getNames())
    if (isPartOf(axis.getValue(), name))
      axes.push_back(axis);
  return axes;
}

SmallVector<StringAttr> MeshAttr::getAxes(AxisRole role) const {
  SmallVector<StringAttr> axes;
  for (auto [axis, size] : llvm::zip(getNames(), getSizes()))
    if (size > 1 && hasRole(axis.getValue(), role))
      axes.push_back(axis);
  return axes;
}

int64_t MeshAttr::getSize(StringRef name) const {
  if (int64_t position = getPosition(name); position >= 0)
    return getSizes()[position];
  return getSize(getAxes(name));
}

int64_t MeshAttr::getSize(ArrayRef<StringAttr> axes) const {
  int64_t size = 1;
  for (StringAttr axis : axes)
    size *= getSize(axis.getValue());
  return size;
}

SmallVector<StringRef> MeshAttr::getUserAxes(ArrayRef<StringRef> axes) const {
  for (MeshViewAttr view : getViews())
    if (view.getAxes().size() == axes.size() && llvm::all_of(view.getAxes(), [&](StringAttr axis) {
          return llvm::is_contained(axes, axis.getValue());
        }))
      return {view.getName().getValue()};
  SmallVector<StringRef> users;
  for (auto [name, size] : llvm::zip(getNames(), getSizes())) {
    StringRef user = getUserAxis(name.getValue());
    if (size > 1 && llvm::is_contained(axes, name.getValue()) && !llvm::is_contained(users, user))
      users.push_back(user);
  }
  return users;
}

//===----------------------------------------------------------------------===//
// Init
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

/// Prints what `AsmPrinter::printFloat` prints. The C library takes a tenth of its time for a number of at
/// most six digits, as deviations are, of which a model of many layers has a thousand.
static void printNumber(AsmPrinter &printer, double number) {
  std::array<char, 32> text;
  int size = std::snprintf(text.data(), text.size(), "%.6e", number);
  StringRef digits(text.data(), size);
  if (digits.contains("0e") && std::strtod(text.data(), nullptr) == number)
    printer << digits;
  else
    printer.printFloat(APFloat(number));
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyInitKind(getKind());
  if (getKind() == InitKind::Normal) {
    printer << ", ";
    printNumber(printer, getStd());
  }
  if (getZeroRow())
    printer << ", zero_row = " << *getZeroRow();
  printer << ">";
}
