//===- LayerBuilder.cpp - the vocabulary in which families write layers ---------------------------------===//
#include "par/Import/LayerBuilder.h"

#include <cmath>

using namespace mlir;
using namespace mlir::par;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// 0, 1, … n − 1.
static SmallVector<int64_t> firstDims(int64_t n) { return llvm::to_vector(llvm::seq<int64_t>(0, n)); }

RankedTensorType LayerBuilder::typeLike(Value value, ArrayRef<int64_t> shape) const {
  return RankedTensorType::get(shape, cast<RankedTensorType>(value.getType()).getElementType());
}

void LayerBuilder::setPlace(StringRef name) { loc = NameLoc::get(builder.getStringAttr(name)); }

Value LayerBuilder::splat(Value like, double value) {
  return buildSplat(builder, loc, cast<RankedTensorType>(like.getType()), value);
}

Value LayerBuilder::scalar(int32_t value) {
  return buildSplat(builder, loc, RankedTensorType::get({}, builder.getI32Type()), value);
}

//===----------------------------------------------------------------------===//
// Linear maps and shapes
//===----------------------------------------------------------------------===//

Value LayerBuilder::einsum(StringRef equation, Value lhs, Value rhs) {
  auto [inputs, output] = equation.split("->");
  auto [left, right] = inputs.split(',');
  SmallVector<int64_t> shape;
  for (char letter : output) {
    size_t at = left.find(letter);
    shape.push_back(at != StringRef::npos ? shapeOf(lhs)[at] : shapeOf(rhs)[right.find(letter)]);
  }
  return builder.create<EinsumOp>(loc, typeLike(lhs, shape), equation, ValueRange{lhs, rhs}, TypeAttr());
}

Value LayerBuilder::expand(Value input, ArrayRef<int64_t> shape) {
  int64_t added = shape.size() - shapeOf(input).size();
  if (added == 0)
    return input;
  return builder.create<ExpandOp>(loc, typeLike(input, shape), input, firstDims(added));
}

Value LayerBuilder::linear(StringRef equation, Value input, StringRef name) {
  setPlace(name);
  Value result = einsum(equation, input, parameter((name + ".weight").str()));
  std::string bias = (name + ".bias").str();
  return hasParameter(bias) ? add(result, expand(parameter(bias), shapeOf(result))) : result;
}

Value LayerBuilder::add(Value lhs, Value rhs) { return builder.create<arith::AddFOp>(loc, lhs, rhs); }

Value LayerBuilder::multiply(Value lhs, Value rhs) { return builder.create<arith::MulFOp>(loc, lhs, rhs); }

Value LayerBuilder::reshape(Value input, ArrayRef<int64_t> shape) {
  return builder.create<ReshapeOp>(loc, typeLike(input, shape), input);
}

Value LayerBuilder::slice(Value input, ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape) {
  return builder.create<SliceOp>(loc, typeLike(input, shape), input, offsets);
}

//===----------------------------------------------------------------------===//
// Positions, embeddings, norms
//===----------------------------------------------------------------------===//

Value LayerBuilder::positions() {
  return builder.create<IotaOp>(loc, RankedTensorType::get({seq}, builder.getI32Type()), 0);
}

Value LayerBuilder::embedding(Value ids, StringRef table, std::optional<int64_t> padding) {
  setPlace(table);
  Value rows = parameter((table + ".weight").str());
  SmallVector<int64_t> shape(shapeOf(ids));
  shape.push_back(shapeOf(rows)[1]);
  return builder.create<EmbeddingOp>(loc, typeLike(rows, shape), ids, rows, Value(),
                                     padding ? builder.getI64IntegerAttr(*padding) : IntegerAttr());
}

/// Type of a norm's statistics: f32, without the last dimension.
static RankedTensorType statisticsType(OpBuilder &builder, Value input) {
  return RankedTensorType::get(shapeOf(input).drop_back(), builder.getF32Type());
}

Value LayerBuilder::norm(Value input, StringRef name) {
  setPlace(name);
  Type statistics = statisticsType(builder, input);
  FloatAttr epsilon = builder.getF64FloatAttr(config.normEpsilon);
  Value weight = parameter((name + ".weight").str()), bias = parameter((name + ".bias").str());
  SmallVector<Type> types{input.getType(), statistics, statistics};
  switch (config.norm) {
  case Norm::Rms:
    types.pop_back();
    return builder.create<RmsNormOp>(loc, types, input, weight, epsilon).getResult();
  case Norm::Layer:
    return builder.create<LayerNormOp>(loc, types, input, weight, bias, epsilon).getResult();
  case Norm::Standardize:
    return builder.create<StandardizeOp>(loc, types, input, epsilon).getResult();
  }
  llvm_unreachable("all norms are handled");
}

