//===- LayerBuilder.cpp - the vocabulary in which layers are written ------------------------------------===//
#include "par/Import/LayerBuilder.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::par;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// 0, 1, … n − 1.
static std::vector<int64_t> inOrder(int64_t n) {
  auto numbers = llvm::seq<int64_t>(0, n);
  return {numbers.begin(), numbers.end()};
}

LayerBuilder::LayerBuilder(const ModelConfig &config, bool training) : config(config), training(training) {
  dimension('e', "embed", config.hidden);
  dimension('v', "vocab", config.vocab);
  dimension('p', "positions", config.maxPositions);
}

LayerBuilder::LayerBuilder(const ModelConfig &config, bool training, OpBuilder &builder, int64_t batch,
                           int64_t seq, const LayerOperands &operands)
    : LayerBuilder(config, training) {
  this->builder = &builder;
  this->batch = batch;
  this->seq = seq;
  this->operands = operands;
  loc = builder.getUnknownLoc();
}

LayerDeclaration par::declareLayer(const ModelConfig &config, const LayerPart &kind, bool training) {
  LayerBuilder layer(config, training);
  kind.build(layer, Value());
  return layer.getDeclaration();
}

RankedTensorType LayerBuilder::typeLike(Value value, ArrayRef<int64_t> shape) const {
  return RankedTensorType::get(shape, cast<RankedTensorType>(value.getType()).getElementType());
}

void LayerBuilder::setPlace(StringRef name) {
  if (!isDeclaring())
    loc = NameLoc::get(builder->getStringAttr(name));
}

Value LayerBuilder::splat(Value like, double value) {
  return buildSplat(*builder, loc, cast<RankedTensorType>(like.getType()), value);
}

Value LayerBuilder::scalar(int32_t value) {
  return buildSplat(*builder, loc, RankedTensorType::get({}, builder->getI32Type()), value);
}

//===----------------------------------------------------------------------===//
// Tensors of the layer
//===----------------------------------------------------------------------===//

std::vector<Dimension> LayerBuilder::dimensionsOf(StringRef letters) const {
  std::vector<Dimension> result;
  for (char letter : letters) {
    auto known = dimensions.find(letter);
    if (known == dimensions.end())
      llvm::report_fatal_error("a layer gives the letter '" + Twine(letter) + "' no dimension");
    result.push_back(known->second);
  }
  return result;
}

Value LayerBuilder::tensor(Parameter parameter) {
  if (!isDeclaring())
    return operands.parameters.lookup(parameter.local);
  auto same = [&](const Parameter &other) { return other.local == parameter.local; };
  if (llvm::none_of(declaration.parameters, same)) {
    parameter.symbol = shared.lookup(parameter.local);
    parameter.shared = !parameter.symbol.empty();
    declaration.parameters.push_back(std::move(parameter));
  }
  return {};
}

Value LayerBuilder::vector(const Twine &local, StringRef letters, InitKind init,
                           const std::optional<JointRows> &joint) {
  Parameter parameter;
  parameter.joint = joint;
  parameter.local = local.str();
  parameter.dims = dimensionsOf(letters);
  parameter.fileShape = {countElements(parameter.dims)};
  parameter.permutation = inOrder(letters.size());
  parameter.init = init;
  return tensor(std::move(parameter));
}

Value LayerBuilder::weight(StringRef equation, StringRef name, const LinearMap &map) {
  auto [inputs, output] = equation.split("->");
  StringRef letters = inputs.split(',').second;
  Parameter parameter;
  parameter.local = (name + ".weight").str();
  parameter.dims = dimensionsOf(letters);
  parameter.standardDeviation = map.deviation.value_or(config.initializerRange);
  parameter.joint = map.joint;
  // The file's two dimensions: those of the output, and those that are summed over.
  bool outputFirst = map.order == LinearMap::Order::OutputFirst;
  for (bool ofOutput : {outputFirst, !outputFirst}) {
    int64_t size = 1;
    for (auto [index, letter] : llvm::enumerate(letters)) {
      if (output.contains(letter) != ofOutput)
        continue;
      parameter.permutation.push_back(index);
      size *= parameter.dims[index].size;
    }
    parameter.fileShape.push_back(size);
  }
  return tensor(std::move(parameter));
}

