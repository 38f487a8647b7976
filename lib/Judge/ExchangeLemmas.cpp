//===- ExchangeLemmas.cpp - collectives change where a value is ----------------------------------===//
#include "Lemma.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

Axes par::readAxes(ArrayAttr axes, MeshAttr mesh) {
  return dropTrivial(llvm::to_vector(axes.getAsRange<StringAttr>()), mesh);
}

static LogicalResult addUp(LemmaContext &context, Held &held, ArrayRef<StringAttr> axes) {
  for (StringAttr axis : axes) {
    if (!llvm::is_contained(held.pending, axis) && !held.isZero())
      return context.refuse("adds up over " + quote(axis) + " what is no sum pending over it");
    llvm::erase(held.pending, axis);
  }
  return success();
}

/// Every rank keeps its block along a dimension.
static LogicalResult cut(LemmaContext &context, Held &held, int64_t dim, ArrayRef<StringAttr> axes) {
  for (StringAttr axis : axes)
    if (held.dependsOn(axis))
      return context.refuse("cuts over " + quote(axis) + " what is not the same on its ranks");
  if (!held.dims[dim].isConstant)
    held.dims[dim].axes.append(axes.begin(), axes.end());
  return success();
}

/// Blocks of a dimension come together, and follow each other only if these axes are its minor ones.
static LogicalResult join(LemmaContext &context, Held &held, int64_t dim, ArrayRef<StringAttr> axes) {
  Axes &has = held.dims[dim].axes;
  if (held.dims[dim].isConstant) {
    for (StringAttr axis : axes)
      if (held.dependsOn(axis))
        return context.refuse("joins blocks of dimension " + Twine(dim) + " over " + quote(axis) +
                              ", along which it is the same, while other dimensions or terms differ");
    return success();
  }
  if (has.size() < axes.size() || ArrayRef<StringAttr>(has).take_back(axes.size()) != axes)
    return context.refuse("joins blocks of dimension " + Twine(dim) + " over " + quote(axes) +
                          ", which is cut over " + quote(has));
  has.truncate(has.size() - axes.size());
  return success();
}

static LemmaResult reduceAll(LemmaContext &context, AllReduceOp op) {
  Axes axes = readAxes(op.getAxes(), context.mesh);
  SmallVector<Held, 0> results, operands(context.operands);
  for (Held &held : operands) {
    if (op.getKind() == ReduceKind::Sum) {
      if (failed(addUp(context, held, axes)))
        return failure();
    } else if (!held.extreme.empty()) {
      if (held.extremeKind != op.getKind())
        return context.refuse("takes another extremum than its shards are");
      for (StringAttr axis : axes)
        if (!llvm::is_contained(held.extreme, axis))
          return context.refuse("takes the extremum over " + quote(axis) + " of what is whole");
        else
          llvm::erase(held.extreme, axis);
    } else if (op.getKind() == ReduceKind::Max && !held.logPending.empty()) {
      // Some number that all ranks share, from which logarithms may be measured.
      held.what = RandomFunction("maximum").add(held.what).get();
      for (StringAttr axis : axes)
        llvm::erase(held.logPending, axis);
      if (!held.logPending.empty())
        return context.refuse("shares the maximum with ranks over too few axes");
    } else {
      for (StringAttr axis : axes)
        if (held.dependsOn(axis))
          return context.refuse("takes the extremum over " + quote(axis) + " of shards");
    }
    held.dropFacts();
    results.push_back(held);
  }
  return results;
}

template <typename Change>
static LemmaResult changeAll(LemmaContext &context, Change change) {
  SmallVector<Held, 0> results(context.operands);
  for (Held &held : results) {
    held.dropFacts();
    if (failed(change(held)))
      return failure();
  }
  return results;
}

LemmaResult par::applyToExchange(LemmaContext &context) {
  MeshAttr mesh = context.mesh;
  return llvm::TypeSwitch<Operation *, LemmaResult>(context.op)
      .Case([&](AllReduceOp op) { return reduceAll(context, op); })
      .Case([&](AllGatherOp op) {
        Axes axes = readAxes(op.getAxes(), mesh);
        return changeAll(context, [&](Held &held) { return join(context, held, op.getDim(), axes); });
      })
      .Case([&](ReduceScatterOp op) {
        Axes axes = readAxes(op.getAxes(), mesh);
        return changeAll(context, [&](Held &held) {
          return success(succeeded(addUp(context, held, axes)) &&
                         succeeded(cut(context, held, op.getDim(), axes)));
        });
      })
      .Case([&](AllSliceOp op) {
        Axes axes = readAxes(op.getAxes(), mesh);
        return changeAll(context, [&](Held &held) { return cut(context, held, op.getDim(), axes); });
      })
      .Default([&](Operation *) { return context.refuse("is an exchange of which no lemma is known"); });
}
