//===- Visibility.cpp - which keys a query sees ---------------------------------------------------===//
#include "Visibility.h"
#include "../IterationSpace.h"
#include <limits>

using namespace mlir;
using namespace mlir::par;

static constexpr int64_t kLowest = std::numeric_limits<int32_t>::min(),
                         kHighest = std::numeric_limits<int32_t>::max();

/// Two positions are never as far apart.
static constexpr int64_t kWidest = int64_t(1) << 33;

Visibility::Visibility(BlockCode &code, const AttentionCall &call)
    : code(code), causal(call.causal), window(std::min(call.window, kWidest)) {}

RowPlace Visibility::readPlace(RowTables tables, Value row) {
  Value position = code.read(code.i32, code.address(tables.positions, code.i32, row));
  if (!tables.documents)
    return {position, {}};
  return {position, code.read(code.i32, code.address(tables.documents, code.i32, row))};
}

RowRange Visibility::findRange(RowTables tables, Value first, int64_t count, int64_t rows) {
  SmallVector<RowPlace> places;
  NumberRange range;
  for (int64_t some = 0; some < count; some += kWarp) {
    // Behind the last row: the last row again.
    Value row = code.atMost(code.add(code.add(first, some), code.lane), rows - 1);
    places.push_back(readPlace(tables, row));
    Value position = places.back().position;
    if (tables.documents)
      continue;
    range.low = range.low ? code.combine(ReduceKind::Min, range.low, position) : position;
    range.high = range.high ? code.combine(ReduceKind::Max, range.high, position) : position;
  }
  if (tables.documents)
    return findPlaces(places);
  range = {code.combineLanes(ReduceKind::Min, range.low, kWarp),
           code.combineLanes(ReduceKind::Max, range.high, kWarp)};
  return {range, {}};
}

/// The first and the last document first, then the positions of rows that are of them.
RowRange Visibility::findPlaces(ArrayRef<RowPlace> places) {
  auto find = [&](ReduceKind kind, Value of, int64_t nothing) {
    Value found;
    for (const RowPlace &place : places) {
      Value number =
          !of ? place.document : code.select(isSame(place.document, of), place.position, code.whole(nothing));
      found = found ? code.combine(kind, found, number) : number;
    }
    return code.combineWarp(kind, found);
  };
  NumberRange documents{find(ReduceKind::Min, {}, 0), find(ReduceKind::Max, {}, 0)};
  return {{find(ReduceKind::Min, documents.low, kHighest), find(ReduceKind::Max, documents.high, kLowest)},
          documents};
}

Value Visibility::isNear(Value query, Value key) {
  Value distance = code.create<arith::SubIOp>(code.widen(query), code.widen(key));
  return code.compare(arith::CmpIPredicate::slt, distance, code.wide(window));
}

Value Visibility::inOrder(Value firstDocument, Value secondDocument, Value alike) {
  if (!alike)
    return isBefore(firstDocument, secondDocument);
  Value before = code.compare(arith::CmpIPredicate::slt, firstDocument, secondDocument);
  return either(before, code.both(isSame(firstDocument, secondDocument), alike));
}

Value Visibility::mayAnySee(const RowRange &queries, const RowRange &keys) {
  auto isBehind = [&] { return isBefore(keys.positions.low, queries.positions.high); };
  auto isWithin = [&] { return isNear(queries.positions.low, keys.positions.high); };
  if (queries.documents.low)
    return code.both(inOrder(keys.documents.low, queries.documents.high, causal ? isBehind() : Value()),
                     inOrder(queries.documents.low, keys.documents.high, window ? isWithin() : Value()));
  Value may = code.constant(code.builder.getI1Type(), 1);
  if (causal)
    may = code.both(may, isBehind());
  if (window)
    may = code.both(may, isWithin());
  return may;
}

Value Visibility::doAllSee(const RowRange &queries, const RowRange &keys) {
  Value all;
  auto demand = [&](Value condition) { all = all ? code.both(all, condition) : condition; };
  if (causal)
    demand(isBefore(keys.positions.high, queries.positions.low));
  if (window)
    demand(isNear(queries.positions.high, keys.positions.low));
  if (queries.documents.low)
    for (Value document : {queries.documents.high, keys.documents.low, keys.documents.high})
      demand(isSame(document, queries.documents.low));
  return all;
}

NumberRange Visibility::findQueries(Value keyPosition) {
  NumberRange range{causal ? keyPosition : code.whole(kLowest), code.whole(kHighest)};
  if (window) {
    Value last = code.create<arith::AddIOp>(code.widen(keyPosition), code.wide(window - 1));
    last = code.create<arith::MinSIOp>(last, code.wide(kHighest));
    range.high = code.create<arith::TruncIOp>(code.i32, last);
  }
  return range;
}

Value Visibility::isIn(RowPlace query, NumberRange seen, Value keyDocument) {
  Value isSeen = code.both(isBefore(seen.low, query.position), isBefore(query.position, seen.high));
  return keyDocument ? code.both(isSeen, isSame(query.document, keyDocument)) : isSeen;
}
