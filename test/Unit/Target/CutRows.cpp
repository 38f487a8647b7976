//===- CutRows.cpp - a kernel of a large model with few rows of the same length -------------------------===//
#include "CutRows.h"
#include "par/Conversion/Scalars.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

namespace {
/// Dimensions that are cut alike: those of one size, and those of which one has a part of the other.
class Dimensions {
public:
  explicit Dimensions(Block &block) {
    for (Operation &op : block)
      join(&op);
    for (BlockArgument argument : block.getArguments())
      keepRow(argument);
    for (Value output : block.getTerminator()->getOperands())
      keepRow(output);
  }

  /// What becomes of a size or an offset of dimension `number` of `value`.
  int64_t cut(Value value, int64_t number, int64_t size, int64_t rows) {
    Group &group = groups[find(at(value, number))];
    return group.isKept || group.unit == 0 ? size : size / group.unit * std::min(group.unit, rows);
  }

private:
  struct Group {
    size_t parent;
    int64_t unit; ///< greatest common divisor of all sizes and offsets
    bool isKept = false;
  };

  size_t at(Value value, int64_t number) {
    auto [place, isNew] = places.try_emplace(value, groups.size());
    for (int64_t size : isNew ? getShape(value) : ArrayRef<int64_t>())
      groups.push_back({groups.size(), size});
    return place->second + static_cast<size_t>(number);
  }
  size_t find(size_t group) {
    while (groups[group].parent != group)
      group = groups[group].parent = groups[groups[group].parent].parent;
    return group;
  }
  void join(Value a, int64_t ofA, Value b, int64_t ofB, int64_t offset = 0) {
    size_t first = at(a, ofA), second = at(b, ofB);
    first = find(first), second = find(second);
    groups[second].parent = first;
    groups[first].isKept |= groups[second].isKept;
    groups[first].unit = std::gcd(std::gcd(groups[first].unit, groups[second].unit), offset);
  }
  void keep(Value value, int64_t number) {
    size_t place = at(value, number);
    groups[find(place)].isKept = true;
  }
  void keepAll(ValueRange values) {
    for (Value value : values)
      for (int64_t number = 0; number < getRank(value); ++number)
        keep(value, number);
  }
  void keepRow(Value value) {
    if (getRank(value) > 0)
      keep(value, getRank(value) - 1);
  }
  static int64_t getRank(Value value) { return static_cast<int64_t>(getShape(value).size()); }

  void joinAll(Value a, Value b) {
    for (int64_t number = 0; number < getRank(a); ++number)
      join(a, number, b, number);
  }
  /// `few` has the dimensions of `many` but for `missing`.
  void joinRest(Value few, Value many, ArrayRef<int64_t> missing) {
    for (int64_t number = 0, next = 0; number < getRank(many); ++number)
      if (!llvm::is_contained(missing, number))
        join(few, next++, many, number);
  }
  void joinBox(Value box, Value whole, ArrayRef<int64_t> offsets) {
    for (int64_t number = 0; number < getRank(box); ++number)
      join(box, number, whole, number, offsets[number]);
  }
  /// Rows of a table [numbers, columns], and one of them for each id.
  void joinRows(Value ids, Value ofIds, Value table) {
    for (int64_t number = 0; number < getRank(ids); ++number)
      join(ids, number, ofIds, number);
    join(ofIds, getRank(ids), table, 1);
  }

