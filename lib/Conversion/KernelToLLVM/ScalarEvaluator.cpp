//===- ScalarEvaluator.cpp - one element of a value of a kernel -----------------------------------------===//
#include "ScalarEvaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "par/Conversion/RuntimeRecords.h"
#include <limits>

using namespace mlir;
using namespace mlir::par;

static ArrayRef<int64_t> getShape(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
static Type getElementType(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }
/// Type in which an element is held.
static Type getElement(Value value) {
  Type type = getElementType(value);
  return ScalarEvaluator::isNarrow(type) ? Float32Type::get(value.getContext()) : type;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value ScalarEvaluator::constantIndex(int64_t value) {
  return builder.create<arith::ConstantIndexOp>(loc, value);
}

Value ScalarEvaluator::constant(Type type, double value) {
  TypedAttr attribute = isa<FloatType>(type)
                            ? TypedAttr(builder.getFloatAttr(type, value))
                            : TypedAttr(builder.getIntegerAttr(type, static_cast<int64_t>(value)));
  return builder.create<arith::ConstantOp>(loc, attribute);
}

Value ScalarEvaluator::addIndex(Value a, int64_t b) {
  return b == 0 ? a : builder.create<arith::AddIOp>(loc, a, constantIndex(b)).getResult();
}

Value ScalarEvaluator::neutral(ReduceKind kind, Type type) {
  double infinity = std::numeric_limits<double>::infinity();
  if (kind == ReduceKind::Sum)
    return constant(type, 0);
  if (isa<FloatType>(type))
    return constant(type, kind == ReduceKind::Max ? -infinity : infinity);
  unsigned width = type.getIntOrFloatBitWidth();
  APInt extreme = kind == ReduceKind::Max ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, extreme));
}

Value ScalarEvaluator::combine(ReduceKind kind, Value a, Value b) {
  bool floating = isa<FloatType>(a.getType());
  // Sums may be reordered, so that they become vectors.
  auto flags = arith::FastMathFlagsAttr::get(builder.getContext(), arith::FastMathFlags::reassoc);
  if (kind == ReduceKind::Sum) {
    if (floating)
      return builder.create<arith::AddFOp>(loc, a, b, flags);
    return builder.create<arith::AddIOp>(loc, a, b);
  }
  // maxnum semantics vectorises; NaN in the data shows up in the sums that follow.
  auto ordered = arith::FastMathFlagsAttr::get(builder.getContext(),
                                               arith::FastMathFlags::reassoc | arith::FastMathFlags::nsz);
  if (kind == ReduceKind::Max)
    return floating ? builder.create<arith::MaximumFOp>(loc, a, b, ordered).getResult()
                    : builder.create<arith::MaxSIOp>(loc, a, b).getResult();
  return floating ? builder.create<arith::MinimumFOp>(loc, a, b, ordered).getResult()
                  : builder.create<arith::MinSIOp>(loc, a, b).getResult();
}

LogicalResult ScalarEvaluator::loop(int64_t size, function_ref<LogicalResult(Value)> body) {
  if (size == 1)
    return body(constantIndex(0));
  return loop(constantIndex(0), constantIndex(size), body);
}

