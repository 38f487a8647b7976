//===- ElementMoves.cpp - elements of values that are moved: where they come from ----------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "par/Conversion/RuntimeRecords.h"
#include "par/Conversion/ScalarEvaluator.h"

using namespace mlir;
using namespace mlir::par;

FailureOr<Value> ScalarEvaluator::computeReshape(ReshapeOp op, ArrayRef<Value> index) {
  ArrayRef<int64_t> to = getShape(op.getResult()), from = getShape(op.getInput());
  Value linear = constantIndex(0);
  for (auto [each, stride] : llvm::zip(index, rowMajorStrides(to)))
    linear = create<arith::AddIOp>(linear, create<arith::MulIOp>(each, constantIndex(stride)));
  Index source;
  for (auto [size, stride] : llvm::zip(from, rowMajorStrides(from))) {
    Value quotient = create<arith::DivUIOp>(linear, constantIndex(stride));
    source.push_back(create<arith::RemUIOp>(quotient, constantIndex(size)));
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
    inside = inside ? create<arith::AndIOp>(inside, valid) : valid;
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
    coordinate = create<arith::MulIOp>(coordinate, constantIndex(mesh.getSize(axis)));
    coordinate = create<arith::AddIOp>(coordinate, toIndex(computeAxisIndex(axis)));
  }
  Index source(index);
  Value start = create<arith::MulIOp>(coordinate, constantIndex(local));
  source[dim] = create<arith::AddIOp>(index[dim], start);
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
  Value field = create<LLVM::GEPOp>(pointer, Record::getType(builder.getContext()), context,
                                    ArrayRef<LLVM::GEPArg>{0, Record::coords});
  Value coords = create<LLVM::LoadOp>(pointer, field);
  Value entry = create<LLVM::GEPOp>(pointer, builder.getI32Type(), coords,
                                    ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
  return create<LLVM::LoadOp>(builder.getI32Type(), entry);
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

FailureOr<EmbeddingRow> ScalarEvaluator::findRow(Value ids, Value offset, ArrayRef<Value> index,
                                                 int64_t rows) {
  FailureOr<Value> id = evaluate(ids, index), first = offset ? evaluate(offset, {}) : Value();
  if (failed(id) || failed(first))
    return failure();
  if (*first && first->getType() != id->getType())
    first = create<arith::ExtSIOp>(id->getType(), *first);
  Value row = toIndex(*first ? create<arith::SubIOp>(*id, *first) : *id);
  return EmbeddingRow{row, compare(arith::CmpIPredicate::ult, row, constantIndex(rows))};
}

FailureOr<Value> ScalarEvaluator::computeEmbedding(EmbeddingOp op, ArrayRef<Value> index) {
  FailureOr<EmbeddingRow> found =
      findRow(op.getIds(), op.getOffset(), index.drop_back(), getShape(op.getTable())[0]);
  if (failed(found))
    return failure();
  FailureOr<Value> element =
      evaluate(op.getTable(), Index{select(found->isThere, found->row, constantIndex(0)), index.back()});
  if (failed(element))
    return failure();
  return select(found->isThere, *element, constant(element->getType(), 0));
}

/// Σ over all ids of dy where the id is this row: right for any kernel, slow; kernels that yield it scatter
/// instead.
FailureOr<Value> ScalarEvaluator::computeEmbeddingBackward(EmbeddingBackwardOp op, ArrayRef<Value> index) {
  // Outside the sum's loops.
  if (op.getOffset() && failed(evaluate(op.getOffset(), {})))
    return failure();
  Type type = getHeldType(op.getResult());
  auto term = [&](ArrayRef<Value> inner) -> FailureOr<Value> {
    Index source(inner);
    source.push_back(index[1]);
    FailureOr<EmbeddingRow> found = findRow(op.getIds(), op.getOffset(), inner, getShape(op.getResult())[0]);
    FailureOr<Value> dy = evaluate(op.getDy(), source);
    if (failed(found) || failed(dy))
      return failure();
    Value hit =
        create<arith::AndIOp>(found->isThere, compare(arith::CmpIPredicate::eq, found->row, index[0]));
    return select(hit, round(*dy, type), constant(type, 0));
  };
  FailureOr<Value> sum = terms.reduce(getShape(op.getIds()), type, ReduceKind::Sum, term);
  return failed(sum) ? sum : round(*sum, getElementTypeOrSelf(op.getResult()));
}