  void join(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<rank::YieldOp>([](auto) {})
        .Case<ExpandOp>([&](auto op) { joinRest(op.getInput(), op.getResult(), op.getDims()); })
        .Case<ReduceOp>([&](auto op) { joinRest(op.getResult(), op.getInput(), op.getDims()); })
        .Case<SliceOp>([&](auto op) { joinBox(op.getResult(), op.getInput(), op.getOffsets()); })
        .Case<PadOp>([&](auto op) { joinBox(op.getInput(), op.getResult(), op.getOffsets()); })
        .Case<AllSliceOp>([&](auto op) { joinAll(op.getResult(), op.getInput()); })
        .Case<EmbeddingOp>([&](auto op) { joinRows(op.getIds(), op.getResult(), op.getTable()); })
        .Case<AddsRowsOpInterface>([&](auto op) { joinRows(op.getIds(), op.getRows(), op->getResult(0)); })
        .Case<ConcatOp>([&](auto op) {
          for (Value input : op.getInputs())
            joinAll(input, op.getResult());
        })
        .Case<TransposeOp>([&](auto op) {
          for (auto [number, from] : llvm::enumerate(op.getPermutation()))
            join(op.getResult(), number, op.getInput(), from);
        })
        .Default([&](Operation *op) { joinAlike(op); });
  }

  /// Operands and results of one shape, beside scalars; else all stays as it is.
  void joinAlike(Operation *op) {
    SmallVector<Value> all(op->getOperands());
    llvm::append_range(all, op->getResults());
    llvm::erase_if(all, [](Value value) { return getShape(value).empty(); });
    auto isAlike = [&](Value value) { return getShape(value) == getShape(all.front()); };
    if (!llvm::all_of(all, isAlike) || isa<AttentionOp, RotaryTablesOp>(op))
      return keepAll(all);
    for (Value value : all)
      joinAll(all.front(), value);
  }

  llvm::DenseMap<Value, size_t> places; ///< of the first dimension of each value in `groups`
  SmallVector<Group> groups;
};

class Cutter {
public:
  Cutter(Block &block, int64_t rows) : block(block), dimensions(block), rows(rows) {}

  void run() {
    for (Operation &op : block)
      cutAttributes(&op);
    for (BlockArgument argument : block.getArguments())
      argument.setType(types.lookup(argument));
    for (Operation &op : block)
      for (Value result : op.getResults())
        result.setType(types.lookup(result));
  }

private:
  /// Attributes are written by sizes that are there still.
  void cutAttributes(Operation *op) {
    for (Value value : op->getOperands())
      note(value);
    for (Value value : op->getResults())
      note(value);
    llvm::TypeSwitch<Operation *>(op)
        .Case<SliceOp>([&](auto op) { op.setOffsets(cutAll(op.getInput(), op.getOffsets())); })
        .Case<PadOp>([&](auto op) { op.setOffsets(cutAll(op.getResult(), op.getOffsets())); })
        .Case<EmbeddingOp>([&](auto op) { cutFirst(op.getOffset(), op.getTable()); })
        .Case<AddsRowsOpInterface>([&](auto op) { cutFirst(op.getOffset(), op->getResult(0)); })
        .Case<arith::ConstantOp>([&](auto op) {
          if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()); dense && dense.isSplat())
            op.setValueAttr(DenseElementsAttr::get(types.lookup(op.getResult()),
                                                   dense.template getSplatValue<Attribute>()));
        });
  }

  void note(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    types.try_emplace(value, type.clone(cutAll(value, type.getShape())));
  }
  SmallVector<int64_t> cutAll(Value value, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> all;
    for (auto [number, size] : llvm::enumerate(sizes))
      all.push_back(dimensions.cut(value, static_cast<int64_t>(number), size, rows));
    return all;
  }

  /// The number of a rank's first row: a rank's coordinate times how many rows a rank has.
  void cutFirst(Value first, Value table) {
    auto product = first ? first.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
    auto count = product ? product.getRhs().getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
    if (!count)
      return;
    int64_t size = getShape(table)[0];
    auto type = cast<RankedTensorType>(count.getType());
    count.setValueAttr(DenseElementsAttr::get(
        type, Builder(count).getI32IntegerAttr(static_cast<int32_t>(dimensions.cut(table, 0, size, rows)))));
  }

  Block &block;
  Dimensions dimensions;
  int64_t rows;
  llvm::DenseMap<Value, RankedTensorType> types;
};
} // namespace

void par::cutRows(Block &block, int64_t rows) { Cutter(block, rows).run(); }