LogicalResult ScalarEvaluator::loop(Value begin, Value end, function_ref<LogicalResult(Value)> body,
                                    int64_t step) {
  auto loop = builder.create<scf::ForOp>(loc, begin, end, constantIndex(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  push();
  LogicalResult result = body(loop.getInductionVar());
  pop();
  return result;
}

Value ScalarEvaluator::fold(Value begin, Value end, int64_t step, Value start,
                            function_ref<Value(Value, Value)> body) {
  auto loop = builder.create<scf::ForOp>(loc, begin, end, constantIndex(step), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  push();
  builder.create<scf::YieldOp>(loc, body(loop.getInductionVar(), loop.getRegionIterArgs()[0]));
  pop();
  return loop.getResult(0);
}

Value ScalarEvaluator::addBlocks(int64_t size, Type type, Value start,
                                 function_ref<Value(Value, Value)> term) {
  auto addBlock = [&](Value begin, Value end, Value carried) {
    Value sum = fold(begin, end, 1, neutral(ReduceKind::Sum, type), term);
    return combine(ReduceKind::Sum, carried, round(sum, start.getType()));
  };
  Value whole = constantIndex(size);
  if (size <= kBlock)
    return addBlock(constantIndex(0), whole, start);
  return fold(constantIndex(0), whole, kBlock, start, [&](Value first, Value carried) {
    Value end = addIndex(first, kBlock);
    if (size % kBlock)
      end = builder.create<arith::MinUIOp>(loc, end, whole);
    return addBlock(first, end, carried);
  });
}

FailureOr<Value> ScalarEvaluator::reduce(ArrayRef<int64_t> sizes, Type type, ReduceKind kind,
                                         function_ref<FailureOr<Value>(ArrayRef<Value>)> value) {
  Index index;
  bool failure = false;
  bool inBlocks = kind == ReduceKind::Sum && type.isF32() && ShapedType::getNumElements(sizes) > kShort;
  std::function<Value(size_t, Value)> nest = [&](size_t dim, Value start) -> Value {
    if (dim == sizes.size()) {
      FailureOr<Value> element = value(index);
      failure |= failed(element);
      return failed(element) ? start : combine(kind, start, *element);
    }
    auto inside = [&](Value variable, Value carried) {
      index.push_back(variable);
      Value result = nest(dim + 1, carried);
      index.pop_back();
      return result;
    };
    if (inBlocks && dim + 1 == sizes.size())
      return addBlocks(sizes[dim], type, start, inside);
    return fold(constantIndex(0), constantIndex(sizes[dim]), 1, start, inside);
  };
  Value result = nest(0, neutral(kind, inBlocks ? builder.getF64Type() : type));
  if (failure)
    return mlir::failure();
  return round(result, type);
}

//===----------------------------------------------------------------------===//
// Narrow floats
//===----------------------------------------------------------------------===//

MemRefType ScalarEvaluator::getMemoryType(RankedTensorType tensor) {
  Type element = tensor.getElementType();
  return MemRefType::get(tensor.getShape(),
                         element.isBF16() ? IntegerType::get(tensor.getContext(), 16) : element);
}

Value ScalarEvaluator::load(RankedTensorType tensor, Value memory, ArrayRef<Value> index) {
  Value element = builder.create<memref::LoadOp>(loc, memory, index);
  if (tensor.getElementType().isBF16()) {
    Value bits = builder.create<arith::ExtUIOp>(loc, builder.getI32Type(), element);
    bits = builder.create<arith::ShLIOp>(loc, bits, constant(builder.getI32Type(), 16));
    return builder.create<arith::BitcastOp>(loc, builder.getF32Type(), bits);
  }
  if (isNarrow(element.getType()))
    return builder.create<arith::ExtFOp>(loc, builder.getF32Type(), element);
  return element;
}

void ScalarEvaluator::store(Value element, Type type, Value memory, ArrayRef<Value> index) {
  if (type.isBF16()) { // held rounded: the lower half is zero
    Value bits = builder.create<arith::BitcastOp>(loc, builder.getI32Type(), element);
    bits = builder.create<arith::ShRUIOp>(loc, bits, constant(builder.getI32Type(), 16));
    element = builder.create<arith::TruncIOp>(loc, builder.getIntegerType(16), bits);
  } else if (isNarrow(type)) {
    element = builder.create<arith::TruncFOp>(loc, type, element);
  }
  builder.create<memref::StoreOp>(loc, element, memory, index);
}

Value ScalarEvaluator::roundBits(Value value) {
  Type i32 = builder.getI32Type();
  Value bits = builder.create<arith::BitcastOp>(loc, i32, value);
  Value upper = builder.create<arith::ShRUIOp>(loc, bits, constant(i32, 16));
  Value odd = builder.create<arith::AndIOp>(loc, upper, constant(i32, 1));
  Value bias = builder.create<arith::AddIOp>(loc, odd, constant(i32, 0x7FFF));
  Value rounded = builder.create<arith::AddIOp>(loc, bits, bias);
  Value quiet = builder.create<arith::OrIOp>(loc, bits, constant(i32, 0x400000));
  Value isNan = builder.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, value, value);
  return select(isNan, quiet, rounded);
}

Value ScalarEvaluator::round(Value value, Type type) {
  Type f32 = builder.getF32Type();
  if (!isNarrow(type)) {
    if (value.getType() == type || !isa<FloatType>(type))
      return value;
    bool extends = value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth();
    return extends ? builder.create<arith::ExtFOp>(loc, type, value).getResult()
                   : builder.create<arith::TruncFOp>(loc, type, value).getResult();
  }
  if (value.getType() != f32)
    value = builder.create<arith::TruncFOp>(loc, f32, value);
  if (!type.isBF16()) {
    Value half = builder.create<arith::TruncFOp>(loc, type, value);
    return builder.create<arith::ExtFOp>(loc, f32, half);
  }
  Value kept = builder.create<arith::AndIOp>(loc, roundBits(value), constant(builder.getI32Type(), -65536));
  return builder.create<arith::BitcastOp>(loc, f32, kept);
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

FailureOr<Value> ScalarEvaluator::evaluate(Value value, ArrayRef<Value> index) {
  Key key(value.getAsOpaquePointer(), {});
  for (Value each : index)
    key.second.push_back(each.getAsOpaquePointer());
  for (auto &scope : scopes)
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  FailureOr<Value> result = compute(value, index);
  if (succeeded(result))
    scopes.back()[key] = *result;
  return result;
}

/// The index without dimensions `dims`.
static Index dropDims(ArrayRef<Value> index, ArrayRef<int64_t> dims) {
  Index rest;
  for (auto [dim, each] : llvm::enumerate(index))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      rest.push_back(each);
  return rest;
}

FailureOr<Value> ScalarEvaluator::compute(Value value, ArrayRef<Value> index) {
  if (auto memory = memories.find(value); memory != memories.end())
    return load(cast<RankedTensorType>(value.getType()), memory->second, index);
  Operation *op = value.getDefiningOp();
  if (auto expand = dyn_cast<ExpandOp>(op))
    return evaluate(expand.getInput(), dropDims(index, expand.getDims()));
  if (auto iota = dyn_cast<IotaOp>(op))
    return builder.create<arith::IndexCastOp>(loc, getElementType(value), index[iota.getDim()]).getResult();
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Index source(index.size());
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
      source[from] = index[dim];
    return evaluate(transpose.getInput(), source);
  }
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
    return builder.create<arith::ConstantOp>(loc, splat).getResult();
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
    return round(operands[0], getElementType(result));
  OperationState state(loc, op->getName(), operands, {getElement(result)}, op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Value computed = builder.create(state)->getResult(0);
  // What chooses or changes a sign alone gives a number of the type already.
  bool exact = isa<arith::SelectOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp>(op);
  return exact ? computed : round(computed, getElementType(result));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

FailureOr<Value> ScalarEvaluator::computeReduce(ReduceOp op, ArrayRef<Value> index) {
  ArrayRef<int64_t> shape = getShape(op.getInput());
  SmallVector<int64_t> sizes;
  for (int64_t dim : op.getDims())
    sizes.push_back(shape[dim]);
  Type type = getElement(op.getResult());
  auto element = [&](ArrayRef<Value> inner) -> FailureOr<Value> {
    Index source;
    size_t kept = 0, reduced = 0;
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      source.push_back(llvm::is_contained(op.getDims(), dim) ? inner[reduced++] : index[kept++]);
    FailureOr<Value> value = evaluate(op.getInput(), source);
    return failed(value) ? value : round(*value, type);
  };
  FailureOr<Value> result = reduce(sizes, type, op.getKind(), element);
  return failed(result) ? result : round(*result, getElementType(op.getResult()));
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
  Type type = getElement(op.getResult());
  if (Type operands = getElement(op.getInputs()[0]);
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
      result = result ? builder.create<arith::MulFOp>(loc, result, wide).getResult() : wide;
    }
    return result;
  };
  FailureOr<Value> result = sizes.empty() ? product({}) : reduce(sizes, type, ReduceKind::Sum, product);
  return failed(result) ? result : round(*result, getElementType(op.getResult()));
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

FailureOr<Value> ScalarEvaluator::computeReshape(ReshapeOp op, ArrayRef<Value> index) {
  ArrayRef<int64_t> to = getShape(op.getResult()), from = getShape(op.getInput());
  Value linear = constantIndex(0);
  for (auto [each, stride] : llvm::zip(index, rowMajorStrides(to)))
    linear = builder.create<arith::AddIOp>(loc, linear,
                                           builder.create<arith::MulIOp>(loc, each, constantIndex(stride)));
  Index source;
  for (auto [size, stride] : llvm::zip(from, rowMajorStrides(from))) {
    Value quotient = builder.create<arith::DivUIOp>(loc, linear, constantIndex(stride));
    source.push_back(builder.create<arith::RemUIOp>(loc, quotient, constantIndex(size)));
  }
  return evaluate(op.getInput(), source);
}

/// Out of the operand the element is zero; its address is clamped, so that the load is always valid.
FailureOr<Value> ScalarEvaluator::computePad(PadOp op, ArrayRef<Value> index) {
  Value inside;
  Index source;
  for (auto [each, offset, size, whole] :
       llvm::zip(index, op.getOffsets(), getShape(op.getInput()), getShape(op.getResult()))) {
    if (size == whole) {
      source.push_back(each);
      continue;
    }
    Value shifted = addIndex(each, -offset);
    Value valid = compare(arith::CmpIPredicate::ult, shifted, constantIndex(size));
    source.push_back(select(valid, shifted, constantIndex(0)));
    inside = inside ? builder.create<arith::AndIOp>(loc, inside, valid).getResult() : valid;
  }
  FailureOr<Value> element = evaluate(op.getInput(), source);
  if (failed(element) || !inside)
    return element;
  return select(inside, *element, constant(element->getType(), 0));
}

FailureOr<Value> ScalarEvaluator::computeConcat(ConcatOp op, ArrayRef<Value> index) {
  int64_t dim = op.getDim(), offset = 0;
  Value result;
  for (Value input : op.getInputs()) {
    int64_t size = getShape(input)[dim];
    Value shifted = addIndex(index[dim], -offset);
    Value valid = compare(arith::CmpIPredicate::ult, shifted, constantIndex(size));
    Index source(index);
    source[dim] = select(valid, shifted, constantIndex(0));
    FailureOr<Value> element = evaluate(input, source);
    if (failed(element))
      return failure();
    result = result ? select(valid, *element, result) : *element;
    offset += size;
  }
  return result;
}

FailureOr<Value> ScalarEvaluator::computeAllSlice(AllSliceOp op, ArrayRef<Value> index) {
  int64_t dim = op.getDim(), local = getShape(op.getResult())[dim];
  Value coordinate = constantIndex(0);
  MeshAttr mesh = getMesh(op);
  for (StringRef axis : op.getAxes().getAsValueRange<StringAttr>()) {
    coordinate = builder.create<arith::MulIOp>(loc, coordinate, constantIndex(mesh.getSize(axis)));
    coordinate = builder.create<arith::AddIOp>(loc, coordinate, toIndex(computeAxisIndex(axis)));
  }
  Index source(index);
  Value start = builder.create<arith::MulIOp>(loc, coordinate, constantIndex(local));
  source[dim] = builder.create<arith::AddIOp>(loc, index[dim], start);
  return evaluate(op.getInput(), source);
}

/// par_context.coords[position of the axis].
Value ScalarEvaluator::computeAxisIndex(StringRef axis) {
  int64_t position = 0;
  for (auto [number, name] : llvm::enumerate(axes))
    if (name.getValue() == axis)
      position = number;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  using Record = RuntimeRecord<par_context>;
  Value field = builder.create<LLVM::GEPOp>(loc, pointer, Record::getType(builder.getContext()), context,
                                            ArrayRef<LLVM::GEPArg>{0, Record::coords});
  Value coords = builder.create<LLVM::LoadOp>(loc, pointer, field);
  Value entry = builder.create<LLVM::GEPOp>(loc, pointer, builder.getI32Type(), coords,
                                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
  return builder.create<LLVM::LoadOp>(loc, builder.getI32Type(), entry);
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

/// id − offset as an index, and whether it names one of `rows` rows.
static std::pair<Value, Value> findRow(OpBuilder &builder, Location loc, Value id, Value offset, Value rows) {
  if (offset) {
    if (offset.getType() != id.getType())
      offset = builder.create<arith::ExtSIOp>(loc, id.getType(), offset);
    id = builder.create<arith::SubIOp>(loc, id, offset);
  }
  Value row = builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), id);
  return {row, builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, row, rows)};
}

FailureOr<Value> ScalarEvaluator::computeEmbedding(EmbeddingOp op, ArrayRef<Value> index) {
  FailureOr<Value> id = evaluate(op.getIds(), index.drop_back());
  FailureOr<Value> offset = op.getOffset() ? evaluate(op.getOffset(), {}) : FailureOr<Value>(Value());
  if (failed(id) || failed(offset))
    return failure();
  auto [row, valid] = findRow(builder, loc, *id, *offset, constantIndex(getShape(op.getTable())[0]));
  FailureOr<Value> element =
      evaluate(op.getTable(), Index{select(valid, row, constantIndex(0)), index.back()});
  if (failed(element))
    return failure();
  return select(valid, *element, constant(element->getType(), 0));
}

/// Σ over all ids of dy where the id is this row: right for any kernel, slow; kernels that yield it scatter
/// instead.
FailureOr<Value> ScalarEvaluator::computeEmbeddingBackward(EmbeddingBackwardOp op, ArrayRef<Value> index) {
  ArrayRef<int64_t> sizes = getShape(op.getIds());
  FailureOr<Value> offset = op.getOffset() ? evaluate(op.getOffset(), {}) : FailureOr<Value>(Value());
  if (failed(offset))
    return failure();
  Type type = getElement(op.getResult());
  FailureOr<Value> sum = reduce(sizes, type, ReduceKind::Sum, [&](ArrayRef<Value> inner) -> FailureOr<Value> {
    FailureOr<Value> id = evaluate(op.getIds(), inner);
    Index source(inner);
    source.push_back(index[1]);
    FailureOr<Value> dy = evaluate(op.getDy(), source);
    if (failed(id) || failed(dy))
      return failure();
    auto [row, valid] = findRow(builder, loc, *id, *offset, constantIndex(getShape(op.getResult())[0]));
    Value hit = builder.create<arith::AndIOp>(loc, valid, compare(arith::CmpIPredicate::eq, row, index[0]));
    return select(hit, round(*dy, type), constant(type, 0));
  });
  return failed(sum) ? sum : round(*sum, getElementType(op.getResult()));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Word 0 of Philox4x32-10, as philoxWord0 of the interpreter computes it.
Value ScalarEvaluator::computePhilox(ArrayRef<Value> counter, ArrayRef<Value> key) {
  Type i32 = builder.getI32Type();
  auto word = [&](uint32_t value) {
    return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(i32, static_cast<int32_t>(value)))
        .getResult();
  };
  auto exclusiveOr = [&](Value a, Value b) { return builder.create<arith::XOrIOp>(loc, a, b).getResult(); };
  auto add = [&](Value a, Value b) { return builder.create<arith::AddIOp>(loc, a, b).getResult(); };
  Value c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    auto product0 = builder.create<arith::MulUIExtendedOp>(loc, word(0xD2511F53), c0);
    auto product1 = builder.create<arith::MulUIExtendedOp>(loc, word(0xCD9E8D57), c2);
    Value next0 = exclusiveOr(exclusiveOr(product1.getHigh(), c1), k0);
    Value next2 = exclusiveOr(exclusiveOr(product0.getHigh(), c3), k1);
    c1 = product1.getLow();
    c3 = product0.getLow();
    c0 = next0;
    c2 = next2;
    k0 = add(k0, word(0x9E3779B9));
    k1 = add(k1, word(0xBB67AE85));
  }
  return c0;
}

FailureOr<Value> ScalarEvaluator::computeDropout(DropoutOp op, ArrayRef<Value> index) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto at = [&](Value vector, int64_t position) { return evaluate(vector, Index{constantIndex(position)}); };
  auto narrow = [&](Value value) {
    return value.getType() == i32 ? value : builder.create<arith::TruncIOp>(loc, i32, value).getResult();
  };
  FailureOr<Value> x = evaluate(op.getInput(), index), site = evaluate(op.getSite(), {}),
                   row = evaluate(op.getRow(), {});
  FailureOr<Value> key0 = at(op.getKey(), 0), key1 = at(op.getKey(), 1);
  if (failed(x) || failed(site) || failed(row) || failed(key0) || failed(key1))
    return failure();
  Value element = constant(i64, 0), rowInStep;
  for (auto [dim, each] : llvm::enumerate(index)) {
    FailureOr<Value> offset = at(op.getOffsets(), dim);
    if (failed(offset))
      return failure();
    Value wide =
        offset->getType() == i64 ? *offset : builder.create<arith::ExtSIOp>(loc, i64, *offset).getResult();
    Value position =
        builder.create<arith::AddIOp>(loc, builder.create<arith::IndexCastOp>(loc, i64, each), wide);
    if (dim == 0) {
      rowInStep = builder.create<arith::AddIOp>(loc, *row, narrow(position));
      continue;
    }
    Value scaled = builder.create<arith::MulIOp>(loc, position,
                                                 constant(i64, static_cast<double>(op.getStrides()[dim])));
    element = builder.create<arith::AddIOp>(loc, element, scaled);
  }
  Value high = builder.create<arith::ShRUIOp>(loc, element, constant(i64, 32));
  Value drawn =
      computePhilox({narrow(element), narrow(high), rowInStep, *site}, {narrow(*key0), narrow(*key1)});
  double p = op.getP().convertToDouble();
  auto threshold = static_cast<uint32_t>(std::min(std::ceil(p * 4294967296.0), 4294967295.0));
  Value limit =
      builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(i32, static_cast<int32_t>(threshold)));
  Value keep = compare(arith::CmpIPredicate::uge, drawn, limit);
  Value scaled = builder.create<arith::MulFOp>(loc, *x, constant(x->getType(), 1.0 / (1.0 - p)));
  return select(keep, round(scaled, getElementType(op.getResult())), constant(x->getType(), 0));
}
