//===- ForwardKernel.cpp - attention forward ------------------------------------------------------===//
// Dao, "FlashAttention-2", 2023, algorithm 1: a block has queries and walks the keys; of each row it keeps
// the maximum so far, the sum of exponentials for that one, and the output so far, not yet divided. A sink is
// a score without a value: it is there before the first key.
#include "QueryKernel.h"
#include "WriteAttention.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace mlir::par;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
class ForwardKernel : QueryKernel {
public:
  explicit ForwardKernel(const AttentionTask &task) : QueryKernel(task, getAccesses(task.call), "") {}

  void write() {
    State start{makeSums(plan.values.sums), Values(2 * plan.bands, code.real(-kInfinity)),
                Values(2 * plan.bands, code.real(0))};
    if (call.sinks >= 0)
      addSink(start);
    Values all = walkKeys(start.flatten(), [&](ValueRange carried) {
      State state = start.with(carried);
      addTile(state);
      return state.flatten();
    });
    finish(start.with(all));
    code.builder.create<func::ReturnOp>(code.loc);
  }

private:
  /// Of the rows that a lane has a part of.
  struct State {
    Fragments out;
    Values highest, sums;

    Values flatten() const {
      Values all(out.elements);
      llvm::append_range(all, highest);
      llvm::append_range(all, sums);
      return all;
    }
    State with(ValueRange all) const {
      size_t elements = out.elements.size(), rows = highest.size();
      return {Fragments(out.bands, out.strips, all.take_front(elements)), Values(all.slice(elements, rows)),
              Values(all.take_back(rows))};
    }
  };

  static SmallVector<Access> getAccesses(const AttentionCall &call) {
    SmallVector<Access> accesses = getCommonAccesses(call);
    if (call.sinks >= 0)
      accesses.push_back({call.sinks, BufferAccess::Read});
    accesses.push_back({call.out.operand, BufferAccess::Write});
    accesses.push_back({call.lse, BufferAccess::Write});
    return accesses;
  }

  /// One lane of each quad has it in its sum.
  void addSink(State &state) {
    Value place = code.address(getMemory(call.sinks), call.sinkType, head);
    Value sink = code.readElements(call.sinkType, place, 1).front();
    auto [times, plus] = getCapUnits();
    sink = code.multiply(sink, code.real(call.cap > 0 ? getUnit() / times : getUnit()));
    if (isSigmoid())
      sink = code.subtract(sink, code.real(plus / times));
    Value isFirst = code.isEqual(code.rest(code.lane, Fragments::kQuad), 0);
    state.highest.assign(state.highest.size(), sink);
    state.sums.assign(state.sums.size(), code.select(isFirst, code.real(1), code.real(0)));
  }

  void addTile(State &state) {
    Fragments factors = computeScores();
    hide(factors);
    toProbabilities(state, factors);
    drop(factors); // the sum counts what is dropped as well
    product->addFragmentsByRows(state.out, factors, getSummed(valueTile, plan.values));
  }

  /// Scores become exponentials for the highest score so far, and what was summed up before is scaled to it.
  void toProbabilities(State &state, Fragments &scores) {
    Values highest = state.highest, bases, factors;
    scores.forEach([&](int64_t row, int64_t, int64_t, Value &score) {
      highest[row] = code.combine(ReduceKind::Max, highest[row], score);
    });
    for (auto [number, before] : llvm::enumerate(state.highest)) {
      highest[number] = code.combineLanes(ReduceKind::Max, highest[number], Fragments::kQuad);
      // A row that has seen no key yet: −∞ − −∞ would be NaN.
      Value isNothing =
          code.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, highest[number], code.real(-kInfinity));
      bases.push_back(toBase(code.select(isNothing, code.real(0), highest[number])));
      factors.push_back(exponential(subtractBases(before, bases.back())));
      state.sums[number] = code.multiply(state.sums[number], factors.back());
    }
    scores.forEach([&](int64_t row, int64_t, int64_t, Value &score) {
      score = exponential(score, bases[row]);
      state.sums[row] = code.combine(ReduceKind::Sum, state.sums[row], score);
    });
    state.out.forEach([&](int64_t row, int64_t, int64_t, Value &element) {
      element = code.multiply(element, factors[row]);
    });
    state.highest = highest;
  }

  Value toNatural(Value score) {
    auto [times, plus] = getCapUnits();
    score = code.multiply(score, code.real((call.cap > 0 ? times : 1) / getUnit()));
    return isSigmoid() ? code.create<arith::AddFOp>(score, code.real(plus / getUnit())) : score;
  }

  /// out = sums / l, and lse = m + log l; a row without keys has 0 and −∞.
  void finish(State state) {
    Values factors;
    for (auto [number, row] : llvm::enumerate(queryRows)) {
      Value sum = code.combineLanes(ReduceKind::Sum, state.sums[number], Fragments::kQuad);
      Value isSeen = code.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, sum, code.real(0));
      Value divisor = code.select(isSeen, sum, code.real(1));
      factors.push_back(code.create<arith::DivFOp>(code.real(1), divisor));
      Value highest = toNatural(state.highest[number]);
      Value lse = code.create<arith::AddFOp>(highest, code.create<math::LogOp>(divisor));
      storeNumber(call.lse, row, code.select(isSeen, lse, code.real(-kInfinity)));
    }
    state.out.forEach([&](int64_t row, int64_t, int64_t, Value &element) {
      element = code.multiply(element, factors[row]);
    });
    storeRows(state.out, queryTile, plan.values, findOutputs(call.out, batch, head), firstQuery);
  }
};
} // namespace

void par::writeForwardKernel(const AttentionTask &task) { ForwardKernel(task).write(); }
