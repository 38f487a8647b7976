//===- StructureOps.cpp - meshes, state and calls -------------------------------------------------------===//
#include "par/Dialect/Par/IR/FilePlaces.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/StructureOps.cpp.inc"

//===----------------------------------------------------------------------===//
// mesh
//===----------------------------------------------------------------------===//

LogicalResult MeshOp::verify() {
  for (MeshOp other : (*this)->getParentRegion()->getOps<MeshOp>()) {
    if (other == *this)
      return success();
    InFlightDiagnostic diagnostic = emitOpError("mesh_c1: a module has at most one mesh");
    diagnostic.attachNote(other.getLoc()) << "the first one is @" << other.getSymName();
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// variable
//===----------------------------------------------------------------------===//

/// (variable_c3)
static LogicalResult verifyFile(VariableOp variable) {
  if (!variable.getFileAttr() || isWholeFileTensor(variable))
    return success();
  std::vector<std::string> problems =
      ::par::io::problemsOf(getFilePlace(variable), variable.getTensorType().getShape().vec());
  for (const std::string &problem : problems)
    variable.emitOpError("variable_c3: ") << problem;
  return success(problems.empty());
}

/// (variable_c5)
static LogicalResult verifyStateStorage(VariableOp variable) {
  Attribute value = variable->getAttr(ParDialect::kStateStorageAttr);
  if (!value)
    return success();
  auto roles = dyn_cast<DictionaryAttr>(value);
  if (variable.getRole() != Role::Parameter || !roles)
    return variable.emitOpError("variable_c5: par.state_storage is a dictionary of shardings on a parameter");
  for (NamedAttribute entry : roles) {
    std::optional<Role> role = symbolizeRole(entry.getName().getValue());
    if (role != Role::Accumulator && role != Role::Gradient && role != Role::Moment && role != Role::Master)
      return variable.emitOpError("variable_c5: par.state_storage names the role ")
             << entry.getName() << ", expected accumulator, gradient, moment or master";
    auto sharding = dyn_cast<ShardingAttr>(entry.getValue());
    if (!sharding || !sharding.isStorage())
      return variable.emitOpError("variable_c5: par.state_storage of ")
             << entry.getName() << " must be a sharding without open dimensions and partial sums";
    if (failed(sharding.verifyFor([&] { return variable.emitOpError("variable_c5: par.state_storage: "); },
                                  variable, variable.getTensorType().getRank())))
      return failure();
  }
  return success();
}

/// (variable_c6)
static LogicalResult verifyZeroRow(VariableOp variable) {
  InitAttr init = variable.getInitAttr();
  RankedTensorType type = variable.getTensorType();
  if (!init || !init.getZeroRow() || (type.getRank() > 0 && *init.getZeroRow() < type.getDimSize(0)))
    return success();
  return variable.emitOpError("variable_c6: zero_row is ")
         << *init.getZeroRow() << ", expected a number below the first dimension of " << type;
}

bool VariableOp::isTrained() {
  return getRole() == Role::Parameter && !(*this)->hasAttr(ParDialect::kFrozenAttr);
}

StringRef VariableOp::getModelName() {
  return getFileAttr() ? getFileAttr().getName().getValue() : getSymName();
}

/// (variable_c7)
static LogicalResult verifyFrozen(VariableOp variable) {
  if (!variable->hasAttr(ParDialect::kFrozenAttr) || variable.getRole() == Role::Parameter)
    return success();
  return variable.emitOpError("variable_c7: par.frozen stands on a variable of role ")
         << stringifyRole(variable.getRole()) << ", expected parameter";
}

ParseResult VariableOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  if (parser.parseSymbolName(properties.sym_name) || parser.parseColon() ||
      parser.parseAttribute(properties.type) || parser.parseKeyword("dims") ||
      parser.parseAttribute(properties.dims))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  auto emit = [&] { return parser.emitError(loc) << "'" << result.name << "' op "; };
  return failure(parser.parseOptionalAttrDict(result.attributes) ||
                 failed(verifyInherentAttrs(result.name, result.attributes, emit)));
}

/// Prints what `$sym_name `:` $type `dims` $dims attr-dict` would. That asks for a dictionary of all
/// attributes, which is made anew for each variable, and took a tenth of printing a model of 126 layers.
void VariableOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " : " << getType() << " dims ";
  printer.printAttributeWithoutType(getDimsAttr());
  SmallVector<NamedAttribute> attributes((*this)->getDiscardableAttrs());
  auto add = [&](StringAttr name, Attribute attribute) {
    if (attribute)
      attributes.emplace_back(name, attribute);
  };
  add(getRoleAttrName(), getRoleAttr());
  add(getInitAttrName(), getInitAttr());
  add(getFileAttrName(), getFileAttr());
  add(getStorageAttrName(), getStorageAttr());
  add(getComputeAttrName(), getComputeAttr());
  add(getOfAttrName(), getOfAttr());
  add(getAliasAttrName(), getAliasAttr());
  add(getSpaceAttrName(), getSpaceAttr());
  llvm::sort(attributes);
  printer.printOptionalAttrDict(attributes);
}

