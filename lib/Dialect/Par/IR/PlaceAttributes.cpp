//===- PlaceAttributes.cpp - syntax of phases and places ------------------------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

#include "par/Dialect/Par/IR/PlaceEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kInputNames[] = {
#define PAR_INPUT(symbol, name, element, shape, time) #name,
#include "par/Inputs.def"
};
static constexpr StringLiteral kOutputNames[] = {
#define PAR_OUTPUT(symbol, name, rank) #name,
#include "par/Inputs.def"
};

StringRef par::stringifyInputKind(InputKind input) { return kInputNames[static_cast<unsigned>(input)]; }
StringRef par::stringifyOutputKind(OutputKind output) { return kOutputNames[static_cast<unsigned>(output)]; }

template <typename Kind>
static std::optional<Kind> find(ArrayRef<StringLiteral> names, StringRef name) {
  const auto *found = llvm::find(names, name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<Kind>(found - names.begin()));
}

std::optional<InputKind> par::symbolizeInputKind(StringRef name) {
  return find<InputKind>(kInputNames, name);
}
std::optional<OutputKind> par::symbolizeOutputKind(StringRef name) {
  return find<OutputKind>(kOutputNames, name);
}

InputTime par::getTime(InputKind input) {
  static constexpr InputTime times[] = {
#define PAR_INPUT(symbol, name, element, shape, time) InputTime::time,
#include "par/Inputs.def"
  };
  return times[static_cast<unsigned>(input)];
}

//===----------------------------------------------------------------------===//
// Phase
//===----------------------------------------------------------------------===//

Attribute PhaseAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  int64_t chunk = 0, stage = 0;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return {};
  std::optional<Phase> phase = symbolizePhase(name);
  if (!phase) {
    InFlightDiagnostic error = parser.emitError(loc, "unknown phase \"") << name << "\", expected ";
    llvm::interleaveComma(llvm::seq<unsigned>(0, getMaxEnumValForPhase() + 1), error,
                          [&](unsigned each) { error << stringifyPhase(static_cast<Phase>(each)); });
    return {};
  }
  auto parseNumber = [&](StringRef what, int64_t &number) -> ParseResult {
    if (failed(parser.parseOptionalComma()))
      return success();
    return failure(parser.parseKeyword(what) || parser.parseEqual() || parser.parseInteger(number));
  };
  if (parseNumber("chunk", chunk) || parseNumber("stage", stage) || parser.parseGreater())
    return {};
  return parser.getChecked<PhaseAttr>(parser.getContext(), *phase, chunk, stage);
}

void PhaseAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyPhase(getPhase()) << ", chunk = " << getChunk();
  if (getStage())
    printer << ", stage = " << getStage();
  printer << ">";
}

LogicalResult PhaseAttr::verify(function_ref<InFlightDiagnostic()> emitError, Phase, int64_t chunk,
                                int64_t stage) {
  for (auto [what, number] : {std::pair<StringRef, int64_t>{"chunk", chunk}, {"stage", stage}})
    if (number < 0)
      return emitError() << "phase_c2: " << what << " = " << number << ", expected a number from 0";
  return success();
}

//===----------------------------------------------------------------------===//
// Place
//===----------------------------------------------------------------------===//

PlaceAttr PlaceAttr::ofVariable(FlatSymbolRefAttr variable, std::optional<OutputKind> output) {
  return get(variable.getContext(), variable, {}, output, {}, {}, {}, {}, 0);
}
PlaceAttr PlaceAttr::ofInput(MLIRContext *context, InputKind input) {
  return get(context, {}, input, {}, {}, {}, {}, {}, 0);
}
PlaceAttr PlaceAttr::ofOutput(MLIRContext *context, OutputKind output) {
  return get(context, {}, {}, output, {}, {}, {}, {}, 0);
}
PlaceAttr PlaceAttr::ofResidual(MLIRContext *context, int64_t number) {
  return get(context, {}, {}, {}, number, {}, {}, {}, 0);
}
PlaceAttr PlaceAttr::ofBoundary(MLIRContext *context, int64_t number) {
  return get(context, {}, {}, {}, {}, number, {}, {}, 0);
}
PlaceAttr PlaceAttr::ofAlias(MLIRContext *context, int64_t argument) {
  return get(context, {}, {}, {}, {}, {}, argument, {}, 0);
}
PlaceAttr PlaceAttr::ofConstant(TypedAttr constant, int64_t step) {
  return get(constant.getContext(), {}, {}, {}, {}, {}, {}, constant, step);
}

