//===- QueryKernel.cpp - kernels whose blocks have queries and walk the keys ----------------------===//
#include "QueryKernel.h"
#include <limits>

using namespace mlir;
using namespace mlir::par;

SmallVector<AttentionKernel::Access> QueryKernel::getCommonAccesses(const AttentionCall &call) {
  SmallVector<Access> accesses;
  for (int64_t in : {call.q.operand, call.k.operand, call.v.operand, call.qPositions, call.kPositions,
                     call.key, call.site, call.row, call.offsets})
    if (in >= 0)
      accesses.push_back({in, BufferAccess::Read});
  return accesses;
}

QueryKernel::QueryKernel(const AttentionTask &task, ArrayRef<Access> accesses, std::string next)
    : AttentionKernel(task, accesses, std::move(next)), keyTile(makeTile(places.other[0], plan.others)),
      valueTile(makeTile(places.other[1], plan.others)),
      queryTile(makeTile(places.own[0], plan.countRows())) {
  // Later queries see more keys: their blocks begin first.
  int64_t heads = call.batch * call.countQueryHeads();
  Value ofHead = code.rest(code.block, heads);
  Value tile = code.create<arith::SubIOp>(code.whole(countTiles() - 1), code.divide(code.block, heads));
  batch = code.divide(ofHead, call.countQueryHeads());
  head = code.rest(ofHead, call.countQueryHeads());
  firstQuery = code.times(tile, plan.countRows());
  Value kvHead = code.divide(head, call.group);
  keys = findKeys(call.k, batch, kvHead);
  values = findKeys(call.v, batch, kvHead);
  if (call.dropout > 0)
    dropout.emplace(
        code, call, [&](int64_t operand) { return getMemory(operand); }, batch, head);
  queryTile.load(findQueries(call.q, batch, head), firstQuery, plan.countThreads());
  findOwnPositions();
}

void QueryKernel::findOwnPositions() {
  Value positions = getMemory(call.qPositions);
  ofQueries = visibility.findRange(positions, firstQuery, plan.countRows(), call.qRows);
  for (int64_t number = 0; number < 2 * plan.bands; ++number) {
    queryRows.push_back(code.add(code.add(firstQuery, warpRow), Fragments::findRow(code, number)));
    Value row = code.atMost(queryRows.back(), call.qRows - 1);
    queryPositions.push_back(code.read(code.i32, code.address(positions, code.i32, row)));
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Values QueryKernel::walkKeys(ValueRange start, function_ref<Values(ValueRange)> add) {
  return code.loop(
      code.whole(0), code.whole(call.kRows), plan.others, start, [&](Value number, ValueRange carried) {
        firstKey = number;
        ofKeys = visibility.findRange(getMemory(call.kPositions), firstKey, plan.others, call.kRows);
        return code.choose(visibility.mayAnySee(ofQueries, ofKeys), carried, [&] {
          code.meetBlock(); // behind what was read of the tile before
          loadTile();
          code.meetBlock();
          return add(carried);
        });
      });
}

void QueryKernel::loadTile() {
  keyTile.load(keys, firstKey, plan.countThreads());
  valueTile.load(values, firstKey, plan.countThreads());
  for (int64_t some = 0; some < plan.others; some += plan.countThreads())
    placeKeyBound(code.add(code.thread, some));
}

/// Of a key of the tile, between which positions queries see it; behind the last key, none.
void QueryKernel::placeKeyBound(Value number) {
  using Limits = std::numeric_limits<int32_t>;
  Value key = code.add(firstKey, number), isThere = code.isBelow(key, call.kRows);
  code.when(code.isBelow(number, plan.others), [&] {
    Value row = code.atMost(key, call.kRows - 1);
    Value position = code.read(code.i32, code.address(getMemory(call.kPositions), code.i32, row));
    NumberRange seen = visibility.findQueries(position);
    code.write(code.select(isThere, seen.low, code.whole(Limits::max())),
               code.address(getNumbers(0), code.i32, number));
    code.write(code.select(isThere, seen.high, code.whole(Limits::min())),
               code.address(getNumbers(1), code.i32, number));
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Fragments QueryKernel::computeScores() {
  Fragments scores = makeSums(plan.others);
  product->addRowsByRows(scores, queryTile, warpRow, keyTile);
  for (Value &score : scores.elements)
    score = code.multiply(score, code.real(getScale()));
  hide(scores);
  return scores;
}

void QueryKernel::hide(Fragments &scores) {
  Value all = visibility.doAllSee(ofQueries, ofKeys);
  if (call.kRows % plan.others != 0) {
    Value isWhole = code.isBelow(code.add(firstKey, plan.others - 1), call.kRows);
    all = all ? code.both(all, isWhole) : isWhole;
  }
  if (!all)
    return;
  Value isSomeHidden = code.create<arith::XOrIOp>(all, code.constant(code.builder.getI1Type(), 1));
  scores.elements = code.choose(isSomeHidden, scores.elements, [&] {
    Fragments masked = scores;
    Value nothing = code.real(-std::numeric_limits<double>::infinity());
    masked.forEach([&](int64_t row, int64_t strip, int64_t column, Value &score) {
      Value number = code.add(Fragments::findColumn(code, strip), column);
      NumberRange seen{code.read(code.i32, code.address(getNumbers(0), code.i32, number)),
                       code.read(code.i32, code.address(getNumbers(1), code.i32, number))};
      score = code.select(visibility.isIn(queryPositions[row], seen), score, nothing);
    });
    return masked.elements;
  });
}

void QueryKernel::drop(Fragments &elements) {
  if (!dropout)
    return;
  elements.forEach([&](int64_t row, int64_t strip, int64_t column, Value &element) {
    Value key = code.add(code.add(firstKey, Fragments::findColumn(code, strip)), column);
    element = code.multiply(element, dropout->getFactor(queryRows[row], key));
  });
}

void QueryKernel::storeNumber(int64_t operand, Value row, Value number) {
  Value isMine =
      code.both(code.isEqual(code.rest(code.lane, Fragments::kQuad), 0), code.isBelow(row, call.qRows));
  code.when(isMine, [&] { code.write(number, findNumber(operand, batch, head, row)); });
}
