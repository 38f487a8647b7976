//===- VerifyPlaces.cpp - constraints of places ---------------------------------------------------------===//
#include "VerifyPlaces.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// What PAR_INPUT says of an input's shape.
enum class InputShape { Rows, Pair, Scalar };

/// Which argument or result, for errors.
struct At {
  StringLiteral what;
  unsigned number;
  std::string str() const { return (what + Twine(number)).str(); }
};

/// All places of one function. Every violation is reported.
class PlaceVerifier {
public:
  explicit PlaceVerifier(func::FuncOp function) : function(function) {}

  LogicalResult run() {
    if (getPhase(function) || hasVariable())
      lookAround();
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      if (PlaceAttr place = getPlace(function, number)) {
        verifyArgument(number, place);
        if (place.getOpenInput())
          verifyOpenInput(number, place);
      }
    residuals.clear(), boundaries.clear(), losses.clear();
    for (unsigned number = 0; number < function.getNumResults(); ++number)
      if (PlaceAttr place = getResultPlace(function, number))
        verifyResult(number, place);
    return success(valid);
  }

private:
  bool hasVariable() {
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      if (getVariable(function, number))
        return true;
    for (unsigned number = 0; number < function.getNumResults(); ++number)
      if (getResultVariable(function, number))
        return true;
    return false;
  }

  /// The module's variables, (phase_c1) and (phase_c3).
  void lookAround() {
    PhaseAttr phase = getPhase(function);
    for (Operation &op : *function->getBlock())
      if (auto variable = dyn_cast<VariableOp>(op))
        variables[variable.getSymNameAttr()] = variable;
      else if (auto other = dyn_cast<func::FuncOp>(op);
               phase && other && other != function && other->isBeforeInBlock(function))
        compare(phase, other);
  }

  void compare(PhaseAttr phase, func::FuncOp other) {
    PhaseAttr before = getPhase(other);
    if (!before || before.getChunk() != phase.getChunk())
      return;
    if (before.getPhase() == phase.getPhase()) {
      InFlightDiagnostic diagnostic = error("phase_c1: ");
      diagnostic << phase << " is the phase of another function, too; a chunk has one of each";
      diagnostic.attachNote(other.getLoc()) << "the other function";
    } else if (before.getStage() != phase.getStage() && !reported) {
      reported = true;
      InFlightDiagnostic diagnostic = error("phase_c3: ");
      diagnostic << "is of stage " << phase.getStage() << ", another function of chunk " << phase.getChunk()
                 << " of stage " << before.getStage() << "; a chunk is on one stage";
      diagnostic.attachNote(other.getLoc()) << "the other function";
    }
  }

  void verifyArgument(unsigned number, PlaceAttr place) {
    At at{"argument ", number};
    if (place.getOutput() || place.getAlias())
      error("place_c2: ") << at.str() << " is " << place << ", which only a result can be";
    verifyVariable(at, place, function.getArgumentTypes()[number],
                   function.getArgAttrOfType<TypeAttr>(number, ParDialect::kGlobalTypeAttr));
    verifyInput(at, place, function.getArgumentTypes()[number]);
    verifyConstant(at, place, function.getArgumentTypes()[number]);
    verifyNumber(at, place);
  }

  void verifyResult(unsigned number, PlaceAttr place) {
    At at{"result ", number};
    Type type = function.getResultTypes()[number];
    if (place.isInput() || place.getConstant())
      error("place_c2: ") << at.str() << " is " << place << ", which only an argument can be";
    verifyVariable(at, place, type,
                   function.getResultAttrOfType<TypeAttr>(number, ParDialect::kGlobalTypeAttr));
    verifyOutput(at, place, type);
    verifyNumber(at, place);
    if (place.getAlias())
      verifyAlias(at, *place.getAlias(), type);
    if (place.getOutput() == OutputKind::Loss && !losses.insert(place.getLoss()).second)
      error("place_c9: ") << at.str() << " is a second " << place << "; add both up, or name one of them";
  }

  /// (place_c3)
  void verifyVariable(At at, PlaceAttr place, Type type, TypeAttr global) {
    if (!place.getVariable())
      return;
    VariableOp variable = variables.lookup(place.getVariable().getAttr());
    if (!variable) {
      error("place_c3: ") << at.str() << ": " << place.getVariable() << " names no par.variable";
      return;
    }
    if (!global && function->hasAttr(ParDialect::kLocalAttr))
      return;
    Type logical = global ? global.getValue() : type;
    if (logical == variable.getTensorType())
      return;
    InFlightDiagnostic diagnostic = error("place_c3: ");
    diagnostic << at.str() << " is " << place << " and of type " << logical << ", the variable is "
               << variable.getTensorType();
    diagnostic.attachNote(variable.getLoc()) << "the variable";
  }