/// A name of the list that `symbolize` knows.
template <typename Kind>
static ParseResult parseName(AsmParser &parser, StringRef what, ArrayRef<StringLiteral> names,
                             std::optional<Kind> &kind) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  if ((kind = find<Kind>(names, name)))
    return success();
  return parser.emitError(loc, "unknown ")
         << what << " \"" << name << "\", expected " << llvm::join(names, ", ");
}

Attribute PlaceAttr::parse(AsmParser &parser, Type) {
  StringRef what;
  FlatSymbolRefAttr variable;
  std::optional<InputKind> input;
  std::optional<OutputKind> output;
  std::optional<int64_t> residual, boundary, alias;
  TypedAttr constant;
  int64_t step = 0;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&what))
    return {};
  ParseResult parsed = success();
  if (what == "variable") {
    parsed = parser.parseAttribute(variable);
    if (succeeded(parsed) && succeeded(parser.parseOptionalComma()))
      parsed = failure(failed(parser.parseKeyword("output")) ||
                       failed(parseName(parser, "output", kOutputNames, output)));
  } else if (what == "input") {
    parsed = parseName(parser, what, kInputNames, input);
  } else if (what == "output") {
    parsed = parseName(parser, what, kOutputNames, output);
  } else if (what == "residual" || what == "boundary" || what == "alias") {
    parsed = parser.parseInteger((what == "residual"   ? residual
                                  : what == "boundary" ? boundary
                                                       : alias)
                                     .emplace());
  } else if (what == "constant") {
    parsed = parser.parseAttribute(constant);
    if (succeeded(parsed) && succeeded(parser.parseOptionalComma()))
      parsed = failure(failed(parser.parseKeyword("step")) || failed(parser.parseEqual()) ||
                       failed(parser.parseInteger(step)));
  } else {
    parsed = parser.emitError(loc, "unknown place \"")
             << what << "\", expected variable, input, output, residual, boundary, alias or constant";
  }
  if (failed(parsed) || parser.parseGreater())
    return {};
  return parser.getChecked<PlaceAttr>(parser.getContext(), variable, input, output, residual, boundary, alias,
                                      constant, step);
}

void PlaceAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getVariable())
    printer << "variable " << getVariable() << (getOutput() ? ", " : "");
  if (getInput())
    printer << "input " << stringifyInputKind(*getInput());
  if (getOutput())
    printer << "output " << stringifyOutputKind(*getOutput());
  if (getResidual())
    printer << "residual " << *getResidual();
  if (getBoundary())
    printer << "boundary " << *getBoundary();
  if (getAlias())
    printer << "alias " << *getAlias();
  if (getConstant())
    printer << "constant " << getConstant();
  if (getStep())
    printer << ", step = " << getStep();
  printer << ">";
}

LogicalResult PlaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr variable,
                                std::optional<InputKind> input, std::optional<OutputKind> output,
                                std::optional<int64_t> residual, std::optional<int64_t> boundary,
                                std::optional<int64_t> alias, TypedAttr constant, int64_t) {
  for (std::optional<int64_t> number : {residual, boundary, alias})
    if (number && *number < 0)
      return emitError() << "place_c1: number " << *number << ", expected one from 0";
  int places = (variable || output) + input.has_value() + residual.has_value() + boundary.has_value() +
               alias.has_value() + (constant != nullptr);
  return places == 1 ? success() : emitError() << "place_c1: " << places << " places, expected one";
}
