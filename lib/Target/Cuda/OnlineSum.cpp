//===- OnlineSum.cpp - sums of a row that one pass over it makes ----------------------------------===//
#include "OnlineSum.h"
#include "KernelRegion.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "par/Conversion/ScalarEvaluator.h"

using namespace mlir;
using namespace mlir::par;

static std::optional<OnlineSum> matchOnlineSum(ReduceOp sum, ArrayRef<Operation *> before) {
  auto exp = sum.getInput().getDefiningOp<math::ExpOp>();
  auto difference = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  auto shift = difference ? difference.getRhs().getDefiningOp<ExpandOp>() : ExpandOp();
  if (!shift || sum.getKind() != ReduceKind::Sum || shift.getDims() != sum.getDims() ||
      !getElementTypeOrSelf(sum.getResult()).isF32())
    return std::nullopt;
  for (Operation *other : before) {
    auto maximum = cast<ReduceOp>(other);
    if (maximum.getKind() != ReduceKind::Max || maximum.getInput() != difference.getLhs() ||
        !isMadeOf(shift.getInput(), {other}))
      continue;
    SmallVector<Operation *> rest(before);
    llvm::erase(rest, other);
    if (!isMadeOf(shift.getInput(), rest) && !isMadeOf(maximum.getInput(), before))
      return OnlineSum{maximum, sum, shift.getInput()};
  }
  return std::nullopt;
}

SmallVector<RowPass> par::findPasses(Block &block) {
  SmallVector<Operation *> sums;
  for (auto sum : block.getOps<ReduceOp>())
    if (!ScalarEvaluator::isPicked(sum)) // has no need of the others
      sums.push_back(sum);
  llvm::DenseMap<Operation *, OnlineSum> online; // by the maximum
  llvm::SmallDenseSet<Operation *> absorbed;
  for (auto [number, op] : llvm::enumerate(sums))
    if (std::optional<OnlineSum> found =
            matchOnlineSum(cast<ReduceOp>(op), ArrayRef(sums).take_front(number));
        found && online.try_emplace(found->maximum, *found).second)
      absorbed.insert(op);
  // A pass is behind those of the sums that its own are made of.
  SmallVector<RowPass> passes;
  llvm::DenseMap<Operation *, size_t> levels;
  for (auto [number, op] : llvm::enumerate(sums)) {
    size_t level = 0;
    for (Operation *other : ArrayRef(sums).take_front(number))
      if (isMadeOf(op->getOperand(0), {other}))
        level = std::max(level, levels[other] + 1);
    if (absorbed.contains(op)) { // is there as soon as its maximum
      levels[op] = level - 1;
      continue;
    }
    levels[op] = level;
    if (passes.size() <= level)
      passes.resize(level + 1);
    if (auto found = online.find(op); found != online.end())
      passes[level].online.push_back(found->second);
    else
      passes[level].sums.push_back(cast<ReduceOp>(op));
  }
  return passes;
}