  /// (place_c4)
  void verifyInput(At at, PlaceAttr place, Type type) {
    if (!place.getInput())
      return;
    static const std::pair<InputShape, bool> expected[] = {
#define PAR_INPUT(symbol, name, element, shape, time, reader)                                                \
  {InputShape::shape, StringRef(#element) == "i32"},
#include "par/Inputs.def"
    };
    auto [shape, isInteger] = expected[static_cast<unsigned>(*place.getInput())];
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool fits =
        tensor && (isInteger ? tensor.getElementType().isInteger(32) : tensor.getElementType().isF32());
    fits = fits && (shape == InputShape::Rows   ? tensor.getRank() == 2
                    : shape == InputShape::Pair ? tensor.getShape() == ArrayRef<int64_t>{2}
                                                : tensor.getRank() == 0);
    if (fits)
      return;
    error("place_c4: ") << at.str() << " is " << place << " and of type " << type << ", the runtime supplies "
                        << (shape == InputShape::Rows   ? "rows and sequences of "
                            : shape == InputShape::Pair ? "two words of "
                                                        : "a scalar of ")
                        << (isInteger ? "i32" : "f32");
  }

  /// (place_c4) and (place_c11)
  void verifyOpenInput(unsigned number, PlaceAttr place) {
    At at{"argument ", number};
    auto tensor = dyn_cast<RankedTensorType>(function.getArgumentTypes()[number]);
    Type element = tensor ? tensor.getElementType() : Type();
    bool fits = tensor && tensor.hasStaticShape() &&
                (element.isF32() || element.isBF16() || element.isInteger(32) || element.isInteger(64) ||
                 element.isInteger(1));
    if (!fits || (tensor.getRank() == 0 && place.getInputReader() == "rows")) {
      error("place_c4: ") << at.str() << " is " << place << " and of type "
                          << function.getArgumentTypes()[number]
                          << ", a reader fills tensors of f32, bf16, i32, i64 or i1"
                          << (fits ? ", and \"rows\" such that have rows" : "");
      return;
    }
    if (isa<ModuleOp>(function->getParentOp()))
      for (auto other : function->getBlock()->getOps<func::FuncOp>())
        if (other == function || !compareInputs(number, place, other))
          return;
  }

  /// Whether an open input is the same in another function. Of both, the one behind says that it is not.
  bool compareInputs(unsigned number, PlaceAttr place, func::FuncOp other) {
    for (unsigned argument = 0; argument < other.getNumArguments(); ++argument) {
      PlaceAttr place2 = getPlace(other, argument);
      if (!place2 || place2.getOpenInput() != place.getOpenInput())
        continue;
      RankedTensorType type = getGlobalType(function, number), type2 = getGlobalType(other, argument);
      if (place == place2 && type == type2)
        continue;
      InFlightDiagnostic diagnostic = error("place_c11: ");
      diagnostic << At{"argument ", number}.str() << " is " << place << " of type " << type << ", argument "
                 << argument << " of @" << other.getSymName() << " is " << place2 << " of type " << type2
                 << "; one input has one type, time and reader";
      diagnostic.attachNote(other.getLoc()) << "the other function";
      return false;
    }
    return true;
  }

  void verifyOutput(At at, PlaceAttr place, Type type) {
    if (!place.getOutput())
      return;
    static constexpr int64_t ranks[] = {
#define PAR_OUTPUT(symbol, name, rank) rank,
#include "par/Inputs.def"
    };
    int64_t rank = ranks[static_cast<unsigned>(*place.getOutput())];
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != rank || !tensor.getElementType().isF32())
      error("place_c4: ") << at.str() << " is " << place << " and of type " << type
                          << ", the runtime reads f32 of rank " << rank
                          << (rank == 0 ? "; sum it up over the rows of the batch" : "");
  }

  /// (place_c7)
  void verifyConstant(At at, PlaceAttr place, Type type) {
    if (!place.getConstant())
      return;
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type element = place.getConstant().getType();
    if (!tensor || tensor.getElementType() != element || !(element.isInteger(32) || element.isF32()))
      error("place_c7: ") << at.str() << " is " << place << " and of type " << type
                          << ", expected elements of the constant's type, i32 or f32";
  }

  /// (place_c5)
  void verifyNumber(At at, PlaceAttr place) {
    if ((place.getResidual() && !residuals.insert(*place.getResidual()).second) ||
        (place.getBoundary() && !boundaries.insert(*place.getBoundary()).second))
      error("place_c5: ") << at.str() << " is a second " << place << "; number them apart";
  }

  /// (place_c6)
  void verifyAlias(At at, int64_t argument, Type type) {
    if (argument >= function.getNumArguments())
      error("place_c6: ") << at.str() << " is alias " << argument << ", expected one of "
                          << function.getNumArguments() << " arguments";
    else if (function.getArgumentTypes()[argument] != type)
      error("place_c6: ") << at.str() << " of type " << type << " is written over argument " << argument
                          << " of type " << function.getArgumentTypes()[argument];
    else if (!aliases.insert(argument).second)
      error("place_c6: ") << at.str() << " is written over argument " << argument << ", as another result is";
  }

  InFlightDiagnostic error(StringRef code) {
    valid = false;
    return function.emitOpError(code);
  }

  func::FuncOp function;
  llvm::DenseMap<StringAttr, VariableOp> variables;
  llvm::DenseSet<int64_t> residuals, boundaries, aliases;
  llvm::DenseSet<Attribute> losses;    ///< names; null: of the main one
  bool valid = true, reported = false; ///< reported: (phase_c3)
};
} // namespace

LogicalResult par::verifyPlaces(func::FuncOp function) { return PlaceVerifier(function).run(); }
