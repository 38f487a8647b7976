//===- KernelGroupsTest.cpp - two groups become one only if nothing lies between them -------------------===//
#include "lib/Transforms/Lower/KernelGroups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::par;

namespace {
/// Random additions, of which random ones become one kernel wherever they may. Groups are kept a second time,
/// as plain numbers, and every answer is compared with a search over all ways.
class RandomGroups {
public:
  RandomGroups(MLIRContext &context, unsigned seed) : random(seed) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    auto type = RankedTensorType::get({2}, builder.getF32Type());
    auto function = builder.create<func::FuncOp>(loc, "f", builder.getFunctionType({type}, {}));
    block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    SmallVector<Value> values{block->getArgument(0)};
    for (size_t op = 0, end = 4 + draw(20); op < end; ++op) {
      // Near ones rather, so that there are long ways.
      auto pick = [&] { return values[values.size() - 1 - draw(std::min<size_t>(values.size(), 5))]; };
      values.push_back(builder.create<arith::AddFOp>(loc, pick(), pick()));
      ops.push_back(values.back().getDefiningOp());
    }
    builder.create<func::ReturnOp>(loc);
  }

  void run() {
    KernelGroups groups(*block);
    for (Operation *op : ops)
      groups.create(op);
    for (int64_t number = 0; number < static_cast<int64_t>(ops.size()); ++number)
      group.push_back(number);
    for (int round = 0; round < 40; ++round) {
      int64_t a = group[draw(ops.size())], b = group[draw(ops.size())];
      if (a == b)
        continue;
      bool between = isBetween(a, b) || isBetween(b, a);
      ASSERT_EQ(groups.isBetween(a, b), between);
      if (between)
        continue;
      groups.merge(a, b);
      std::replace(group.begin(), group.end(), a, b);
    }
    groups.sort();
    expectSorted();
  }

private:
  size_t draw(size_t end) { return random() % end; }
  int64_t getGroup(Operation *op) const { return group[llvm::find(ops, op) - ops.begin()]; }

  /// A way from `from` to `to` through another group.
  bool isBetween(int64_t from, int64_t to) const {
    std::set<int64_t> reached;
    bool changed = true;
    while (changed) {
      changed = false;
      for (Operation *op : ops)
        for (Value operand : op->getOperands())
          if (Operation *producer = operand.getDefiningOp()) {
            int64_t source = getGroup(producer), target = getGroup(op);
            bool isWay = source != target && (reached.count(source) || (source == from && target != to));
            changed |= isWay && reached.insert(target).second;
          }
    }
    return reached.count(to);
  }

  /// Groups are together, and everything is computed before it is used.
  void expectSorted() const {
    std::set<int64_t> finished;
    std::set<Operation *> computed;
    std::optional<int64_t> open;
    for (Operation &op : block->without_terminator()) {
      int64_t number = getGroup(&op);
      if (open && *open != number)
        finished.insert(*open);
      EXPECT_FALSE(finished.count(number));
      open = number;
      for (Value operand : op.getOperands())
        EXPECT_TRUE(!operand.getDefiningOp() || computed.count(operand.getDefiningOp()));
      computed.insert(&op);
    }
    EXPECT_EQ(computed.size(), ops.size());
  }

  std::mt19937 random;
  OwningOpRef<ModuleOp> module;
  Block *block;
  SmallVector<Operation *> ops;
  std::vector<int64_t> group; ///< of each op
};
} // namespace

TEST(KernelGroups, AgreeWithASearchOverAllWays) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  for (unsigned seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed)
    RandomGroups(context, seed).run();
}
