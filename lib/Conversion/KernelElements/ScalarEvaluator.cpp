//===- ScalarEvaluator.cpp - one element of a value of a kernel ----------------------------------------===//
#include "par/Conversion/ScalarEvaluator.h"
#include "PickedTerm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

ScalarEvaluator::Key ScalarEvaluator::makeKey(Value value, ArrayRef<Value> index) {
  Key key(value.getAsOpaquePointer(), {});
  for (Value each : index)
    key.second.push_back(each.getAsOpaquePointer());
  return key;
}

FailureOr<Value> ScalarEvaluator::evaluate(Value value, ArrayRef<Value> index) {
  Key key = makeKey(value, index);
  for (auto &scope : scopes)
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  FailureOr<Value> result = compute(value, index);
  if (succeeded(result))
    scopes.back()[key] = *result;
  return result;
}

void ScalarEvaluator::forget(function_ref<bool(Value)> isForgotten) {
  for (auto &scope : scopes)
    for (auto each = scope.begin(); each != scope.end();)
      each = isForgotten(Value::getFromOpaquePointer(each->first.first)) ? scope.erase(each) : std::next(each);
}

FailureOr<Value> ScalarEvaluator::compute(Value value, ArrayRef<Value> index) {
  if (auto memory = memories.find(value); memory != memories.end())
    return load(getElementTypeOrSelf(value), memory->second, index);
  Operation *op = value.getDefiningOp();
  if (auto expand = dyn_cast<ExpandOp>(op))
    return evaluate(expand.getInput(), dropDims<Value>(index, expand.getDims()));
  if (auto iota = dyn_cast<IotaOp>(op))
    return create<arith::IndexCastOp>(getElementTypeOrSelf(value), index[iota.getDim()]);
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return evaluate(transpose.getInput(), turnBack<Value>(index, transpose.getPermutation()));
  if (auto slice = dyn_cast<SliceOp>(op)) {
    Index source;
    for (auto [each, offset] : llvm::zip(index, slice.getOffsets()))
      source.push_back(addIndex(each, offset));
    return evaluate(slice.getInput(), source);
  }
  if (auto axis = dyn_cast<AxisIndexOp>(op))
    return computeAxisIndex(axis.getAxis());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return computeReduce(reduce, index);
  if (auto einsum = dyn_cast<EinsumOp>(op))
    return computeEinsum(einsum, index);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return computeReshape(reshape, index);
  if (auto pad = dyn_cast<PadOp>(op))
    return computePad(pad, index);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return computeConcat(concat, index);
  if (auto embedding = dyn_cast<EmbeddingOp>(op))
    return computeEmbedding(embedding, index);
  if (auto embedding = dyn_cast<EmbeddingBackwardOp>(op))
    return computeEmbeddingBackward(embedding, index);
  if (auto dropout = dyn_cast<DropoutOp>(op))
    return computeDropout(dropout, index);
  if (auto slice = dyn_cast<AllSliceOp>(op))
    return computeAllSlice(slice, index);
  return computeElementwise(op, index);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// A constant array beside the kernels, addressed at the kernel's entry.
Value ScalarEvaluator::buildTable(DenseElementsAttr value) {
  auto tensor = cast<RankedTensorType>(value.getType());
  MemRefType type = getMemoryType(tensor);
  if (type.getElementType() != tensor.getElementType())
    value = value.bitcast(type.getElementType());
  auto function = builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  if (!function)
    function = cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  auto module = function->getParentOfType<ModuleOp>();
  std::string name;
  unsigned number = 0;
  for (auto global : module.getOps<memref::GlobalOp>()) {
    if (global.getInitialValue() == Attribute(value))
      name = global.getSymName().str();
    ++number;
  }
  OpBuilder::InsertionGuard guard(builder);
  if (name.empty()) {
    name = "table_" + std::to_string(number);
    builder.setInsertionPointToStart(module.getBody());
    builder.create<memref::GlobalOp>(loc, name, builder.getStringAttr("private"), type, value,
                                     /*constant=*/true, nullptr);
  }
  builder.setInsertionPointToStart(&function.front());
  return builder.create<memref::GetGlobalOp>(loc, type, name);
}

FailureOr<Value> ScalarEvaluator::computeElementwise(Operation *op, ArrayRef<Value> index) {
  if (auto dense = dyn_cast<arith::ConstantOp>(op)) {
    auto value = dyn_cast<DenseElementsAttr>(dense.getValue());
    if (!value)
      return op->emitOpError("kernel generation: only dense constants can be generated");
    if (!value.isSplat()) {
      bind(dense, buildTable(value));
      return compute(dense, index);
    }
    auto splat = value.getSplatValue<TypedAttr>();
    if (isNarrow(splat.getType()))
      return constant(builder.getF32Type(), cast<FloatAttr>(splat).getValueAsDouble());
    return create<arith::ConstantOp>(splat);
  }
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel || kernel.getKernelKind() != KernelKind::Elementwise || op->getNumResults() != 1)
    return op->emitOpError("kernel generation: no code for this op");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> element = evaluate(operand, getShape(operand).empty() ? ArrayRef<Value>() : index);
    if (failed(element))
      return failure();
    operands.push_back(*element);
  }
  Value result = op->getResult(0);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) // how elements are held differs from their types
    return round(operands[0], getElementTypeOrSelf(result));
  OperationState state(loc, op->getName(), operands, {getHeldType(result)}, op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Value computed = builder.create(state)->getResult(0);
  // What chooses or changes a sign alone gives a number of the type already.
  bool exact = isa<arith::SelectOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp>(op);
  return exact ? computed : round(computed, getElementTypeOrSelf(result));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

FailureOr<Value> ScalarEvaluator::computeReduce(ReduceOp op, ArrayRef<Value> index) {
  if (std::optional<PickedTerm> picked = matchPickedTerm(op))
    return computePickedTerm(op, *picked, index);
  ArrayRef<int64_t> shape = getShape(op.getInput());
  SmallVector<int64_t> sizes;
  for (int64_t dim : op.getDims())
    sizes.push_back(shape[dim]);
  Type type = getHeldType(op.getResult());
  auto element = [&](ArrayRef<Value> inner) -> FailureOr<Value> {
    Index source;
    size_t kept = 0, reduced = 0;
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      source.push_back(llvm::is_contained(op.getDims(), dim) ? inner[reduced++] : index[kept++]);
    FailureOr<Value> value = evaluate(op.getInput(), source);
    return failed(value) ? value : round(*value, type);
  };
  FailureOr<Value> result = terms.reduce(sizes, type, op.getKind(), element);
  return failed(result) ? result : round(*result, getElementTypeOrSelf(op.getResult()));
}

FailureOr<Value> ScalarEvaluator::computeEinsum(EinsumOp op, ArrayRef<Value> index) {
  llvm::SmallDenseMap<char, Value> position;
  for (auto [letter, each] : llvm::zip(op.getResultLetters(), index))
    position[letter] = each;
  std::string summed;
  SmallVector<int64_t> sizes;
  for (StringRef letters : op.getOperandLetters())
    for (char letter : letters)
      if (!op.getResultLetters().contains(letter) && summed.find(letter) == std::string::npos) {
        summed += letter;
        sizes.push_back(op.getLetterSize(letter));
      }
  // Products and sums have the widest of the types, at least f32.
  Type type = getHeldType(op.getResult());
  if (Type operands = getHeldType(op.getInputs()[0]);
      operands.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    type = operands;
  auto product = [&](ArrayRef<Value> inner) -> FailureOr<Value> {
    for (auto [letter, each] : llvm::zip(summed, inner))
      position[letter] = each;
    Value result;
    for (auto [letters, input] : llvm::zip(op.getOperandLetters(), op.getInputs())) {
      Index source;
      for (char letter : letters)
        source.push_back(position[letter]);
      FailureOr<Value> element = evaluate(input, source);
      if (failed(element))
        return failure();
      Value wide = round(*element, type);
      result = result ? create<arith::MulFOp>(result, wide) : wide;
    }
    return result;
  };
  FailureOr<Value> result = sizes.empty() ? product({}) : terms.reduce(sizes, type, ReduceKind::Sum, product);
  return failed(result) ? result : round(*result, getElementTypeOrSelf(op.getResult()));
}
