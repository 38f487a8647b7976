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
      : AttentionKernel(task, getAccesses(task.call), ""),
        keyTile(makeTile(places.own[0], plan.countRows(), plan.keys.all)),
        valueTile(makeTile(places.own[1], plan.countRows(), plan.values.all)),
        queryTile(makeTile(places.other[0], plan.others, plan.keys.all)),
        doutTile(makeTile(places.other[1], plan.others, plan.values.all)) {}

  void write() {
    int64_t heads = call.batch * call.kvHeads;
    Value ofHead = code.rest(block, heads);
    batch = code.divide(ofHead, call.kvHeads);
    kvHead = code.rest(ofHead, call.kvHeads);
    firstKey = code.times(code.divide(block, heads), plan.countRows());
    keyTile.load(findKeys(call.k, batch, kvHead), firstKey, plan.countThreads());
    valueTile.load(findValues(call.v, batch, kvHead), firstKey, plan.countThreads());
    findOwnPlaces();
    tiles = findTiles(queryTables, ofOwnKeys.documents, call.qRows);
    if (gradient) {
      code.when(code.isEqual(gradient, 0), [&] { writeGradients(/*keys=*/true, /*values=*/false); });
      code.when(code.isEqual(gradient, 1), [&] { writeGradients(/*keys=*/false, /*values=*/true); });
    } else {
      writeGradients(/*keys=*/true, /*values=*/true);
    }
    code.builder.create<func::ReturnOp>(code.loc);
  }

