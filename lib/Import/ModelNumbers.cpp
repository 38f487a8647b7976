//===- ModelNumbers.cpp - the numbers of a config, the structure of a graph -----------------------------===//
#include "par/Import/ModelNumbers.h"
#include "par/Dialect/Par/IR/FilePlaces.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Import/LayerFunctions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

static Attribute toAttribute(Builder &builder, const KindDescription::Datum &value) {
  if (const bool *flag = std::get_if<bool>(&value))
    return builder.getBoolAttr(*flag);
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return builder.getI64IntegerAttr(*integer);
  if (const double *number = std::get_if<double>(&value))
    return builder.getF64FloatAttr(*number);
  return builder.getStringAttr(std::get<std::string>(value));
}

/// The values of `key` in `layers`: one if they agree, else one for each.
static Attribute getNumber(Builder &builder, StringRef key, ArrayRef<const LayerFunction *> layers) {
  llvm::SmallDenseMap<const LayerFunction *, Attribute> known;
  SmallVector<Attribute> values;
  for (const LayerFunction *layer : layers) {
    Attribute &value = known[layer];
    if (!value) {
      const KindDescription::Entry *entry = layer->description.find(key);
      value = entry ? toAttribute(builder, entry->value) : builder.getStringAttr("none");
    }
    values.push_back(value);
  }
  return llvm::all_equal(values) ? values.front() : builder.getArrayAttr(values);
}

DictionaryAttr mlir::par::describeNumbers(MLIRContext *context, const ModelConfig &config) {
  Builder builder(context);
  NamedAttrList numbers;
  numbers.set("hidden_size", builder.getI64IntegerAttr(config.hidden));
  numbers.set("num_hidden_layers", builder.getI64IntegerAttr(config.countBlocks()));
  LayerFunctions functions = findLayerFunctions(config);
  llvm::MapVector<StringRef, SmallVector<const LayerFunction *>> classes;
  for (size_t layer = 0; layer < config.layers.size(); ++layer)
    classes[functions.get(layer).kind->getName()].push_back(&functions.get(layer));
  for (const auto &[name, layers] : classes) {
    llvm::SetVector<StringRef> keys;
    for (const LayerFunction &function : functions.functions)
      if (function.kind->getName() == name)
        for (const KindDescription::Entry &entry : function.description.getEntries())
          if (entry.isNumber)
            keys.insert(entry.key);
    for (StringRef key : keys) {
      Attribute value = getNumber(builder, key, layers);
      // The head may have a norm as blocks have it, or another one.
      Attribute other = numbers.get(key);
      numbers.set(other && other != value ? (name + "." + key).str() : key.str(), value);
    }
  }
  return numbers.getDictionary(context);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace {
/// A text that two graphs share when they compute the same of the same parameters.
class StructureWriter {
public:
  explicit StructureWriter(ModuleOp module) : module(module), stream(text) {}

  std::string run() {
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getRole() == Role::Parameter)
        writeParameter(variable);
    bool marked = llvm::any_of(module.getOps<func::FuncOp>(), isForward);
    for (auto function : module.getOps<func::FuncOp>())
      if (!marked || function.isPrivate() || isForward(function))
        writeFunction(function);
    return text;
  }

private:
  static bool isForward(func::FuncOp function) { return isPhase(function, Phase::Forward); }

  void writeParameter(VariableOp variable) {
    stream << "parameter " << variable.getSymName() << ' ';
    if (FileAttr file = variable.getFileAttr())
      writeFile(variable, file);
    for (int64_t size : variable.getTensorType().getShape())
      stream << ' ' << size;
    stream << '\n';
  }

  /// The name alone where the variable is a whole tensor: checkpoints name it so.
  void writeFile(VariableOp variable, FileAttr file) {
    if (::par::io::wholePiece(getFilePlace(variable), variable.getTensorType().getShape().vec()))
      stream << file.getName().getValue();
    else
      stream << file;
  }

  void writeFunction(func::FuncOp function) {
    stream << "function " << function.getSymName() << '\n';
    for (BlockArgument argument : function.getArguments()) {
      stream << "argument";
      if (StringRef input = getInputName(function, argument.getArgNumber()); !input.empty())
        stream << " \"" << input << '"';
      if (FlatSymbolRefAttr variable = getVariable(argument))
        stream << ' ' << variable;
      stream << '\n';
    }
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { writeOp(op); });
  }

  void writeOp(Operation *op) {
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        number(argument);
    if (isa<ConstrainOp, ReshardOp>(op)) { // says where values are, not what they are
      numbers[op->getResult(0)] = number(op->getOperand(0));
      return;
    }
    stream << op->getName();
    for (Value operand : op->getOperands())
      stream << " %" << number(operand);
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (matters(attribute.getValue()))
        stream << ' ' << attribute.getName().getValue() << '=' << attribute.getValue();
    for (Value result : op->getResults())
      stream << " %" << number(result);
    stream << '\n';
  }

  /// Extents, and counts that are written as tensors, may follow from the batch.
  static bool matters(Attribute value) {
    if (auto elements = dyn_cast<DenseElementsAttr>(value))
      return isa<FloatType>(elements.getElementType()) && (elements.isSplat() || elements.size() <= 4096);
    return !isa<TypeAttr, ShardingAttr, DenseArrayAttr, ElementsAttr, DictionaryAttr>(value);
  }

  /// Values are known by the order in which they appear.
  unsigned number(Value value) { return numbers.try_emplace(value, numbers.size()).first->second; }

  ModuleOp module;
  llvm::DenseMap<Value, unsigned> numbers;
  std::string text;
  llvm::raw_string_ostream stream;
};
} // namespace

void mlir::par::describeGraph(ModuleOp module) {
  auto model = module->getAttrOfType<DictionaryAttr>(ParDialect::kModelAttr);
  if (!model || model.contains(kModelNumbers))
    return;
  Builder builder(module.getContext());
  std::string structure = StructureWriter(module).run();
  std::string hash =
      llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(structure)), /*LowerCase=*/true);
  NamedAttrList entries(model);
  entries.set(kModelNumbers,
              builder.getDictionaryAttr(builder.getNamedAttr("graph", builder.getStringAttr(hash))));
  module->setAttr(ParDialect::kModelAttr, entries.getDictionary(module.getContext()));
}
