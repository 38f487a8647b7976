//===- PlaceAttributes.cpp - syntax of phases and places ------------------------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "par/Dialect/Par/IR/Places.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

#include "par/Dialect/Par/IR/PlaceEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kInputNames[] = {
#define PAR_INPUT(symbol, name, element, shape, time, reader) #name,
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

/// Finds a kind by name; behind that of `named` a loss's name may stand, after a dot.
template <typename Kind>
static std::optional<Kind> findNamed(ArrayRef<StringLiteral> names, StringRef name, Kind named) {
  auto [kind, loss] = name.split('.');
  return find<Kind>(names, kind == names[static_cast<unsigned>(named)] && !loss.empty() ? kind : name);
}

std::optional<InputKind> par::symbolizeInputKind(StringRef name) {
  return findNamed(kInputNames, name, InputKind::LossWeight);
}
std::optional<OutputKind> par::symbolizeOutputKind(StringRef name) {
  return findNamed(kOutputNames, name, OutputKind::Loss);
}

InputTime par::getTime(InputKind input) {
  static constexpr InputTime times[] = {
#define PAR_INPUT(symbol, name, element, shape, time, reader) InputTime::time,
#include "par/Inputs.def"
  };
  return times[static_cast<unsigned>(input)];
}

StringRef par::stringifyInputTime(InputTime time) {
  return time == InputTime::MicroBatch ? "micro_batch" : time == InputTime::Step ? "step" : "constant";
}

namespace {
/// A reader of the runtime, and the inputs with names of a graph's own that it serves: Constant for none.
struct Reader {
  StringLiteral name;
  InputTime serves;
};
} // namespace

static constexpr Reader kReaders[] = {
#define PAR_READER(symbol, name, serves) {#name, InputTime::serves},
#include "par/Inputs.def"
};

/// Those that serve open inputs of a time.
static SmallVector<StringRef> listReaders(InputTime time) {
  SmallVector<StringRef> names;
  for (const Reader &reader : kReaders)
    if (reader.serves == time)
      names.push_back(reader.name);
  return names;
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

bool PlaceAttr::isInput() const { return getInput() || getOpenInput(); }

StringRef PlaceAttr::getInputName() const {
  if (getInput())
    return stringifyInputKind(*getInput());
  return getOpenInput() ? getOpenInput().getValue() : StringRef();
}

InputTime PlaceAttr::getInputTime() const { return getInput() ? getTime(*getInput()) : *getOpenTime(); }

StringRef PlaceAttr::getInputReader() const {
  return getOpenReader() ? getOpenReader().getValue() : listReaders(*getOpenTime()).front();
}

PlaceAttr PlaceAttr::ofVariable(FlatSymbolRefAttr variable, std::optional<OutputKind> output) {
  return get(variable.getContext(), variable, {}, output, {}, {}, {}, {}, 0, {}, {}, {}, {}, {});
}
PlaceAttr PlaceAttr::ofInput(MLIRContext *context, InputKind input) {
  return get(context, {}, input, {}, {}, {}, {}, {}, 0, {}, {}, {}, {}, {});
}
PlaceAttr PlaceAttr::ofOutput(MLIRContext *context, OutputKind output) {
  return get(context, {}, {}, output, {}, {}, {}, {}, 0, {}, {}, {}, {}, {});
}
PlaceAttr PlaceAttr::ofResidual(MLIRContext *context, int64_t number) {
  return get(context, {}, {}, {}, number, {}, {}, {}, 0, {}, {}, {}, {}, {});
}
PlaceAttr PlaceAttr::ofBoundary(MLIRContext *context, int64_t number) {
  return get(context, {}, {}, {}, {}, number, {}, {}, 0, {}, {}, {}, {}, {});
}
PlaceAttr PlaceAttr::ofAlias(MLIRContext *context, int64_t argument) {
  return get(context, {}, {}, {}, {}, {}, argument, {}, 0, {}, {}, {}, {}, {});
}
PlaceAttr PlaceAttr::ofConstant(TypedAttr constant, int64_t step) {
  return get(constant.getContext(), {}, {}, {}, {}, {}, {}, constant, step, {}, {}, {}, {}, {});
}

PlaceAttr PlaceAttr::ofLoss(MLIRContext *context, StringAttr loss, FloatAttr weight) {
  return get(context, {}, {}, OutputKind::Loss, {}, {}, {}, {}, 0, loss, weight, {}, {}, {});
}
PlaceAttr PlaceAttr::ofLossWeight(PlaceAttr loss) {
  MLIRContext *context = loss.getContext();
  StringAttr name = loss.getLoss() ? loss.getLoss() : StringAttr::get(context, kMainLoss);
  return get(context, {}, InputKind::LossWeight, {}, {}, {}, {}, {}, 0, name, loss.getWeight(), {}, {}, {});
}

std::string PlaceAttr::getRuntimeName() const {
  std::string name = (isInput() ? getInputName() : stringifyOutputKind(*getOutput())).str();
  return getLoss() ? name + "." + getLoss().str() : name;
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

/// `"balance", weight = 0.01`, each of both if it is there.
static ParseResult parseLoss(AsmParser &parser, StringAttr &loss, FloatAttr &weight) {
  std::string name;
  double value = 0;
  if (succeeded(parser.parseOptionalString(&name)))
    loss = parser.getBuilder().getStringAttr(name);
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("weight") || parser.parseEqual() || parser.parseFloat(value))
    return failure();
  weight = parser.getBuilder().getF64FloatAttr(value);
  return success();
}

/// Parses what stands behind the name of an open input: `, micro_batch, reader = "rows"`.
static ParseResult parseOpenInput(AsmParser &parser, std::optional<InputTime> &time, StringAttr &reader) {
  StringRef word;
  if (parser.parseComma())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  for (InputTime each : {InputTime::MicroBatch, InputTime::Step})
    if (word == stringifyInputTime(each))
      time = each;
  if (!time)
    return parser.emitError(loc, "unknown time \"") << word << "\", expected micro_batch or step";
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("reader") || parser.parseEqual() || parser.parseAttribute(reader))
    return failure();
  if (reader.getValue() == listReaders(*time).front())
    reader = nullptr; // as if it were not named
  return success();
}

