//===- KeyGradientKernel.cpp - attention backward: keys and values --------------------------------===//
// As QueryGradientKernel, transposed: a block has keys and walks the queries of all heads that share them.
//   dV = D(P)ᵀ dout, dK = scale · dSᵀ Q
#include "AttentionKernel.h"
#include "WriteAttention.h"
#include <limits>

using namespace mlir;
using namespace mlir::par;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
class KeyGradientKernel : AttentionKernel {
public:
  explicit KeyGradientKernel(const AttentionTask &task)
      : AttentionKernel(task, getAccesses(task.call), ""), keyTile(makeTile(places.own[0], plan.countRows())),
        valueTile(makeTile(places.own[1], plan.countRows())),
        queryTile(makeTile(places.other[0], plan.others)), doutTile(makeTile(places.other[1], plan.others)) {}

  void write() {
    int64_t heads = call.batch * call.kvHeads;
    Value ofHead = code.rest(code.block, heads);
    batch = code.divide(ofHead, call.kvHeads);
    kvHead = code.rest(ofHead, call.kvHeads);
    firstKey = code.times(code.divide(code.block, heads), plan.countRows());
    keyTile.load(findKeys(call.k, batch, kvHead), firstKey, plan.countThreads());
    valueTile.load(findKeys(call.v, batch, kvHead), firstKey, plan.countThreads());
    findOwnPositions();
    Fragments ofKeys = makeSums(plan.columns), ofValues = ofKeys;
    walkHeads(ofKeys, ofValues);
    for (Value &sum : ofKeys.elements)
      sum = code.multiply(sum, code.real(call.scale));
    storeRows(ofKeys, keyTile, findKeys(call.dk, batch, kvHead), firstKey);
    storeRows(ofValues, valueTile, findKeys(call.dv, batch, kvHead), firstKey);
    code.builder.create<func::ReturnOp>(code.loc);
  }

private:
  static SmallVector<Access> getAccesses(const AttentionCall &call) {
    SmallVector<Access> accesses;
    for (int64_t in : {call.q.operand, call.k.operand, call.v.operand, call.qPositions, call.kPositions,
                       call.key, call.site, call.row, call.offsets, call.dout.operand, call.lse, call.delta})
      if (in >= 0)
        accesses.push_back({in, BufferAccess::Read});
    for (BufferRows rows : {call.dk, call.dv})
      accesses.push_back({rows.operand, getAccess(rows, call.kvHeads * call.headDim)});
    return accesses;
  }

  void findOwnPositions() {
    Value positions = getMemory(call.kPositions);
    ofOwnKeys = visibility.findRange(positions, firstKey, plan.countRows(), call.kRows);
    for (int64_t number = 0; number < 2 * plan.bands; ++number) {
      keyRows.push_back(code.add(code.add(firstKey, warpRow), Fragments::findRow(code, number)));
      Value row = code.atMost(keyRows.back(), call.kRows - 1);
      seen.push_back(visibility.findQueries(code.read(code.i32, code.address(positions, code.i32, row))));
    }
  }

  //===--------------------------------------------------------------------===//
  // Queries
  //===--------------------------------------------------------------------===//

  void walkHeads(Fragments &ofKeys, Fragments &ofValues) {
    Values start(ofKeys.elements);
    llvm::append_range(start, ofValues.elements);
    Value firstHead = code.times(kvHead, call.group);
    Values all =
        code.loop(firstHead, code.add(firstHead, call.group), 1, start, [&](Value number, ValueRange sums) {
          head = number;
          if (call.dropout > 0)
            dropout.emplace(
                code, call, [&](int64_t operand) { return getMemory(operand); }, batch, head);
          return walkQueries(sums);
        });
    ofKeys.elements = Values(ArrayRef<Value>(all).take_front(ofKeys.elements.size()));
    ofValues.elements = Values(ArrayRef<Value>(all).drop_front(ofKeys.elements.size()));
  }

  Values walkQueries(ValueRange start) {
    HeadRows queries = findQueries(call.q, batch, head), douts = findQueries(call.dout, batch, head);
    return code.loop(
        code.whole(0), code.whole(call.qRows), plan.others, start, [&](Value number, ValueRange sums) {
          firstQuery = number;
          ofQueries = visibility.findRange(getMemory(call.qPositions), firstQuery, plan.others, call.qRows);
          return code.choose(visibility.mayAnySee(ofQueries, ofOwnKeys), sums, [&] {
            code.meetBlock(); // behind what was read of the tile before
            queryTile.load(queries, firstQuery, plan.countThreads());
            doutTile.load(douts, firstQuery, plan.countThreads());
            for (int64_t some = 0; some < plan.others; some += plan.countThreads())
              placeNumbers(code.add(code.thread, some));
            code.meetBlock();
            return addTile(sums);
          });
        });
  }