LogicalResult VariableOp::verify() {
  RankedTensorType type = getTensorType();
  bool valid = true;
  if (static_cast<int64_t>(getDims().size()) != type.getRank()) {
    emitOpError("variable_c1: ") << getDims().size() << " dimension names for a tensor of rank "
                                 << type.getRank();
    valid = false;
  }
  auto verifySharding = [&](StringRef name, std::optional<ShardingAttr> sharding) {
    auto emit = [&] { return emitOpError("variable_c2: ") << name << ": "; };
    if (sharding && failed(sharding->verifyFor(emit, *this, type.getRank())))
      valid = false;
  };
  verifySharding("storage", getStorage());
  verifySharding("compute", getCompute());
  if (std::optional<ShardingAttr> storage = getStorage();
      storage && !storage->isStorage() && getRole() != Role::Accumulator) {
    emitOpError("variable_c5: storage ") << *storage << " must leave no dimension open and nothing unreduced";
    valid = false;
  }
  valid &= succeeded(verifyFile(*this));
  valid &= succeeded(verifyStateStorage(*this)) && succeeded(verifyZeroRow(*this)) &&
           succeeded(verifyFrozen(*this));
  bool needsOwner = getRole() != Role::Parameter && getRole() != Role::Step && type.getRank() != 0;
  if (needsOwner && !getOf()) {
    emitOpError("variable_c4: a variable of role ")
        << stringifyRole(getRole()) << " needs `of`, the parameter it belongs to, unless it is a scalar";
    valid = false;
  }
  return success(valid);
}

LogicalResult VariableOp::verifySymbolUses(SymbolTableCollection &symbols) {
  bool valid = true;
  auto verifyReference = [&](StringRef name, FlatSymbolRefAttr reference) {
    if (!reference || symbols.lookupNearestSymbolFrom<VariableOp>(*this, reference))
      return;
    emitOpError("variable_c4: ") << name << " " << reference << " names no par.variable";
    valid = false;
  };
  verifyReference("of", getOfAttr());
  auto owner = getOfAttr() ? symbols.lookupNearestSymbolFrom<VariableOp>(*this, getOfAttr()) : VariableOp();
  if (owner && owner->hasAttr(ParDialect::kFrozenAttr) && getRole() != Role::Gathered) {
    emitOpError("variable_c7: a variable of role ") << stringifyRole(getRole()) << " belongs to "
                                                    << getOfAttr() << ", which par.frozen says has no state";
    valid = false;
  }
  verifyReference("alias", getAliasAttr());
  return success(valid);
}

//===----------------------------------------------------------------------===//
// call
//===----------------------------------------------------------------------===//

bool mlir::par::isPartOf(Type part, Type whole, int64_t parts) {
  auto small = cast<RankedTensorType>(part), large = cast<RankedTensorType>(whole);
  if (small == large || small.getElementType() != large.getElementType() ||
      small.getRank() != large.getRank() || small.getNumElements() != large.getNumElements() / parts ||
      large.getNumElements() % parts)
    return false;
  // What lies behind the rows is whole, what lies before the part's rows is one.
  int64_t rows = large.getRank() - 1;
  while (rows > 0 && small.getDimSize(rows) == large.getDimSize(rows))
    --rows;
  return llvm::all_of(small.getShape().take_front(rows), [](int64_t size) { return size == 1; });
}

static InFlightDiagnostic refuseCall(CallOp call, func::FuncOp callee, const Twine &message) {
  InFlightDiagnostic error = call.emitOpError(message);
  error.attachNote(callee.getLoc()) << "the callee";
  return error;
}

/// (call_c2) for operands or results.
static LogicalResult verifyTypes(CallOp call, func::FuncOp callee, StringRef what, TypeRange actual,
                                 TypeRange expected) {
  if (actual.size() != expected.size())
    return refuseCall(call, callee, "call_c2: ")
           << actual.size() << " " << what << "s, @" << call.getCallee() << " has " << expected.size();
  auto parts = static_cast<int64_t>(call.getParts());
  bool valid = true;
  for (auto [number, types] : llvm::enumerate(llvm::zip(actual, expected))) {
    auto [is, shouldBe] = types;
    if (is == shouldBe || (parts > 1 && isPartOf(shouldBe, is, parts)))
      continue;
    InFlightDiagnostic error = refuseCall(call, callee, "call_c2: ")
                               << what << " " << number << " is " << is << ", @" << call.getCallee()
                               << " has " << shouldBe;
    if (parts > 1)
      error << ", which is neither that nor one of " << parts << " parts of it";
    valid = false;
  }
  return success(valid);
}

/// (call_c3) for what is handed on from part to part.
static LogicalResult verifyCarried(CallOp call, func::FuncOp function) {
  if (call.getParts() == 1)
    return success();
  for (auto [number, type] : llvm::enumerate(call.getResultTypes())) {
    if (type != function.getResultTypes()[number])
      continue;
    int64_t operand = getAlias(function, number).value_or(-1);
    if (operand < 0 || operand >= static_cast<int64_t>(call.getInputs().size()) ||
        call.getInputs()[operand].getType() != type || function.getArgumentTypes()[operand] != type)
      return refuseCall(call, function, "call_c3: result ")
             << number << " is not made of " << call.getParts() << " parts, so @" << call.getCallee()
             << " must say by #par.place<alias …> as which operand of type " << type
             << " the next part finds it";
  }
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (static_cast<int64_t>(getParts()) < 1)
    return emitOpError("call_c3: parts = ") << static_cast<int64_t>(getParts()) << ", expected 1 or more";
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  if (!function)
    return emitOpError("call_c1: @") << getCallee() << " names no function of this module";
  LogicalResult operands =
      verifyTypes(*this, function, "operand", getOperandTypes(), function.getArgumentTypes());
  LogicalResult results = verifyTypes(*this, function, "result", getResultTypes(), function.getResultTypes());
  if (failed(operands) || failed(results))
    return failure();
  return verifyCarried(*this, function);
}