Value LayerBuilder::linear(StringRef equation, Value input, StringRef name, LinearMap map) {
  setPlace(name);
  // What is neither batch nor sequence.
  std::string made = equation.split("->").second.str();
  llvm::erase_if(made, [](char letter) { return letter == 'b' || letter == 's'; });
  declaration.width = std::max(declaration.width, double(countElements(dimensionsOf(made))));
  Value result = einsum(equation, input, weight(equation, name, map));
  return map.bias ? add(result, vector(name + ".bias", made, InitKind::Zeros, map.joint)) : result;
}

Value LayerBuilder::embedding(Value ids, StringRef name, StringRef letters, std::optional<int64_t> padding) {
  setPlace(name);
  Parameter table;
  table.local = (name + ".weight").str();
  table.dims = dimensionsOf(letters);
  for (const Dimension &dim : table.dims)
    table.fileShape.push_back(dim.size);
  table.permutation = inOrder(letters.size());
  table.standardDeviation = config.initializerRange;
  table.zeroRow = padding;
  declaration.width = std::max(declaration.width, double(table.fileShape.back()));
  Value rows = tensor(std::move(table));
  if (isDeclaring())
    return {};
  SmallVector<int64_t> shape(shapeOf(ids));
  shape.push_back(shapeOf(rows).back());
  return builder->create<EmbeddingOp>(loc, typeLike(rows, shape), ids, rows, Value(),
                                      padding ? builder->getI64IntegerAttr(*padding) : IntegerAttr());
}

Value LayerBuilder::norm(Value input, StringRef name, const Norm &norm, StringRef letters) {
  setPlace(name);
  bool isLayerNorm = norm.type == Norm::Type::Layer;
  Value scale, shift;
  if (norm.type != Norm::Type::Standardize)
    scale = vector(name + ".weight", letters, norm.offset == 0 ? InitKind::Ones : InitKind::Zeros);
  if (isLayerNorm)
    shift = vector(name + ".bias", letters, InitKind::Zeros);
  if (isDeclaring())
    return {};
  Type statistics = RankedTensorType::get(shapeOf(input).drop_back(letters.size()), builder->getF32Type());
  FloatAttr epsilon = builder->getF64FloatAttr(norm.epsilon);
  // If there are several dimensions, all but the last may be split, and padded for it.
  IntegerAttr count =
      letters.size() > 1 ? builder->getI64IntegerAttr(countElements(dimensionsOf(letters))) : nullptr;
  SmallVector<Type> types{input.getType(), statistics, statistics};
  switch (norm.type) {
  case Norm::Type::Rms:
    types.pop_back();
    return builder
        ->create<RmsNormOp>(loc, types, input, scale, epsilon, builder->getF64FloatAttr(norm.offset), count)
        .getResult();
  case Norm::Type::Layer:
    return builder->create<LayerNormOp>(loc, types, input, scale, shift, epsilon).getResult();
  case Norm::Type::Standardize:
    return builder->create<StandardizeOp>(loc, types, input, epsilon).getResult();
  }
  llvm_unreachable("all norms are handled");
}

//===----------------------------------------------------------------------===//
// Shapes and sums
//===----------------------------------------------------------------------===//

Value LayerBuilder::einsum(StringRef equation, Value lhs, Value rhs) {
  if (isDeclaring())
    return {};
  auto [inputs, output] = equation.split("->");
  auto [left, right] = inputs.split(',');
  SmallVector<int64_t> shape;
  for (char letter : output) {
    size_t at = left.find(letter);
    shape.push_back(at != StringRef::npos ? shapeOf(lhs)[at] : shapeOf(rhs)[right.find(letter)]);
  }
  return builder->create<EinsumOp>(loc, typeLike(lhs, shape), equation, ValueRange{lhs, rhs}, TypeAttr());
}

