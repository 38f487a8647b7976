//===- ModelNumbers.cpp - the numbers of a config, the structure of a graph -----------------------------===//
#include "par/Import/ModelNumbers.h"
#include "par/Dialect/Par/IR/Places.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

static StringRef nameOf(Activation activation) {
  switch (activation) {
  case Activation::GeluTanh:
    return "gelu_tanh";
  case Activation::Gelu:
    return "gelu";
  case Activation::Relu:
    return "relu";
  case Activation::Silu:
    return "silu";
  }
  llvm_unreachable("all activations have a name");
}

static StringRef nameOf(Rotary::Scaling scaling) {
  switch (scaling) {
  case Rotary::Scaling::None:
    return "none";
  case Rotary::Scaling::Linear:
    return "linear";
  case Rotary::Scaling::Llama3:
    return "llama3";
  }
  llvm_unreachable("all scalings have a name");
}

static void addRotary(Builder &builder, const Rotary &rotary, NamedAttrList &numbers) {
  numbers.set("rope_theta", builder.getF64FloatAttr(rotary.theta));
  numbers.set("rope_scaling", builder.getStringAttr(nameOf(rotary.scaling)));
  if (rotary.scaling == Rotary::Scaling::None)
    return;
  numbers.set("rope_factor", builder.getF64FloatAttr(rotary.factor));
  if (rotary.scaling == Rotary::Scaling::Linear)
    return;
  numbers.set("rope_low_freq_factor", builder.getF64FloatAttr(rotary.lowFrequencyFactor));
  numbers.set("rope_high_freq_factor", builder.getF64FloatAttr(rotary.highFrequencyFactor));
  numbers.set("rope_original_positions", builder.getF64FloatAttr(rotary.originalPositions));
}

DictionaryAttr par::describeNumbers(MLIRContext *context, const ModelConfig &config) {
  Builder builder(context);
  NamedAttrList numbers;
  auto integer = [&](StringRef name, int64_t value) { numbers.set(name, builder.getI64IntegerAttr(value)); };
  auto flag = [&](StringRef name, bool value) { numbers.set(name, builder.getBoolAttr(value)); };
  integer("hidden_size", config.hidden);
  integer("num_hidden_layers", config.layers);
  integer("num_attention_heads", config.heads);
  integer("num_key_value_heads", config.kvHeads);
  integer("head_dim", config.headDim);
  integer("intermediate_size", config.intermediate);
  numbers.set("hidden_act", builder.getStringAttr(nameOf(config.activation)));
  numbers.set("norm_eps", builder.getF64FloatAttr(config.normEpsilon));
  flag("tie_word_embeddings", config.tied);
  if (config.paddingToken)
    integer("pad_token_id", *config.paddingToken);
  flag("scale_attn_weights", config.scaleByHeadDim);
  flag("scale_attn_by_inverse_layer_idx", config.scaleByLayer);
  flag("attention_bias", config.queryKeyValueBias);
  flag("attention_output_bias", config.outputBias);
  flag("mlp_bias", config.mlpBias);
  if (llvm::all_equal(config.windows))
    integer("sliding_window", config.windows.front());
  else
    numbers.set("sliding_window", builder.getI64ArrayAttr(config.windows));
  if (config.rotary)
    addRotary(builder, *config.rotary, numbers);
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
    FileAttr file = variable.getFileAttr();
    stream << "parameter " << variable.getSymName() << ' ';
    if (file)
      stream << file.getName().getValue();
    for (int64_t size : variable.getTensorType().getShape())
      stream << ' ' << size;
    stream << '\n';
  }

  void writeFunction(func::FuncOp function) {
    stream << "function " << function.getSymName() << '\n';
    for (BlockArgument argument : function.getArguments()) {
      stream << "argument";
      if (std::optional<InputKind> input = getInput(function, argument.getArgNumber()))
        stream << " \"" << stringifyInputKind(*input) << '"';
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

void par::describeGraph(ModuleOp module) {
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
