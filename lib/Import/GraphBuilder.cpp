//===- GraphBuilder.cpp - variables, layer functions and chunk functions --------------------------------===//
#include "GraphBuilder.h"
#include "par/Import/ModelNumbers.h"

using namespace mlir;
using namespace mlir::par;

GraphBuilder::GraphBuilder(MLIRContext &context, const ImportPlan &plan)
    : plan(plan), family(*findFamily(plan.config.modelType)), parameters(modelParameters(plan.config)),
      builder(&context), loc(builder.getUnknownLoc()), module(ModuleOp::create(loc)) {
  builder.setInsertionPointToEnd(module->getBody());
}

OwningOpRef<ModuleOp> GraphBuilder::build(bool withLogits) {
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  (*module)->setAttr(
      ParDialect::kModelAttr,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("model_type", builder.getStringAttr(plan.config.modelType)),
           builder.getNamedAttr(kModelNumbers, describeNumbers(builder.getContext(), plan.config)),
           builder.getNamedAttr("parameters", number(parameters.elements())),
           builder.getNamedAttr("vocab", number(plan.config.vocab))}));
  buildVariables();
  buildEntry(Phase::Forward);
  if (withLogits)
    buildEntry(Phase::Logits);
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

RankedTensorType GraphBuilder::parameterType(const Parameter &parameter) {
  SmallVector<int64_t> shape;
  for (const Dimension &dim : parameter.dims)
    shape.push_back(dim.size);
  return RankedTensorType::get(shape, plan.bf16 ? Type(builder.getBF16Type()) : Type(builder.getF32Type()));
}

void GraphBuilder::buildVariable(const Parameter &parameter) {
  SmallVector<StringRef> names;
  for (const Dimension &dim : parameter.dims)
    names.push_back(dim.name);
  FloatAttr deviation =
      parameter.init == InitKind::Normal ? builder.getF64FloatAttr(parameter.standardDeviation) : nullptr;
  MLIRContext *context = builder.getContext();
  builder.create<VariableOp>(NameLoc::get(builder.getStringAttr(parameter.fileName)), parameter.symbol,
                             parameterType(parameter), builder.getStrArrayAttr(names), Role::Parameter,
                             InitAttr::get(context, parameter.init, deviation, parameter.zeroRow),
                             FileAttr::get(context, builder.getStringAttr(parameter.fileName),
                                           parameter.fileShape, parameter.permutation),
                             /*storage=*/ShardingAttr(), /*compute=*/ShardingAttr(),
                             /*of=*/FlatSymbolRefAttr(),
                             /*alias=*/FlatSymbolRefAttr(), /*space=*/MemorySpaceAttr());
}

void GraphBuilder::buildVariables() {
  for (const Parameter *parameter : parameters.all())
    buildVariable(*parameter);
}

//===----------------------------------------------------------------------===//
// Entry functions
//===----------------------------------------------------------------------===//

GraphBuilder::Entry GraphBuilder::beginEntry(Phase phase) {
  bool training = phase == Phase::Forward;
  Type i32 = builder.getI32Type();
  RankedTensorType rows = tensor({plan.batch, plan.seq}, i32);
  bool dropout = usesDropout(Kind::Embed, training) || usesDropout(Kind::Block, training);
  SmallVector<std::pair<InputKind, Type>> inputs{{InputKind::Tokens, rows}};
  if (training)
    inputs.push_back({InputKind::Targets, rows});
  if (dropout) {
    inputs.push_back({InputKind::DropoutKey, tensor({2}, i32)});
    inputs.push_back({InputKind::MicroBatch, tensor({}, i32)});
  }
  SmallVector<Type> types(llvm::make_second_range(inputs));
  for (const Parameter *parameter : parameters.all())
    types.push_back(parameterType(*parameter));
  Type result = training ? tensor({}, builder.getF32Type())
                         : tensor({plan.batch, plan.seq, plan.config.vocab}, builder.getF32Type());

  Entry entry;
  entry.function =
      builder.create<func::FuncOp>(loc, stringifyPhase(phase), builder.getFunctionType(types, result));
  if (!firstEntry)
    firstEntry = entry.function;
  OutputKind output = training ? OutputKind::Loss : OutputKind::Logits;
  setResultPlace(entry.function, 0, PlaceAttr::ofOutput(builder.getContext(), output));
  setPhase(entry.function, phase, /*chunk=*/0);
  Block *body = entry.function.addEntryBlock();
  entry.tokens = body->getArgument(0);
  entry.targets = training ? body->getArgument(1) : Value();
  SmallVector<DictionaryAttr> attributes;
  for (auto [input, type] : inputs) {
    NamedAttrList attribute;
    attribute.set(ParDialect::kPlaceAttr, PlaceAttr::ofInput(builder.getContext(), input));
    if (type == rows)
      attribute.set(ParDialect::kDimsAttr, builder.getStrArrayAttr({"batch", "seq"}));
    attributes.push_back(attribute.getDictionary(builder.getContext()));
  }
  bindParameters(entry, attributes);
  entry.function.setAllArgAttrs(attributes);
  if (dropout) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(body);
    entry.key = body->getArgument(2);
    Value batch = buildSplat(builder, loc, tensor({}, i32), static_cast<double>(plan.batch));
    entry.row = builder.create<arith::MulIOp>(loc, body->getArgument(3), batch);
  }
  return entry;
}

