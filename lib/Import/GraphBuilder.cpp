//===- GraphBuilder.cpp - variables, layer functions and chunk functions --------------------------------===//
#include "GraphBuilder.h"
#include "par/Import/ModelNumbers.h"

using namespace mlir;
using namespace mlir::par;

GraphBuilder::GraphBuilder(MLIRContext &context, const ImportPlan &plan)
    : plan(plan), functions(findLayerFunctions(plan.config)), parameters(modelParameters(plan.config)),
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

/// Describes where a parameter lies in the model's files.
static FileAttr describeFile(Builder &builder, const Parameter &parameter) {
  MLIRContext *context = builder.getContext();
  StringAttr name = builder.getStringAttr(parameter.fileName);
  if (!parameter.joint)
    return FileAttr::get(context, name, parameter.fileShape, parameter.permutation);
  SmallVector<int64_t> shape(parameter.fileShape.begin(), parameter.fileShape.end()), begin(shape.size(), 0),
      end(shape.size(), FilePieceAttr::kToEnd);
  begin[0] = parameter.joint->begin;
  end[0] = begin[0] + shape[0];
  shape[0] = parameter.joint->rows;
  auto piece =
      FilePieceAttr::get(context, name, /*stack=*/0, shape, parameter.permutation, /*view=*/{}, begin, end,
                         /*partBegin=*/{}, /*partEnd=*/{});
  return FileAttr::get(context, piece, FloatAttr());
}

void GraphBuilder::buildVariable(const Parameter &parameter, RankedTensorType type) {
  SmallVector<StringRef> names;
  for (const Dimension &dim : parameter.dims)
    names.push_back(dim.name);
  FloatAttr deviation =
      parameter.init == InitKind::Normal ? builder.getF64FloatAttr(parameter.standardDeviation) : nullptr;
  MLIRContext *context = builder.getContext();
  builder.create<VariableOp>(NameLoc::get(builder.getStringAttr(parameter.fileName)), parameter.symbol, type,
                             builder.getStrArrayAttr(names), Role::Parameter,
                             InitAttr::get(context, parameter.init, deviation, parameter.zeroRow),
                             describeFile(builder, parameter),
                             /*storage=*/ShardingAttr(), /*compute=*/ShardingAttr(),
                             /*of=*/FlatSymbolRefAttr(),
                             /*alias=*/FlatSymbolRefAttr(), /*space=*/MemorySpaceAttr());
}

void GraphBuilder::buildVariables() {
  StringAttr key = builder.getStringAttr(ParDialect::kPlaceAttr);
  for (const Parameter *parameter : parameters.all()) {
    auto symbol = FlatSymbolRefAttr::get(builder.getContext(), parameter->symbol);
    NamedAttribute place(key, PlaceAttr::ofVariable(symbol));
    arguments.push_back({parameter, parameterType(*parameter), builder.getDictionaryAttr(place)});
    buildVariable(*parameter, arguments.back().type);
  }
}

//===----------------------------------------------------------------------===//
// Entry functions
//===----------------------------------------------------------------------===//

GraphBuilder::Entry GraphBuilder::beginEntry(Phase phase) {
  bool training = phase == Phase::Forward;
  Type i32 = builder.getI32Type();
  RankedTensorType rows = tensor({plan.batch, plan.seq}, i32);
  bool dropout = usesDropout(training);
  SmallVector<std::pair<InputKind, Type>> inputs{{InputKind::Tokens, rows}};
  if (training)
    inputs.push_back({InputKind::Targets, rows});
  if (plan.config.isolatesDocuments)
    inputs.append({{InputKind::Positions, rows}, {InputKind::Documents, rows}});
  unsigned firstOfDropout = inputs.size();
  if (dropout) {
    inputs.push_back({InputKind::DropoutKey, tensor({2}, i32)});
    inputs.push_back({InputKind::MicroBatch, tensor({}, i32)});
  }
  SmallVector<Type> types(llvm::make_second_range(inputs));
  for (const Argument &argument : arguments)
    types.push_back(argument.type);
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
  if (plan.config.isolatesDocuments) {
    entry.positions = body->getArgument(firstOfDropout - 2);
    entry.documents = body->getArgument(firstOfDropout - 1);
  }
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
    entry.key = body->getArgument(firstOfDropout);
    Value batch = buildSplat(builder, loc, tensor({}, i32), static_cast<double>(plan.batch));
    entry.row = builder.create<arith::MulIOp>(loc, body->getArgument(firstOfDropout + 1), batch);
  }
  return entry;
}

