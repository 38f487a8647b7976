//===- ShardingAttr.cpp - shardings: syntax and local shapes --------------------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "par/Dialect/Par/IR/Par.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::par;

/// `{"a", "b"}`, with a trailing `?` allowed where `open` is given.
static ParseResult parseAxes(AsmParser &parser, SmallVectorImpl<StringAttr> &axes, bool *open = nullptr) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    if (open && succeeded(parser.parseOptionalQuestion())) {
      *open = true;
      return success();
    }
    std::string name;
    if (parser.parseString(&name))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  });
}

static void printAxes(AsmPrinter &printer, ArrayRef<StringAttr> axes, bool open = false) {
  printer << "{";
  llvm::interleaveComma(axes, printer, [&](StringAttr axis) { printer << axis; });
  if (open)
    printer << (axes.empty() ? "?" : ", ?");
  printer << "}";
}

Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  bool open = false;
  if (parser.parseLess() || parseAxes(parser, axes, &open) || parser.parseGreater())
    return {};
  return DimShardingAttr::get(parser.getContext(), axes, open);
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxes(printer, getAxes(), getOpen());
  printer << ">";
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<DimShardingAttr> dims;
  SmallVector<StringAttr> replicated, unreduced;
  auto parseDim = [&]() -> ParseResult {
    SmallVector<StringAttr> axes;
    bool open = false;
    if (parseAxes(parser, axes, &open))
      return failure();
    dims.push_back(DimShardingAttr::get(parser.getContext(), axes, open));
    return success();
  };
  if (parser.parseLess() || parser.parseAttribute(mesh) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("replicated"))) {
      if (parser.parseEqual() || parseAxes(parser, replicated))
        return {};
    } else if (parser.parseKeyword("unreduced") || parser.parseEqual() || parseAxes(parser, unreduced)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return ShardingAttr::getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(),
                                  mesh, ArrayRef<DimShardingAttr>(dims), ArrayRef<StringAttr>(replicated),
                                  ArrayRef<StringAttr>(unreduced));
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer,
                        [&](DimShardingAttr dim) { printAxes(printer, dim.getAxes(), dim.getOpen()); });
  printer << "]";
  if (!getReplicated().empty()) {
    printer << ", replicated=";
    printAxes(printer, getReplicated());
  }
  if (!getUnreduced().empty()) {
    printer << ", unreduced=";
    printAxes(printer, getUnreduced());
  }
  printer << ">";
}

LogicalResult ShardingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr,
                                   ArrayRef<DimShardingAttr> dims, ArrayRef<StringAttr> replicated,
                                   ArrayRef<StringAttr> unreduced) {
  llvm::StringSet<> seen;
  auto check = [&](ArrayRef<StringAttr> axes) -> LogicalResult {
    for (StringAttr axis : axes)
      if (!seen.insert(axis.getValue()).second)
        return emitError() << "sharding_c2: mesh axis " << axis << " is used twice";
    return success();
  };
  for (DimShardingAttr dim : dims)
    if (failed(check(dim.getAxes())))
      return failure();
  return failure(failed(check(replicated)) || failed(check(unreduced)));
}

/// sharding_c1 for one list of axes.
static bool verifyAxes(llvm::function_ref<InFlightDiagnostic()> emitError, MeshAttr mesh,
                       ArrayRef<StringAttr> axes, bool &namesViews) {
  bool valid = true;
  for (StringAttr axis : axes) {
    if (mesh && mesh.hasAxis(axis.getValue()))
      continue;
    if (mesh && mesh.hasName(axis.getValue())) {
      namesViews = true;
      continue;
    }
    InFlightDiagnostic diagnostic = emitError();
    diagnostic << "sharding_c1: axis " << axis << " is not one of the mesh";
    if (mesh)
      diagnostic << " " << mesh;
    valid = false;
  }
  return valid;
}

/// sharding_c2 for the axes that views stand for.
static bool verifyViews(llvm::function_ref<InFlightDiagnostic()> emitError, MeshAttr mesh,
                        ShardingAttr sharding) {
  SmallVector<StringAttr> names = sharding.getShardedAxes();
  llvm::append_range(names, sharding.getReplicated());
  llvm::append_range(names, sharding.getUnreduced());
  llvm::SmallDenseSet<StringAttr> seen;
  bool valid = true;
  for (StringAttr name : names)
    for (StringAttr axis : mesh.getAxes(name.getValue()))
      if (!seen.insert(axis).second) {
        emitError() << "sharding_c2: mesh axis " << axis << ", which " << name << " has, is used twice";
        valid = false;
      }
  return valid;
}