void GraphBuilder::bindParameters(Entry &entry, SmallVectorImpl<DictionaryAttr> &attributes) {
  for (const Parameter *parameter : parameters.all()) {
    entry.parameters[parameter->symbol] = entry.function.getArgument(attributes.size());
    auto place = PlaceAttr::ofVariable(FlatSymbolRefAttr::get(builder.getContext(), parameter->symbol));
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(ParDialect::kPlaceAttr, place)));
  }
}

void GraphBuilder::buildEntry(Phase phase) {
  Entry entry = beginEntry(phase);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&entry.function.getBody().front());
  Value x = callLayer(entry, Kind::Embed, parameters.embed, entry.tokens, 0);
  for (int64_t layer = 0; layer < plan.config.layers; ++layer)
    x = callLayer(entry, Kind::Block, parameters.blocks[layer], x, layer);
  x = callLayer(entry, Kind::Head, headParameters(), x, 0);
  builder.create<func::ReturnOp>(loc, x);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

std::vector<Parameter> GraphBuilder::headParameters() const {
  std::vector<Parameter> result = parameters.head;
  if (plan.config.tied) {
    result.push_back(parameters.embed.front());
    result.back().local = "lm_head.weight";
  }
  return result;
}

bool GraphBuilder::usesDropout(Kind kind, bool training) const {
  const ModelConfig &config = plan.config;
  if (!training || kind == Kind::Head)
    return false;
  return kind == Kind::Embed ? config.embeddingDropout > 0
                             : config.attentionDropout > 0 || config.residualDropout > 0;
}

bool GraphBuilder::usesIndex(Kind kind, bool training) const {
  return kind == Kind::Block && (usesDropout(kind, training) || plan.config.scaleByLayer);
}

/// `@embed`, `@block`, `@head`; what differs from the first kind of block or from training is named.
std::string GraphBuilder::layerName(Kind kind, bool training, int64_t window) const {
  std::string name = kind == Kind::Embed ? "embed" : kind == Kind::Block ? "block" : "head";
  if (kind == Kind::Block && window != plan.config.windows.front())
    name += window ? ".window" + std::to_string(window) : ".full";
  if (!training && kind == Kind::Head)
    return name + ".logits";
  if (!training && usesDropout(kind, /*training=*/true))
    return name + ".eval";
  return name;
}

Value GraphBuilder::callLayer(Entry &entry, Kind kind, ArrayRef<Parameter> layerParameters, Value x,
                              int64_t layer) {
  bool training = bool(entry.targets);
  SmallVector<Value> operands{x};
  for (const Parameter &parameter : layerParameters)
    operands.push_back(entry.parameters.lookup(parameter.symbol));
  if (usesIndex(kind, training))
    operands.push_back(
        buildSplat(builder, loc, tensor({}, builder.getI32Type()), static_cast<double>(layer)));
  if (usesDropout(kind, training))
    operands.append({entry.key, entry.row});
  if (training && kind == Kind::Head)
    operands.push_back(entry.targets);

  int64_t window = kind == Kind::Block ? plan.config.windows[layer] : 0;
  std::string name = layerName(kind, training, window);
  func::FuncOp &callee = layers[name];
  if (!callee)
    callee = layerFunction(name, kind, layerParameters, ValueRange(operands).getTypes(), training, window);
  std::string place = kind == Kind::Block ? name + "." + std::to_string(layer) : name;
  return builder
      .create<CallOp>(NameLoc::get(builder.getStringAttr(place)), callee.getResultTypes(),
                      callee.getSymName(), operands)
      .getResult(0);
}

Value GraphBuilder::buildBody(LayerBuilder &layer, Kind kind, Value x, Value targets, int64_t window) {
  switch (kind) {
  case Kind::Embed:
    return family.buildEmbed(layer, x);
  case Kind::Block:
    return family.buildBlock(layer, x, window);
  case Kind::Head: {
    Value logits = family.buildHead(layer, x);
    return targets ? layer.crossEntropySum(logits, targets) : layer.toF32(logits);
  }
  }
  llvm_unreachable("all kinds are handled");
}

func::FuncOp GraphBuilder::layerFunction(StringRef name, Kind kind, ArrayRef<Parameter> layerParameters,
                                         TypeRange types, bool training, int64_t window) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(firstEntry);
  auto function = builder.create<func::FuncOp>(loc, name, builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);

  unsigned next = 1 + layerParameters.size();
  Value index = usesIndex(kind, training) ? body->getArgument(next++) : Value();
  DropoutInputs dropout;
  if (usesDropout(kind, training)) {
    dropout.key = body->getArgument(next++);
    dropout.row = body->getArgument(next++);
  }
  LayerBuilder layer(builder, plan.config, plan.batch, plan.seq, index, dropout);
  for (auto [index, parameter] : llvm::enumerate(layerParameters)) {
    layer.define(parameter.local, body->getArgument(1 + index));
    body->getArgument(1 + index).setLoc(NameLoc::get(builder.getStringAttr(parameter.local)));
  }
  Value targets = training && kind == Kind::Head ? body->getArgument(next) : Value();
  Value result = buildBody(layer, kind, body->getArgument(0), targets, window);
  builder.create<func::ReturnOp>(loc, result);
  function.setFunctionType(builder.getFunctionType(types, result.getType()));
  return function;
}
