//===- FlattenRows.cpp - rows that are added become vectors ---------------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Interfaces/ElementBuilder.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_FLATTENROWS
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct FlattenRows : par::impl::FlattenRowsBase<FlattenRows> {
  void runOnOperation() override {
    SmallVector<AddsRowsOpInterface> ops;
    getOperation().walk([&](AddsRowsOpInterface op) {
      if (getShape(op->getResult(0)).size() != 2 || getShape(op.getIds()).empty())
        ops.push_back(op);
    });
    for (AddsRowsOpInterface op : ops)
      flatten(op);
  }

  static Value reshape(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType()).clone(shape);
    return type == value.getType() ? value
                                   : builder.create<ReshapeOp>(value.getLoc(), type, value).getResult();
  }

  static void flatten(AddsRowsOpInterface op) {
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    int64_t width = ShapedType::getNumElements(type.getShape().drop_front());
    SmallVector<int64_t> ids(getShape(op.getIds()));
    if (ids.empty())
      ids.push_back(1);
    SmallVector<int64_t> rows(ids);
    rows.push_back(width);
    Value sum = builder.create<AddRowsOp>(op->getLoc(), type.clone({type.getDimSize(0), width}),
                                          reshape(builder, op.getIds(), ids),
                                          reshape(builder, op.getRows(), rows), op.getOffset());
    if (Attribute cause = op->getAttr(ParDialect::kCauseAttr))
      sum.getDefiningOp()->setAttr(ParDialect::kCauseAttr, cause);
    op->getResult(0).replaceAllUsesWith(reshape(builder, sum, type.getShape()));
    op->erase();
  }
};
} // namespace