Value LayerBuilder::rotary(Value input, Value positions) {
  return builder.create<RotaryOp>(loc, input.getType(), input, positions,
                                  inverseFrequencies(*config.rotary, config.headDim));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value LayerBuilder::gelu(Value x, bool exact) {
  Value inner;
  if (exact) {
    inner = builder.create<math::ErfOp>(loc, multiply(x, splat(x, std::sqrt(0.5))));
  } else {
    Value cube = multiply(multiply(x, x), x);
    Value sum = add(x, multiply(cube, splat(x, 0.044715)));
    inner = builder.create<math::TanhOp>(loc, multiply(sum, splat(x, std::sqrt(2.0 / M_PI))));
  }
  return multiply(multiply(x, splat(x, 0.5)), add(inner, splat(x, 1.0)));
}

Value LayerBuilder::toF32(Value x) { return convertFloat(builder, loc, x, builder.getF32Type()); }

/// Computed in f32 and rounded once.
Value LayerBuilder::activation(Value x) {
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  return convertFloat(builder, loc, applyActivation(toF32(x)), element);
}

Value LayerBuilder::applyActivation(Value x) {
  switch (config.activation) {
  case Activation::GeluTanh:
    return gelu(x, /*exact=*/false);
  case Activation::Gelu:
    return gelu(x, /*exact=*/true);
  case Activation::Relu:
    return builder.create<arith::MaximumFOp>(loc, x, splat(x, 0.0));
  case Activation::Silu:
    return multiply(x, builder.create<SigmoidOp>(loc, x));
  }
  llvm_unreachable("all activations are handled");
}

//===----------------------------------------------------------------------===//
// Dropout and attention
//===----------------------------------------------------------------------===//

Value LayerBuilder::site(std::optional<DropoutSlot> slot) {
  if (!slot)
    return scalar(0);
  Value base = builder.create<arith::MulIOp>(loc, index, scalar(3));
  return builder.create<arith::AddIOp>(loc, base, scalar(1 + static_cast<int32_t>(*slot)));
}

Value LayerBuilder::zeroOffsets(int64_t rank) {
  return buildSplat(builder, loc, RankedTensorType::get({rank}, builder.getI32Type()), 0.0);
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
  if (p == 0.0 || !drop.key)
    return input;
  ArrayRef<int64_t> shape = shapeOf(input);
  return builder.create<DropoutOp>(loc, input.getType(), input, drop.key, site(slot), drop.row,
                                   zeroOffsets(shape.size()), builder.getF64FloatAttr(p),
                                   builder.getDenseI64ArrayAttr(rowStrides(shape)));
}

/// By the layer's number from 1: an operand, so that all layers are one function.
Value LayerBuilder::divideByLayer(Value input) {
  auto type = cast<RankedTensorType>(input.getType());
  Value number = builder.create<arith::AddIOp>(loc, index, scalar(1));
  Value divisor =
      builder.create<arith::SIToFPOp>(loc, RankedTensorType::get({}, builder.getF32Type()), number);
  Value factor = builder.create<arith::DivFOp>(loc, splat(divisor, 1.0), divisor);
  Value wide = toF32(input);
  return convertFloat(builder, loc, multiply(wide, expand(factor, type.getShape())), type.getElementType());
}

Value LayerBuilder::attention(Value q, Value k, Value v, Value positions, int64_t window) {
  if (config.scaleByLayer)
    q = divideByLayer(q);
  ArrayRef<int64_t> shape = shapeOf(q);
  int64_t kvHeads = shape[2], group = shape[3], headDim = shape[4];
  double p = drop.key ? config.attentionDropout : 0.0;
  Value key, number, row, offsets;
  DenseI64ArrayAttr strides;
  if (p > 0) {
    key = drop.key;
    number = site(DropoutSlot::Attention);
    row = drop.row;
    offsets = zeroOffsets(5);
    // An element is a score: (row, q position, kv head, query head of the group, k position).
    strides = builder.getDenseI64ArrayAttr(rowStrides({batch, seq, kvHeads, group, seq}));
  }
  auto statistics = RankedTensorType::get({batch, kvHeads, group, seq}, builder.getF32Type());
  return builder
      .create<AttentionOp>(loc, TypeRange{q.getType(), statistics}, q, k, v, positions, positions, key,
                           number, row, offsets,
                           builder.getF64FloatAttr(config.scaleByHeadDim ? 1.0 / std::sqrt(headDim) : 1.0),
                           /*causal=*/builder.getUnitAttr(), builder.getI64IntegerAttr(window),
                           builder.getF64FloatAttr(p), strides, /*diagonal=*/nullptr)
      .getOut();
}

Value LayerBuilder::crossEntropySum(Value logits, Value targets) {
  setPlace("loss");
  auto perToken = RankedTensorType::get({batch, seq}, builder.getF32Type());
  auto loss = builder.create<CrossEntropyOp>(loc, TypeRange{perToken, perToken}, logits, targets,
                                             builder.getI64IntegerAttr(config.vocab));
  return builder.create<ReduceOp>(loc, RankedTensorType::get({}, builder.getF32Type()), ReduceKind::Sum,
                                  loss.getLoss(), firstDims(2));
}