Attribute PlaceAttr::parse(AsmParser &parser, Type) {
  StringRef what;
  FlatSymbolRefAttr variable;
  std::optional<InputKind> input;
  std::optional<OutputKind> output;
  std::optional<int64_t> residual, boundary, alias;
  TypedAttr constant;
  int64_t step = 0;
  StringAttr loss;
  FloatAttr weight;
  StringAttr openInput, openReader;
  std::optional<InputTime> openTime;
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
    std::string name;
    if (succeeded(parser.parseOptionalString(&name))) {
      openInput = StringAttr::get(parser.getContext(), name);
      parsed = parseOpenInput(parser, openTime, openReader);
    } else {
      parsed = failure(failed(parseName(parser, what, kInputNames, input)) ||
                       failed(parseLoss(parser, loss, weight)));
    }
  } else if (what == "output") {
    parsed = failure(failed(parseName(parser, what, kOutputNames, output)) ||
                     failed(parseLoss(parser, loss, weight)));
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
                                      constant, step, loss, weight, openInput, openTime, openReader);
}

void PlaceAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getVariable())
    printer << "variable " << getVariable() << (getOutput() ? ", " : "");
  if (getInput())
    printer << "input " << stringifyInputKind(*getInput());
  if (getOpenInput())
    printer << "input " << getOpenInput() << ", " << stringifyInputTime(*getOpenTime());
  if (getOpenReader())
    printer << ", reader = " << getOpenReader();
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
  if (getLoss())
    printer << " " << getLoss();
  if (getWeight()) {
    printer << ", weight = ";
    printer.printFloat(getWeight().getValue());
  }
  printer << ">";
}

/// (place_c8)
static LogicalResult verifyLoss(function_ref<InFlightDiagnostic()> emitError, bool isOutput, bool isWeight,
                                StringAttr loss, FloatAttr weight) {
  if (!isOutput && !isWeight && (loss || weight))
    return emitError() << "place_c8: only a loss and loss_weight have a name and a weight";
  if (isWeight && !loss)
    return emitError() << "place_c8: loss_weight of which loss? expected its name; the main one is \""
                       << kMainLoss << "\"";
  if (isOutput && loss && loss == kMainLoss)
    return emitError() << "place_c8: \"" << kMainLoss << "\" is the main loss, which has no name";
  auto isGood = [](char letter) { return llvm::isAlnum(letter) || letter == '_' || letter == '-'; };
  if (loss && (loss.empty() || !llvm::all_of(loss.getValue(), isGood)))
    return emitError() << "place_c8: a loss is named " << loss
                       << ", expected letters, digits, \"_\" and \"-\"";
  if (weight && !std::isfinite(weight.getValueAsDouble()))
    return emitError() << "place_c8: weight " << weight.getValueAsDouble() << ", expected a finite number";
  return success();
}

/// (place_c10)
static LogicalResult verifyOpenInput(function_ref<InFlightDiagnostic()> emitError, StringAttr name,
                                     InputTime time, StringAttr reader) {
  if (symbolizeInputKind(name.getValue()))
    return emitError() << "place_c10: input " << name
                       << " is one that the runtime knows; write it without quotes";
  if (name.getValue().empty() || name.getValue().contains('='))
    return emitError() << "place_c10: input " << name << " has no name that --input NAME=VALUE can give";
  SmallVector<StringRef> readers = listReaders(time);
  if (!reader || llvm::is_contained(readers, reader.getValue()))
    return success();
  return emitError() << "place_c10: no reader " << reader << " serves inputs of a "
                     << stringifyInputTime(time) << ", expected " << llvm::join(readers, ", ");
}

LogicalResult PlaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr variable,
                                std::optional<InputKind> input, std::optional<OutputKind> output,
                                std::optional<int64_t> residual, std::optional<int64_t> boundary,
                                std::optional<int64_t> alias, TypedAttr constant, int64_t, StringAttr loss,
                                FloatAttr weight, StringAttr openInput, std::optional<InputTime> openTime,
                                StringAttr openReader) {
  if (failed(verifyLoss(emitError, output == OutputKind::Loss, input == InputKind::LossWeight, loss, weight)))
    return failure();
  for (std::optional<int64_t> number : {residual, boundary, alias})
    if (number && *number < 0)
      return emitError() << "place_c1: number " << *number << ", expected one from 0";
  if (openInput && failed(verifyOpenInput(emitError, openInput, *openTime, openReader)))
    return failure();
  int places = (variable || output) + input.has_value() + (openInput != nullptr) + residual.has_value() +
               boundary.has_value() + alias.has_value() + (constant != nullptr);
  return places == 1 ? success() : emitError() << "place_c1: " << places << " places, expected one";
}