LogicalResult ShardingAttr::verifyFor(llvm::function_ref<InFlightDiagnostic()> emitError, Operation *user,
                                      int64_t rank) const {
  MeshAttr mesh = par::getMesh(user);
  bool valid = true;
  if (mesh && getMeshName(user) != getMesh().getValue()) {
    emitError() << "sharding_c4: " << *this << " is over " << getMesh() << ", the module's mesh is @"
                << getMeshName(user);
    valid = false;
  }
  if (static_cast<int64_t>(getDims().size()) != rank) {
    emitError() << "sharding_c3: " << *this << " has " << getDims().size() << " dimensions, the tensor has "
                << rank;
    valid = false;
  }
  bool namesViews = false;
  for (DimShardingAttr dim : getDims())
    valid &= verifyAxes(emitError, mesh, dim.getAxes(), namesViews);
  valid &= verifyAxes(emitError, mesh, getReplicated(), namesViews);
  valid &= verifyAxes(emitError, mesh, getUnreduced(), namesViews);
  if (namesViews)
    valid &= verifyViews(emitError, mesh, *this);
  return success(valid);
}

ShardingAttr ShardingAttr::getReplicated(MLIRContext *context, StringRef mesh, int64_t rank, bool open) {
  SmallVector<DimShardingAttr> dims(rank, DimShardingAttr::get(context, {}, open));
  return ShardingAttr::get(context, FlatSymbolRefAttr::get(context, mesh), dims, {}, {});
}

ShardingAttr ShardingAttr::get(MLIRContext *context, StringRef mesh, ArrayRef<SmallVector<StringAttr>> dims,
                               ArrayRef<StringAttr> unreduced) {
  SmallVector<DimShardingAttr> entries;
  for (ArrayRef<StringAttr> axes : dims)
    entries.push_back(DimShardingAttr::get(context, axes, false));
  return ShardingAttr::get(context, FlatSymbolRefAttr::get(context, mesh), entries, {}, unreduced);
}

bool ShardingAttr::isFullyReplicated() const {
  return getUnreduced().empty() &&
         llvm::all_of(getDims(), [](DimShardingAttr dim) { return dim.getAxes().empty(); });
}

bool ShardingAttr::isStorage() const {
  return getUnreduced().empty() &&
         llvm::none_of(getDims(), [](DimShardingAttr dim) { return dim.getOpen(); });
}

SmallVector<StringAttr> ShardingAttr::getShardedAxes() const {
  SmallVector<StringAttr> axes;
  for (DimShardingAttr dim : getDims())
    llvm::append_range(axes, dim.getAxes());
  return axes;
}

ShardingAttr ShardingAttr::withUnreduced(ArrayRef<StringAttr> axes) const {
  SmallVector<StringAttr> replicated;
  for (StringAttr axis : getReplicated())
    if (!llvm::is_contained(axes, axis))
      replicated.push_back(axis);
  return ShardingAttr::get(getContext(), getMesh(), getDims(), replicated, axes);
}

ShardingAttr ShardingAttr::close() const {
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : getDims())
    dims.push_back(DimShardingAttr::get(getContext(), dim.getAxes(), false));
  return ShardingAttr::get(getContext(), getMesh(), dims, getReplicated(), getUnreduced());
}

SmallVector<int64_t> ShardingAttr::getLocalShape(ArrayRef<int64_t> shape, MeshAttr mesh) const {
  SmallVector<int64_t> local;
  for (auto [size, dim] : llvm::zip(shape, getDims()))
    local.push_back(ceilDiv(size, mesh.getSize(dim.getAxes())));
  return local;
}

RankedTensorType ShardingAttr::getLocalType(RankedTensorType type, MeshAttr mesh) const {
  return type.clone(getLocalShape(type.getShape(), mesh));
}

SmallVector<int64_t> ShardingAttr::getPaddedShape(ArrayRef<int64_t> shape, MeshAttr mesh) const {
  SmallVector<int64_t> padded = getLocalShape(shape, mesh);
  for (auto [size, dim] : llvm::zip(padded, getDims()))
    size *= mesh.getSize(dim.getAxes());
  return padded;
}