void GraphBuilder::bindParameters(Entry &entry, SmallVectorImpl<DictionaryAttr> &attributes) {
  for (const Argument &argument : arguments) {
    entry.parameters[argument.parameter->symbol] = entry.function.getArgument(attributes.size());
    attributes.push_back(argument.attributes);
  }
}

void GraphBuilder::buildEntry(Phase phase) {
  Entry entry = beginEntry(phase);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&entry.function.getBody().front());
  Value x = entry.tokens;
  for (size_t layer = 0; layer < plan.config.layers.size(); ++layer)
    x = callLayer(entry, layer, x);
  builder.create<func::ReturnOp>(loc, x);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

bool GraphBuilder::usesDropout(bool training) const {
  return llvm::any_of(functions.functions, [&](const LayerFunction &function) {
    return function.getDeclaration(training).dropout;
  });
}

Value GraphBuilder::callLayer(Entry &entry, size_t layer, Value x) {
  bool training = bool(entry.targets);
  const LayerFunction &function = functions.get(layer);
  const LayerDeclaration &declaration = function.getDeclaration(training);
  std::optional<int64_t> number = plan.config.layers[layer].number;
  SmallVector<Value> operands{x};
  for (const Parameter &parameter : parameters.layers[layer])
    operands.push_back(entry.parameters.lookup(parameter.symbol));
  if (declaration.index)
    operands.push_back(
        buildSplat(builder, loc, tensor({}, builder.getI32Type()), static_cast<double>(number.value_or(0))));
  if (declaration.dropout)
    operands.append({entry.key, entry.row});
  if (declaration.targets)
    operands.push_back(entry.targets);
  if (declaration.positions)
    operands.push_back(entry.positions);
  if (declaration.documents)
    operands.push_back(entry.documents);

  std::string name = function.getName(training);
  func::FuncOp &callee = built[name];
  if (!callee)
    callee = layerFunction(name, function, ValueRange(operands).getTypes(), training);
  std::string place = number ? name + "." + std::to_string(*number) : name;
  return builder
      .create<CallOp>(NameLoc::get(builder.getStringAttr(place)), callee.getResultTypes(),
                      callee.getSymName(), operands)
      .getResult(0);
}

func::FuncOp GraphBuilder::layerFunction(StringRef name, const LayerFunction &layer, TypeRange types,
                                         bool training) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(firstEntry);
  auto function = builder.create<func::FuncOp>(loc, name, builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);

  const LayerDeclaration &declaration = layer.getDeclaration(training);
  LayerOperands operands;
  unsigned next = 1;
  auto take = [&](bool isDeclared) { return isDeclared ? body->getArgument(next++) : Value(); };
  for (const Parameter &parameter : declaration.parameters) {
    Value argument = take(true);
    argument.setLoc(NameLoc::get(builder.getStringAttr(parameter.local)));
    operands.parameters[parameter.local] = argument;
  }
  operands.index = take(declaration.index);
  operands.key = take(declaration.dropout);
  operands.row = take(declaration.dropout);
  operands.targets = take(declaration.targets);
  operands.positions = take(declaration.positions);
  operands.documents = take(declaration.documents);
  LayerBuilder words(plan.config, training, builder, plan.batch, plan.seq, operands);
  Value result = layer.kind->build(words, body->getArgument(0));
  builder.create<func::ReturnOp>(loc, result);
  function.setFunctionType(builder.getFunctionType(types, result.getType()));
  return function;
}