private:
  static SmallVector<Access> getAccesses(const AttentionCall &call) {
    SmallVector<Access> accesses;
    for (int64_t in : {call.q.operand, call.k.operand, call.v.operand, call.qPositions, call.kPositions,
                       call.qDocuments, call.kDocuments, call.key, call.site, call.row, call.offsets,
                       call.dout.operand, call.lse, call.delta})
      if (in >= 0)
        accesses.push_back({in, BufferAccess::Read});
    accesses.push_back({call.dk.operand, getAccess(call.dk, call.kvHeads * call.headDim)});
    accesses.push_back({call.dv.operand, getAccess(call.dv, call.kvHeads * call.valueDim)});
    return accesses;
  }

  void writeGradients(bool keys, bool values) {
    addsKeys = keys, addsValues = values;
    Fragments ofKeys = makeSums(keys ? plan.keys.sums : 0),
              ofValues = makeSums(values ? plan.values.sums : 0);
    walkHeads(ofKeys, ofValues);
    for (Value &sum : ofKeys.elements)
      sum = code.multiply(sum, code.real(getGradientScale()));
    if (keys)
      storeRows(ofKeys, keyTile, plan.keys, findKeys(call.dk, batch, kvHead), firstKey);
    if (values)
      storeRows(ofValues, valueTile, plan.values, findValues(call.dv, batch, kvHead), firstKey);
  }

  void findOwnPlaces() {
    queryTables = findTables(call.qPositions, call.qDocuments, batch, call.qRows);
    RowTables keyTables = findTables(call.kPositions, call.kDocuments, batch, call.kRows);
    ofOwnKeys = visibility.findRange(keyTables, firstKey, plan.countRows(), call.kRows);
    for (int64_t number = 0; number < 2 * plan.bands; ++number) {
      keyRows.push_back(code.add(code.add(firstKey, warpRow), Fragments::findRow(code, number)));
      Value row = code.atMost(keyRows.back(), call.kRows - 1);
      RowPlace place = visibility.readPlace(keyTables, row);
      seen.push_back(visibility.findQueries(place.position));
      documents.push_back(place.document);
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
            dropout.emplace(code, call, [&](int64_t operand) { return getMemory(operand); }, batch, head);
          return walkQueries(sums);
        });
    ofKeys.elements = Values(ArrayRef<Value>(all).take_front(ofKeys.elements.size()));
    ofValues.elements = Values(ArrayRef<Value>(all).drop_front(ofKeys.elements.size()));
  }

  Values walkQueries(ValueRange start) {
    HeadRows queries = findQueries(call.q, batch, head), douts = findOutputs(call.dout, batch, head);
    return code.loop(tiles.low, tiles.high, plan.others, start, [&](Value number, ValueRange sums) {
      firstQuery = number;
      ofQueries = visibility.findRange(queryTables, firstQuery, plan.others, call.qRows);
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
      RowPlace place = visibility.readPlace(queryTables, row);
      Value divisor = toDivisor(code.read(code.f32, findNumber(call.lse, batch, head, row)));
      Value delta = code.read(code.f32, findNumber(call.delta, batch, head, row));
      code.write(place.position, code.address(getNumbers(0), code.i32, number));
      code.write(code.select(code.isBelow(query, call.qRows), divisor, code.real(getNoDivisor())),
                 code.address(getNumbers(1), code.f32, number));
      if (place.document)
        code.write(place.document, code.address(getDocuments(), code.i32, number));
      code.write(delta, code.address(getNumbers(2), code.f32, number));
    });
  }

  Value getNumber(int64_t array, Type type, int64_t strip, int64_t column) {
    Value number = code.add(Fragments::findColumn(code, strip), column);
    return code.read(type, code.address(getNumbers(array), type, number));
  }

  Values addTile(ValueRange sums) {
    int64_t keyStrips = addsKeys ? plan.keys.sums / Fragments::kColumns : 0,
            valueStrips = addsValues ? plan.values.sums / Fragments::kColumns : 0;
    size_t countOfKeys = plan.bands * keyStrips * Fragments::kElements;
    Fragments ofKeys(plan.bands, keyStrips, sums.take_front(countOfKeys)),
        ofValues(plan.bands, valueStrips, sums.drop_front(countOfKeys));
    Fragments weights = makeSums(plan.others), probabilities = computeProbabilities(weights);
    if (addsValues)
      addToValues(ofValues, probabilities);
    if (addsKeys)
      addToKeys(ofKeys, weights);
    Values next(ofKeys.elements);
    llvm::append_range(next, ofValues.elements);
    return next;
  }

  void addToValues(Fragments &ofValues, Fragments probabilities) {
    drop(probabilities);
    product->addFragmentsByRows(ofValues, probabilities, getSummed(doutTile, plan.values));
  }

  void addToKeys(Fragments &ofKeys, const Fragments &weights) {
    Fragments gradients = makeSums(plan.others);
    product->addRowsByRows(gradients, valueTile, warpRow, doutTile);
    drop(gradients);
    finishScores(weights, gradients);
    product->addFragmentsByRows(ofKeys, gradients, getSummed(queryTile, plan.keys));
  }

  /// And `weights`: the same times the slopes of scores.
  Fragments computeProbabilities(Fragments &weights) {
    Fragments scores = makeSums(plan.others);
    product->addRowsByRows(scores, keyTile, warpRow, queryTile);
    for (Value &score : scores.elements)
      score = toScore(score);
    if (call.cap > 0)
      return computeCapped(scores, weights);
    hide(scores);
    scores.forEach([&](int64_t, int64_t strip, int64_t column, Value &score) {
      score = exponential(score, getNumber(1, code.f32, strip, column));
    });
    return weights = scores;
  }

  /// A pair that is not seen has a slope, but is hidden.
  Fragments computeCapped(const Fragments &scores, Fragments &weights) {
    Fragments probabilities = scores;
    probabilities.forEach([&](int64_t, int64_t strip, int64_t column, Value &score) {
      score = subtractBase(score, getNumber(1, code.f32, strip, column));
    });
    hide(probabilities);
    weights = scores;
    for (auto [probability, weight] : llvm::zip(probabilities.elements, weights.elements)) {
      probability = exponential(probability);
      weight = code.multiply(probability, getSlope(weight));
    }
    return probabilities;
  }

  void hide(Fragments &scores) {
    Value all = visibility.doAllSee(ofQueries, ofOwnKeys);
    if (!all)
      return;
    Value isSomeHidden = code.create<arith::XOrIOp>(all, code.constant(code.builder.getI1Type(), 1));
    scores.elements = code.choose(isSomeHidden, scores.elements, [&] {
      Fragments masked = scores;
      masked.forEach([&](int64_t row, int64_t strip, int64_t column, Value &score) {
        RowPlace query{getNumber(0, code.i32, strip, column), {}};
        if (call.hasDocuments())
          query.document = getDocument(code.add(Fragments::findColumn(code, strip), column));
        Value isSeen = visibility.isIn(query, seen[row], documents[row]);
        score = code.select(isSeen, score, code.real(-kInfinity));
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
  void finishScores(const Fragments &weights, Fragments &gradients) {
    gradients.forEach([&](int64_t row, int64_t strip, int64_t column, Value &gradient) {
      Value weight = weights.at(row / 2, strip, row % 2 * 2 + column);
      Value difference = code.subtract(gradient, getNumber(2, code.f32, strip, column));
      gradient = code.multiply(weight, difference);
    });
  }

  SharedTile keyTile, valueTile, queryTile, doutTile;
  Value batch, kvHead, firstKey; ///< of the block
  bool addsKeys, addsValues;     ///< which gradients
  RowRange ofOwnKeys;
  Values keyRows;                ///< of this lane: their numbers
  SmallVector<NumberRange> seen; ///< the queries that see them, by position
  Values documents;              ///< theirs; null where there are none
  RowTables queryTables;
  NumberRange tiles;      ///< of queries: from the first to behind the last that is of these documents
  Value head, firstQuery; ///< of the tile
  RowRange ofQueries;
  std::optional<DropoutFactors> dropout;
};
} // namespace

void par::writeKeyGradientKernel(const AttentionTask &task) { KeyGradientKernel(task).write(); }
