//===- JoinProducts.cpp - matrix products that are parts of one become one work -------------------------===//
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Target/Target.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_JOINPRODUCTS
#include "par/Target/Target.h"
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct Product {
  EinsumOp einsum;
  GemmShape gemm;
};

/// Matrix products that run together, and what they are added to: ops that stand one behind the other.
struct Work {
  SmallVector<Operation *> ops;
  SmallVector<Product> products;

  bool contains(Operation *op) const { return llvm::is_contained(ops, op); }

  bool usesResultsOf(const Work &other) const {
    return llvm::any_of(ops, [&](Operation *op) {
      return llvm::any_of(op->getOperands(),
                          [&](Value operand) { return other.contains(operand.getDefiningOp()); });
    });
  }
};
} // namespace

/// What par_products computes. Dot products have a kernel of their own.
static bool isJoinable(const Product &product, const Target &target) {
  return product.gemm.batch == 1 && product.gemm.m * product.gemm.n > 1 &&
         llvm::all_of(product.einsum->getOperandTypes(),
                      [&](Type type) { return target.joinsProducts(getElementTypeOrSelf(type)); });
}

/// One product of x and of what stands side by side in all products: one A with several B, or several A with
/// one B.
static bool shareFactor(const Product &first, const Product &second) {
  const GemmShape &x = first.gemm, &y = second.gemm;
  OperandRange xs = first.einsum->getOperands(), ys = second.einsum->getOperands();
  bool sharesA = xs[x.swapped] == ys[y.swapped] && x.m == y.m;
  bool sharesB = xs[!x.swapped] == ys[!y.swapped] && x.n == y.n;
  return x.transposeA == y.transposeA && x.transposeB == y.transposeB && x.k == y.k && (sharesA || sharesB);
}

/// The second work adds its only product to the sum that is the first work's only result: one product of all
/// terms.
static bool continuesSum(const Work &first, const Work &second) {
  Operation *last = first.ops.back();
  std::optional<Addition> addition = findAddition(last->getResult(0));
  if (!addition || !second.contains(addition->add) || second.products.size() != 1)
    return false;
  bool isSum = llvm::all_of(first.ops, [&](Operation *op) {
    return op == last || llvm::all_of(op->getUsers(), [&](Operation *user) { return first.contains(user); });
  });
  const GemmShape &x = first.products.back().gemm, &y = second.products.front().gemm;
  return isSum && x.m == y.m && x.n == y.n && x.transposeA == y.transposeA && x.transposeB == y.transposeB;
}

static bool areOne(const Work &first, const Work &second) {
  if (continuesSum(first, second))
    return true;
  return !second.usesResultsOf(first) && llvm::all_of(first.products, [&](const Product &x) {
    return llvm::all_of(second.products, [&](const Product &y) { return shareFactor(x, y); });
  });
}

/// Puts the ops of `second` behind those of `first` if what they read is there by then.
static bool hoist(const Work &first, const Work &second) {
  for (Operation *op : second.ops)
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && !second.contains(producer) && !first.contains(producer) &&
          !producer->isBeforeInBlock(first.ops.front()))
        return false;
    }
  Operation *place = first.ops.back();
  for (Operation *op : second.ops) {
    op->moveAfter(place);
    place = op;
  }
  return true;
}

/// Puts the ops of `first` before those of `second` if nothing reads what they make before.
static bool sink(const Work &first, const Work &second) {
  for (Operation *op : first.ops)
    for (Operation *user : op->getUsers())
      if (!first.contains(user) && user->isBeforeInBlock(second.ops.front()))
        return false;
  for (Operation *op : first.ops)
    op->moveBefore(second.ops.front());
  return true;
}

namespace {
class ProductJoiner {
public:
  ProductJoiner(Block &block, const Target &target) : block(block), target(target) {}

  void run() {
    SmallVector<SmallVector<Work>> runs = collectRuns();
    for (SmallVector<Work> &works : runs)
      joinRun(works);
  }

private:
  /// Products between which nothing but products is computed: what is joined lives at one time, and nothing
  /// that was made to live at different times (parts of logits) may come to.
  SmallVector<SmallVector<Work>> collectRuns() {
    SmallVector<SmallVector<Work>> runs(1);
    llvm::DenseMap<int64_t, SmallVector<Operation *>> kernels;
    for (Operation &op : block)
      if (auto number = op.getAttrOfType<IntegerAttr>(ParDialect::kKernelAttr)) {
        kernels[number.getInt()].push_back(&op);
        next = std::max(next, number.getInt() + 1);
      }
    for (Operation &op : block) {
      auto number = op.getAttrOfType<IntegerAttr>(ParDialect::kKernelAttr);
      SmallVector<Operation *> ops = number ? kernels[number.getInt()] : SmallVector<Operation *>{&op};
      if (ops.front() != &op || getOpClass(&op) == OpClass::View || op.hasTrait<OpTrait::ConstantLike>())
        continue;
      Work work{ops, {}};
      for (Operation *member : ops)
        if (auto einsum = dyn_cast<EinsumOp>(member))
          work.products.push_back({einsum, matchGemm(einsum).value_or(GemmShape())}); // none: of no size
      if (work.products.empty())
        runs.emplace_back();
      else if (llvm::all_of(work.products,
                            [&](const Product &product) { return isJoinable(product, target); }))
        runs.back().push_back(std::move(work));
    }
    return runs;
  }

  void joinRun(SmallVector<Work> &works) {
    SmallVector<Work> joined;
    for (Work &work : works) {
      for (size_t earlier = joined.size(); earlier-- > 0;)
        if (areOne(joined[earlier], work) && (hoist(joined[earlier], work) || sink(joined[earlier], work))) {
          joined[earlier].ops.append(work.ops);
          joined[earlier].products.append(work.products);
          work = std::move(joined[earlier]);
          joined.erase(joined.begin() + static_cast<ptrdiff_t>(earlier));
          number(work);
          break;
        }
      joined.push_back(std::move(work));
    }
  }

  void number(const Work &work) {
    Builder builder(block.front().getContext());
    for (Operation *op : work.ops)
      op->setAttr(ParDialect::kKernelAttr, builder.getI64IntegerAttr(next));
    ++next;
  }

  Block &block;
  const Target &target;
  int64_t next = 0;
};

struct JoinProducts : par::impl::JoinProductsBase<JoinProducts> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (!getOperation().isExternal())
      ProductJoiner(getOperation().front(), *target).run();
  }
};
} // namespace