  /// A query's position, divisor and delta; behind the last one, all probabilities are 0.
  void placeNumbers(Value number) {
    Value query = code.add(firstQuery, number), row = code.atMost(query, call.qRows - 1);
    code.when(code.isBelow(number, plan.others), [&] {
      Value position = code.read(code.i32, code.address(getMemory(call.qPositions), code.i32, row));
      Value divisor = toDivisor(code.read(code.f32, findNumber(call.lse, batch, head, row)));
      Value delta = code.read(code.f32, findNumber(call.delta, batch, head, row));
      code.write(position, code.address(getNumbers(0), code.i32, number));
      code.write(code.select(code.isBelow(query, call.qRows), divisor, code.real(kInfinity)),
                 code.address(getNumbers(1), code.f32, number));
      code.write(delta, code.address(getNumbers(2), code.f32, number));
    });
  }

  Value getNumber(int64_t array, Type type, int64_t strip, int64_t column) {
    Value number = code.add(Fragments::findColumn(code, strip), column);
    return code.read(type, code.address(getNumbers(array), type, number));
  }

  Values addTile(ValueRange sums) {
    size_t half = sums.size() / 2;
    int64_t strips = plan.columns / Fragments::kColumns;
    Fragments ofKeys(plan.bands, strips, sums.take_front(half)),
        ofValues(plan.bands, strips, sums.drop_front(half));
    Fragments probabilities = computeProbabilities(), kept = probabilities;
    drop(kept);
    product->addFragmentsByRows(ofValues, kept, doutTile);
    Fragments gradients = makeSums(plan.others);
    product->addRowsByRows(gradients, valueTile, warpRow, doutTile);
    drop(gradients);
    finishScores(probabilities, gradients);
    product->addFragmentsByRows(ofKeys, gradients, queryTile);
    Values next(ofKeys.elements);
    llvm::append_range(next, ofValues.elements);
    return next;
  }

  Fragments computeProbabilities() {
    Fragments scores = makeSums(plan.others);
    product->addRowsByRows(scores, keyTile, warpRow, queryTile);
    for (Value &score : scores.elements)
      score = code.multiply(score, code.real(getScale()));
    hide(scores);
    scores.forEach([&](int64_t, int64_t strip, int64_t column, Value &score) {
      score = exponential(code.subtract(score, getNumber(1, code.f32, strip, column)));
    });
    return scores;
  }

  void hide(Fragments &scores) {
    Value all = visibility.doAllSee(ofQueries, ofOwnKeys);
    if (!all)
      return;
    Value isSomeHidden = code.create<arith::XOrIOp>(all, code.constant(code.builder.getI1Type(), 1));
    scores.elements = code.choose(isSomeHidden, scores.elements, [&] {
      Fragments masked = scores;
      masked.forEach([&](int64_t row, int64_t strip, int64_t column, Value &score) {
        Value position = getNumber(0, code.i32, strip, column);
        score = code.select(visibility.isIn(position, seen[row]), score, code.real(-kInfinity));
      });
      return masked.elements;
    });
  }

  void drop(Fragments &elements) {
    if (!dropout)
      return;
    elements.forEach([&](int64_t row, int64_t strip, int64_t column, Value &element) {
      Value query = code.add(code.add(firstQuery, Fragments::findColumn(code, strip)), column);
      element = code.multiply(element, dropout->getFactor(query, keyRows[row]));
    });
  }

  /// dP becomes dS without the scale.
  void finishScores(const Fragments &probabilities, Fragments &gradients) {
    gradients.forEach([&](int64_t row, int64_t strip, int64_t column, Value &gradient) {
      Value probability = probabilities.at(row / 2, strip, row % 2 * 2 + column);
      Value difference = code.subtract(gradient, getNumber(2, code.f32, strip, column));
      gradient = code.multiply(probability, difference);
    });
  }

  SharedTile keyTile, valueTile, queryTile, doutTile;
  Value batch, kvHead, firstKey; ///< of the block
  NumberRange ofOwnKeys;
  Values keyRows;                ///< of this lane: their numbers
  SmallVector<NumberRange> seen; ///< the queries that see them, by position
  Value head, firstQuery;        ///< of the tile
  NumberRange ofQueries;
  std::optional<DropoutFactors> dropout;
};
} // namespace

void par::writeKeyGradientKernel(const AttentionTask &task) { KeyGradientKernel(task).write(); }
