//===- QueryGradientKernel.cpp - attention backward: queries --------------------------------------===//
// With P = exp(S − lse) recomputed, D = dropout and delta = Σ dout·out of a row (Dao, "FlashAttention-2",
// 2023, algorithm 2):
//   dP = D(dout Vᵀ), dS = P (dP − delta), dQ = scale · dS K
// P and dS are those of capped scores where there is a cap, and dS is multiplied by their slope.
// A block has queries and walks the keys, so that a row of dQ is one thread's sum. It leaves delta for the
// keys.
#include "QueryKernel.h"
#include "WriteAttention.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class QueryGradientKernel : QueryKernel {
public:
  explicit QueryGradientKernel(const AttentionTask &task)
      : QueryKernel(task, getAccesses(task.call), getKeyGradientName(task.name)),
        doutTile(makeTile(places.own[1], plan.countRows(), plan.values.all)) {}

  void write() {
    doutTile.load(findOutputs(call.dout, batch, head), firstQuery, plan.countThreads());
    findDivisors();
    findDeltas();
    Fragments sums = makeSums(plan.keys.sums);
    sums.elements = walkKeys(sums.elements, [&](ValueRange carried) {
      Fragments next(sums.bands, sums.strips, carried);
      product->addFragmentsByRows(next, computeScoreGradients(), getSummed(keyTile, plan.keys));
      return next.elements;
    });
    for (Value &sum : sums.elements)
      sum = code.multiply(sum, code.real(getGradientScale()));
    storeRows(sums, queryTile, plan.keys, findQueries(call.dq, batch, head), firstQuery);
    code.builder.create<func::ReturnOp>(code.loc);
  }

private:
  static SmallVector<Access> getAccesses(const AttentionCall &call) {
    SmallVector<Access> accesses = getCommonAccesses(call);
    for (int64_t in : {call.out.operand, call.dout.operand, call.lse})
      accesses.push_back({in, BufferAccess::Read});
    accesses.push_back({call.dq.operand, getAccess(call.dq, call.countQueryHeads() * call.headDim)});
    accesses.push_back({call.delta, BufferAccess::Write});
    return accesses;
  }

  void findDivisors() {
    for (Value row : queryRows) {
      Value place = findNumber(call.lse, batch, head, code.atMost(row, call.qRows - 1));
      divisors.push_back(toDivisor(code.read(code.f32, place)));
    }
  }

  /// The lanes of a quad share a row's terms.
  void findDeltas() {
    HeadRows out = findOutputs(call.out, batch, head), dout = findOutputs(call.dout, batch, head);
    for (Value row : queryRows) {
      Value inRange = code.atMost(row, call.qRows - 1);
      Value begin = code.times(code.rest(code.lane, Fragments::kQuad), out.access);
      Values sum = code.loop(begin, code.whole(call.valueDim), Fragments::kQuad * out.access, code.real(0),
                             [&](Value column, ValueRange carried) {
                               return addProducts(carried[0], readElements(out, inRange, column),
                                                  readElements(dout, inRange, column));
                             });
      deltas.push_back(code.combineLanes(ReduceKind::Sum, sum[0], Fragments::kQuad));
      storeNumber(call.delta, row, deltas.back());
    }
  }

  Values readElements(const HeadRows &rows, Value row, Value column) {
    return code.readElements(call.type, rows.at(code, call.type, row, column), rows.access);
  }

  Values addProducts(Value sum, ArrayRef<Value> a, ArrayRef<Value> b) {
    for (auto [left, right] : llvm::zip(a, b))
      sum = code.create<arith::AddFOp>(sum, code.multiply(left, right));
    return {sum};
  }

  /// dS without the scale.
  Fragments computeScoreGradients() {
    Fragments gradients = makeSums(plan.others), scores = call.cap > 0 ? computeWeights() : computeScores();
    if (call.cap == 0)
      hide(scores);
    product->addRowsByRows(gradients, doutTile, warpRow, valueTile);
    drop(gradients);
    gradients.forEach([&](int64_t row, int64_t strip, int64_t column, Value &gradient) {
      Value score = scores.at(row / 2, strip, row % 2 * 2 + column);
      Value weight = call.cap > 0 ? score : exponential(score, divisors[row]);
      gradient = code.multiply(weight, code.subtract(gradient, deltas[row]));
    });
    return gradients;
  }

  /// The weights of a cap are probabilities times slopes. A pair that is not seen has a slope, but is hidden.
  Fragments computeWeights() {
    Fragments scores = computeScores(), weights = scores;
    weights.forEach(
        [&](int64_t row, int64_t, int64_t, Value &weight) { weight = subtractBase(weight, divisors[row]); });
    hide(weights);
    for (auto [weight, score] : llvm::zip(weights.elements, scores.elements))
      weight = code.multiply(exponential(weight), getSlope(score));
    return weights;
  }

  SharedTile doutTile;
  Values divisors, deltas; ///< of this lane's rows
};
} // namespace

void par::writeQueryGradientKernel(const AttentionTask &task) { QueryGradientKernel(task).write(); }
