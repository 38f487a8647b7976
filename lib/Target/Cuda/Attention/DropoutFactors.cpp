//===- DropoutFactors.cpp - what dropout makes of probabilities -----------------------------------===//
#include "DropoutFactors.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

DropoutFactors::DropoutFactors(BlockCode &code, const AttentionCall &call, FindMemory findMemory, Value batch,
                               Value head)
    : code(code), call(call) {
  Value ofKey = findMemory(call.key), ofOffsets = findMemory(call.offsets);
  key = {readNumber(ofKey, 0), readNumber(ofKey, 1)};
  site = readNumber(findMemory(call.site), 0);
  Value begin = readNumber(findMemory(call.row), 0);
  row = code.add(code.add(begin, readNumber(ofOffsets, 0)), batch);
  Value coordinates[] = {code.whole(0), code.divide(head, call.group), code.rest(head, call.group),
                         code.whole(0)};
  first = code.wide(0);
  for (auto [number, coordinate] : llvm::enumerate(coordinates)) {
    auto dim = static_cast<int64_t>(number) + 1;
    Value place = code.add(coordinate, readNumber(ofOffsets, dim));
    first = code.create<arith::AddIOp>(first, code.widenTimes(place, call.strides[dim]));
  }
}

Value DropoutFactors::getFactor(Value query, Value keyRow) {
  Value element = code.create<arith::AddIOp>(first, code.widenTimes(query, call.strides[1]));
  element = code.create<arith::AddIOp>(element, code.widenTimes(keyRow, call.strides[4]));
  Value low = code.create<arith::TruncIOp>(code.i32, element);
  Value high = code.create<arith::ShRUIOp>(element, code.wide(32));
  Value drawn = code.drawPhilox({low, code.create<arith::TruncIOp>(code.i32, high), row, site}, key);
  return code.select(code.isKept(drawn, call.dropout), code.real(1.0 / (1.0 - call.dropout)), code.real(0));
}
