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

NumberRange Visibility::findRange(Value positions, Value first, int64_t count, int64_t rows) {
  NumberRange range;
  for (int64_t some = 0; some < count; some += kWarp) {
    // Behind the last row: the last row again.
    Value row = code.atMost(code.add(code.add(first, some), code.lane), rows - 1);
    Value position = code.read(code.i32, code.address(positions, code.i32, row));
    range.low = range.low ? code.combine(ReduceKind::Min, range.low, position) : position;
    range.high = range.high ? code.combine(ReduceKind::Max, range.high, position) : position;
  }
  return {code.combineLanes(ReduceKind::Min, range.low, kWarp),
          code.combineLanes(ReduceKind::Max, range.high, kWarp)};
}

Value Visibility::isNear(Value query, Value key) {
  Value distance = code.create<arith::SubIOp>(code.widen(query), code.widen(key));
  return code.compare(arith::CmpIPredicate::slt, distance, code.wide(window));
}

Value Visibility::mayAnySee(NumberRange queries, NumberRange keys) {
  Value may = code.constant(code.builder.getI1Type(), 1);
  if (causal)
    may = code.both(may, isBefore(keys.low, queries.high));
  if (window)
    may = code.both(may, isNear(queries.low, keys.high));
  return may;
}

Value Visibility::doAllSee(NumberRange queries, NumberRange keys) {
  Value all = causal ? isBefore(keys.high, queries.low) : Value();
  if (!window)
    return all;
  Value near = isNear(queries.high, keys.low);
  return all ? code.both(all, near) : near;
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

Value Visibility::isIn(Value position, NumberRange range) {
  return code.both(isBefore(range.low, position), isBefore(position, range.high));
}