Value LayerBuilder::expandLike(Value input, Value like) {
  ArrayRef<int64_t> shape = shapeOf(like);
  int64_t added = shape.size() - shapeOf(input).size();
  if (added == 0)
    return input;
  return builder->create<ExpandOp>(loc, typeLike(input, shape), input, inOrder(added));
}

Value LayerBuilder::add(Value lhs, Value rhs) {
  return isDeclaring() ? Value() : builder->create<arith::AddFOp>(loc, lhs, expandLike(rhs, lhs));
}

Value LayerBuilder::multiply(Value lhs, Value rhs) {
  return isDeclaring() ? Value() : builder->create<arith::MulFOp>(loc, lhs, expandLike(rhs, lhs));
}

Value LayerBuilder::reshape(Value input, ArrayRef<int64_t> shape) {
  return isDeclaring() ? Value() : builder->create<ReshapeOp>(loc, typeLike(input, shape), input);
}

Value LayerBuilder::slice(Value input, ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape) {
  return isDeclaring() ? Value() : builder->create<SliceOp>(loc, typeLike(input, shape), input, offsets);
}

Value LayerBuilder::positions() {
  declaration.positions |= config.isolatesDocuments;
  if (isDeclaring() || config.isolatesDocuments)
    return operands.positions;
  return builder->create<IotaOp>(loc, RankedTensorType::get({seq}, builder->getI32Type()), 0);
}

Value LayerBuilder::rotary(Value input, Value positions, const Rotary &rotary) {
  if (isDeclaring())
    return {};
  return builder->create<RotaryOp>(loc, input.getType(), input, positions,
                                   inverseFrequencies(rotary, shapeOf(input).back()),
                                   /*transposed=*/false, APFloat(rotary.attentionFactor));
}

Value LayerBuilder::scale(Value input, double factor) {
  return isDeclaring() || factor == 1 ? input : multiply(input, splat(input, factor));
}

Value LayerBuilder::softCap(Value input, double cap) {
  if (isDeclaring() || cap == 0)
    return input;
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  Value x = toF32(input);
  Value bounded = builder->create<math::TanhOp>(loc, multiply(x, splat(x, 1.0 / cap)));
  return convertFloat(*builder, loc, multiply(bounded, splat(x, cap)), element);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value LayerBuilder::gelu(Value x, bool exact) {
  Value inner;
  if (exact) {
    inner = builder->create<math::ErfOp>(loc, multiply(x, splat(x, std::sqrt(0.5))));
  } else {
    Value cube = multiply(multiply(x, x), x);
    Value sum = add(x, multiply(cube, splat(x, 0.044715)));
    inner = builder->create<math::TanhOp>(loc, multiply(sum, splat(x, std::sqrt(2.0 / M_PI))));
  }
  return multiply(multiply(x, splat(x, 0.5)), add(inner, splat(x, 1.0)));
}

Value LayerBuilder::toF32(Value x) {
  return isDeclaring() ? Value() : convertFloat(*builder, loc, x, builder->getF32Type());
}

Value LayerBuilder::activation(Value x, Activation activation) {
  if (isDeclaring())
    return {};
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  return convertFloat(*builder, loc, applyActivation(toF32(x), activation), element);
}

Value LayerBuilder::applyActivation(Value x, Activation activation) {
  switch (activation) {
  case Activation::GeluTanh:
    return gelu(x, /*exact=*/false);
  case Activation::Gelu:
    return gelu(x, /*exact=*/true);
  case Activation::Relu:
    return builder->create<arith::MaximumFOp>(loc, x, splat(x, 0.0));
  case Activation::Silu:
    return multiply(x, builder->create<SigmoidOp>(loc, x));
  }
  llvm_unreachable("all activations are handled");
}

//===----------------------------------------------------------------------===//
// Dropout and attention
//===----------------------------------------------------------------------===//

Value LayerBuilder::site(std::optional<DropoutSlot> slot) {
  if (!slot)
    return scalar(0);
  Value base = builder->create<arith::MulIOp>(loc, operands.index, scalar(3));
  return builder->create<arith::AddIOp>(loc, base, scalar(1 + static_cast<int32_t>(*slot)));
}

Value LayerBuilder::zeroOffsets(int64_t rank) {
  return buildSplat(*builder, loc, RankedTensorType::get({rank}, builder->getI32Type()), 0.0);
}

/// Numbers the elements of a row (all but dimension 0) in row-major order.
static SmallVector<int64_t> rowStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 1;) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

