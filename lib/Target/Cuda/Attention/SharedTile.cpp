//===- SharedTile.cpp - rows of a tensor in the shared memory of a block --------------------------===//
#include "SharedTile.h"
#include "../Bf16Pair.h"
#include "../IterationSpace.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::par;

/// Accesses of a thread that are under way at a time.
static constexpr int64_t kUnderWay = 8;

SharedTile::SharedTile(BlockCode &code, Value memory, int64_t offset, Type element, int64_t rows,
                       int64_t columns)
    : element(element), rows(rows), columns(columns), code(code), stride(getStride(element, columns)),
      memory(code.address(memory, code.builder.getI8Type(), offset)) {}

Value SharedTile::at(Value row, Value column) const {
  return code.address(memory, element, code.add(code.times(row, stride), column));
}

SharedTile SharedTile::from(Value column) const {
  SharedTile tile(*this);
  tile.memory = code.address(memory, element, column);
  return tile;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// What is moved in one access: a row of the tile and a column, of the head where it has one.
struct SharedTile::Chunk {
  Value row, column, isColumn;
};

SharedTile::Chunk SharedTile::findChunk(const HeadRows &of, Value number) const {
  int64_t perRow = columns / of.access, inHead = of.columns / of.access;
  Value column = code.rest(number, perRow);
  Chunk chunk{code.divide(number, perRow), code.times(column, of.access), {}};
  if (inHead < perRow)
    chunk.isColumn = code.isBelow(column, inHead);
  return chunk;
}

Type SharedTile::getAccessType(const HeadRows &of) const {
  int64_t bytes = of.access * BlockCode::getBytes(element);
  return bytes > 4 ? Type(VectorType::get({bytes / 4}, code.i32))
                   : Type(code.builder.getIntegerType(static_cast<unsigned>(8 * bytes)));
}

/// All loads before the first store. What is not there is loaded from the last row or the first column
/// instead, so that no load is behind a branch.
void SharedTile::loadChunks(const HeadRows &from, Value firstRow, ArrayRef<Value> numbers,
                            bool isExact) const {
  Values values;
  for (Value number : numbers)
    values.push_back(loadChunk(from, firstRow, findChunk(from, number), isExact));
  for (auto [number, value] : llvm::zip(numbers, values)) {
    Chunk chunk = findChunk(from, number);
    auto write = [&, value = value] { code.write(value, at(chunk.row, chunk.column)); };
    isExact ? write() : code.when(code.isBelow(chunk.row, rows), write);
  }
}

Value SharedTile::loadChunk(const HeadRows &from, Value firstRow, const Chunk &chunk, bool isExact) const {
  Value row = code.add(firstRow, chunk.row), column = chunk.column, isThere = chunk.isColumn;
  if (from.rows % rows != 0 || !isExact) {
    Value isRow = code.isBelow(row, from.rows);
    isThere = isThere ? code.both(isThere, isRow) : isRow;
    row = code.atMost(row, from.rows - 1);
  }
  if (chunk.isColumn)
    column = code.select(chunk.isColumn, column, code.whole(0));
  Type type = getAccessType(from);
  Value value = code.read(type, from.at(code, element, row, column), BlockCode::getBytes(type));
  Value zero = code.create<arith::ConstantOp>(code.builder.getZeroAttr(type));
  return isThere ? code.select(isThere, value, zero) : value;
}

void SharedTile::load(const HeadRows &from, Value firstRow, int64_t threads) const {
  int64_t all = rows * (columns / from.access), each = llvm::divideCeilSigned(all, threads);
  auto loadSome = [&](Value first, int64_t count) {
    Values numbers;
    for (int64_t number = 0; number < count; ++number)
      numbers.push_back(code.add(first, number * threads));
    loadChunks(from, firstRow, numbers, /*isExact=*/all % threads == 0);
  };
  int64_t whole = each / kUnderWay * kUnderWay;
  if (whole > kUnderWay) {
    Value end = code.add(code.thread, whole * threads);
    code.loop(code.thread, end, kUnderWay * threads, {}, [&](Value first, ValueRange) {
      loadSome(first, kUnderWay);
      return Values();
    });
  } else if (whole > 0) {
    loadSome(code.thread, whole);
  }
  if (whole < each)
    loadSome(code.add(code.thread, whole * threads), each - whole);
}

void SharedTile::put(const Fragments &values, Value firstRow) const {
  for (int64_t number = 0; number < values.countRows(); ++number) {
    Value place = at(code.add(firstRow, Fragments::findRow(code, number)), Fragments::findColumn(code, 0));
    for (int64_t strip = 0; strip < values.strips; ++strip) {
      Value low = values.at(number / 2, strip, number % 2 * 2),
            high = values.at(number / 2, strip, number % 2 * 2 + 1);
      Value to = at(place, 0, strip * Fragments::kColumns);
      if (element.isBF16()) {
        code.write(packBf16(code.builder, code.loc, low, high), to);
      } else {
        code.write(low, to);
        code.write(high, code.address(to, element, 1));
      }
    }
  }
}

void SharedTile::store(const HeadRows &to, Value firstRow, int64_t count, Value toRow) const {
  Type type = getAccessType(to);
  int64_t perRow = std::min(columns, to.columns) / to.access, chunks = count * perRow;
  for (int64_t first = 0; first < chunks; first += kWarp) {
    Value number = code.add(code.lane, first), row = code.divide(number, perRow);
    Value column = code.times(code.rest(number, perRow), to.access), target = code.add(toRow, row);
    Value isThere = code.both(code.isBelow(number, chunks), code.isBelow(target, to.rows)), place = column;
    if (to.begin) {
      place = code.add(column, to.begin);
      isThere = code.both(isThere, code.isBelow(place, to.columns));
    }
    code.when(isThere, [&] {
      Value value = code.read(type, at(code.add(firstRow, row), column), BlockCode::getBytes(type));
      code.write(value, to.at(code, element, target, place));
    });
  }
}
