//===- QueryKernel.cpp - kernels whose blocks have queries and walk the keys ----------------------===//
#include "QueryKernel.h"
#include <limits>

using namespace mlir;
using namespace mlir::par;

SmallVector<AttentionKernel::Access> QueryKernel::getCommonAccesses(const AttentionCall &call) {
  SmallVector<Access> accesses;
  for (int64_t in : {call.q.operand, call.k.operand, call.v.operand, call.qPositions, call.kPositions,
                     call.qDocuments, call.kDocuments, call.key, call.site, call.row, call.offsets})
    if (in >= 0)
      accesses.push_back({in, BufferAccess::Read});
  return accesses;
}

QueryKernel::QueryKernel(const AttentionTask &task, ArrayRef<Access> accesses, std::string next)
    : AttentionKernel(task, accesses, std::move(next)),
      keyTile(makeTile(places.other[0], plan.others, plan.keys.all)),
      valueTile(makeTile(places.other[1], plan.others, plan.values.all)),
      queryTile(makeTile(places.own[0], plan.countRows(), plan.keys.all)) {
  // Later queries see more keys: their blocks begin first.
  int64_t heads = call.batch * call.countQueryHeads();
  Value ofHead = code.rest(block, heads);
  Value tile = code.create<arith::SubIOp>(code.whole(countTiles() - 1), code.divide(block, heads));
  batch = code.divide(ofHead, call.countQueryHeads());
  head = code.rest(ofHead, call.countQueryHeads());
  firstQuery = code.times(tile, plan.countRows());
  Value kvHead = code.divide(head, call.group);
  keys = findKeys(call.k, batch, kvHead);
  values = findValues(call.v, batch, kvHead);
  if (call.dropout > 0)
    dropout.emplace(code, call, [&](int64_t operand) { return getMemory(operand); }, batch, head);
  queryTile.load(findQueries(call.q, batch, head), firstQuery, plan.countThreads());
  findOwnPlaces();
}

void QueryKernel::findOwnPlaces() {
  queryTables = findTables(call.qPositions, call.qDocuments, batch, call.qRows);
  keyTables = findTables(call.kPositions, call.kDocuments, batch, call.kRows);
  ofQueries = visibility.findRange(queryTables, firstQuery, plan.countRows(), call.qRows);
  for (int64_t number = 0; number < 2 * plan.bands; ++number) {
    queryRows.push_back(code.add(code.add(firstQuery, warpRow), Fragments::findRow(code, number)));
    Value row = code.atMost(queryRows.back(), call.qRows - 1);
    queryPlaces.push_back(visibility.readPlace(queryTables, row));
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Values QueryKernel::walkKeys(ValueRange start, function_ref<Values(ValueRange)> add) {
  NumberRange tiles = findTiles(keyTables, ofQueries.documents, call.kRows);
  return code.loop(tiles.low, tiles.high, plan.others, start, [&](Value number, ValueRange carried) {
    firstKey = number;
    ofKeys = visibility.findRange(keyTables, firstKey, plan.others, call.kRows);
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
    RowPlace place = visibility.readPlace(keyTables, code.atMost(key, call.kRows - 1));
    NumberRange seen = visibility.findQueries(place.position);
    code.write(code.select(isThere, seen.low, code.whole(Limits::max())),
               code.address(getNumbers(0), code.i32, number));
    code.write(code.select(isThere, seen.high, code.whole(Limits::min())),
               code.address(getNumbers(1), code.i32, number));
    if (place.document)
      code.write(place.document, code.address(getDocuments(), code.i32, number));
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Fragments QueryKernel::computeScores() {
  Fragments scores = makeSums(plan.others);
  product->addRowsByRows(scores, queryTile, warpRow, keyTile);
  for (Value &score : scores.elements)
    score = toScore(score);
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
      Value isSeen = visibility.isIn(queryPlaces[row], seen, getDocument(number));
      score = code.select(isSeen, score, nothing);
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
  if (part) // all parts have the same
    isMine = code.both(isMine, code.isEqual(part, 0));
  code.when(isMine, [&] { code.write(number, findNumber(operand, batch, head, row)); });
}