Value LayerBuilder::dropout(Value input, double p, std::optional<DropoutSlot> slot) {
  if (p == 0.0 || !training)
    return input;
  declaration.dropout = true;
  declaration.index |= slot.has_value();
  if (isDeclaring())
    return {};
  ArrayRef<int64_t> shape = shapeOf(input);
  return builder->create<DropoutOp>(loc, input.getType(), input, operands.key, site(slot), operands.row,
                                    zeroOffsets(shape.size()), builder->getF64FloatAttr(p),
                                    builder->getDenseI64ArrayAttr(rowStrides(shape)));
}

/// By the layer's number from 1: an operand, so that all layers are one function.
Value LayerBuilder::divideByLayer(Value input) {
  declaration.index = true;
  if (isDeclaring())
    return {};
  Value number = builder->create<arith::AddIOp>(loc, operands.index, scalar(1));
  Value divisor =
      builder->create<arith::SIToFPOp>(loc, RankedTensorType::get({}, builder->getF32Type()), number);
  Value factor = builder->create<arith::DivFOp>(loc, splat(divisor, 1.0), divisor);
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  return convertFloat(*builder, loc, multiply(toF32(input), factor), element);
}

Value LayerBuilder::attention(Value q, Value k, Value v, Value positions, const Scores &scores) {
  if (scores.byLayer)
    q = divideByLayer(q);
  declaration.documents |= config.isolatesDocuments;
  bool drops = training && scores.dropout > 0;
  declaration.dropout |= drops;
  declaration.index |= drops;
  double heads = double(dimensions['h'].size) * double(std::max<int64_t>(1, dimensions['g'].size));
  declaration.heads = std::max(declaration.heads, heads);
  // Query, key and value of each head.
  declaration.width = std::max(declaration.width, 3 * heads * double(dimensions['d'].size));
  if (isDeclaring())
    return {};
  ArrayRef<int64_t> shape = shapeOf(q);
  int64_t kvHeads = shape[2], group = shape[3], headDim = shape[4];
  Value key, number, row, offsets;
  DenseI64ArrayAttr strides;
  if (drops) {
    key = operands.key;
    number = site(DropoutSlot::Attention);
    row = operands.row;
    offsets = zeroOffsets(5);
    // An element is a score: (row, q position, kv head, query head of the group, k position).
    strides = builder->getDenseI64ArrayAttr(rowStrides({batch, seq, kvHeads, group, seq}));
  }
  auto statistics = RankedTensorType::get({batch, kvHeads, group, seq}, builder->getF32Type());
  return builder
      ->create<AttentionOp>(
          loc, TypeRange{q.getType(), statistics}, q, k, v, positions, positions, operands.documents,
          operands.documents, /*sinks=*/Value(), key, number, row, offsets,
          builder->getF64FloatAttr(scores.getScale(headDim)), /*causal=*/builder->getUnitAttr(),
          builder->getI64IntegerAttr(scores.window), builder->getF64FloatAttr(scores.cap),
          builder->getF64FloatAttr(drops ? scores.dropout : 0.0), strides, /*diagonal=*/nullptr)
      .getOut();
}

Value LayerBuilder::output(Value logits) {
  declaration.targets = training;
  if (isDeclaring())
    return {};
  return training ? crossEntropySum(logits) : toF32(logits);
}

Value LayerBuilder::crossEntropySum(Value logits) {
  setPlace("loss");
  auto perToken = RankedTensorType::get({batch, seq}, builder->getF32Type());
  auto loss = builder->create<CrossEntropyOp>(loc, TypeRange{perToken, perToken}, logits, operands.targets,
                                              builder->getI64IntegerAttr(config.vocab));
  return builder->create<ReduceOp>(loc, RankedTensorType::get({}, builder->getF32Type()), ReduceKind::Sum,
                                   loss.getLoss(), inOrder(2));
}
