#include "cuda/cudnn/AttentionGraph.h"

#include "par/CudnnWorkspace.h"

#include <limits>

namespace par::cuda {

static constexpr int64_t bytesOfBf16 = 2, bytesOfF32 = 4;

/// Operations stand in the order in which engines look for them: what they are told by is their pattern.
io::Status AttentionGraph::write() {
  work.isBackward ? writeBackward() : writeForward();
  return graph.finish();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

int64_t AttentionGraph::inMemory(const GraphTensor &tensor, int buffer, int64_t offset) {
  int64_t number = graph.memory(tensor);
  all.push_back({number, buffer, offset});
  return number;
}

int64_t AttentionGraph::inWorkspace(const GraphTensor &tensor) {
  int64_t offset = taken;
  const Four &sizes = tensor.sizes;
  taken += par_cudnn_align(sizes[0] * sizes[1] * sizes[2] * sizes[3] * bytesOfF32);
  return inMemory(tensor, -1, offset);
}

/// A head's rows; heads lie side by side in a row.
static GraphTensor rowsOf(const AttentionRows &rows, int64_t batch, int64_t heads, int64_t count,
                          int64_t headDim) {
  return {
      CUDNN_DATA_BFLOAT16, {batch, heads, count, headDim}, {count * rows.stride, headDim, rows.stride, 1}};
}

int64_t AttentionGraph::queries(const AttentionRows &rows) {
  return inMemory(rowsOf(rows, work.batch, heads(), work.qRows, work.headDim), rows.buffer,
                  rows.offset * bytesOfBf16);
}

int64_t AttentionGraph::keys(const AttentionRows &rows) {
  return inMemory(rowsOf(rows, work.batch, work.kvHeads, work.kRows, work.headDim), rows.buffer,
                  rows.offset * bytesOfBf16);
}

int64_t AttentionGraph::transposedKeys(const AttentionRows &rows) {
  GraphTensor tensor = rowsOf(rows, work.batch, work.kvHeads, work.kRows, work.headDim);
  std::swap(tensor.sizes[2], tensor.sizes[3]);
  std::swap(tensor.strides[2], tensor.strides[3]);
  return inMemory(tensor, rows.buffer, rows.offset * bytesOfBf16);
}

/// The logarithm of each row's sum of exponentials, which is what par calls lse.
int64_t AttentionGraph::statistics() {
  return inMemory({CUDNN_DATA_FLOAT, ofRows(), packed(ofRows())}, work.lse);
}

int64_t AttentionGraph::number(float value) {
  int64_t tensor = graph.scalar();
  values.push_back({tensor, value});
  return tensor;
}

//===----------------------------------------------------------------------===//
// What both passes compute
//===----------------------------------------------------------------------===//

int64_t AttentionGraph::compute(int mode, const Four &sizes, int64_t x, int64_t b) {
  int64_t result = wide(sizes);
  graph.pointwise(mode, result, x, b);
  return result;
}

int64_t AttentionGraph::scaledScores(int64_t q, int64_t k, int64_t scale) {
  int64_t scores = wide(ofScores());
  graph.multiply(scores, q, k);
  return compute(CUDNN_POINTWISE_MUL, ofScores(), scores, scale);
}

int64_t AttentionGraph::index(int axis, int64_t scores) {
  int64_t result = graph.between({CUDNN_DATA_INT32, ofScores(), packed(ofScores())});
  graph.index(axis, result, scores);
  return result;
}

/// Scores where mode(a, b), else −∞.
int64_t AttentionGraph::select(int64_t scores, int mode, int64_t a, int64_t b) {
  int64_t seen = graph.between({CUDNN_DATA_BOOLEAN, ofScores(), packed(ofScores())});
  graph.pointwise(mode, seen, a, b);
  int64_t result = wide(ofScores());
  graph.pointwise(CUDNN_POINTWISE_BINARY_SELECT, result, scores,
                  number(-std::numeric_limits<float>::infinity()), seen);
  return result;
}

int64_t AttentionGraph::mask(int64_t scores) {
  if (!work.causal)
    return scores;
  int64_t row = index(2, scores), column = index(3, scores);
  scores = select(scores, CUDNN_POINTWISE_CMP_GE, row, column);
  if (work.window == 0)
    return scores;
  row = index(2, scores), column = index(3, scores);
  int64_t end = compute(CUDNN_POINTWISE_ADD, ofScores(), column, number(float(work.window)));
  return select(scores, CUDNN_POINTWISE_CMP_GT, end, row);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

void AttentionGraph::writeForward() {
  int64_t q = queries(work.q), k = transposedKeys(work.k);
  int64_t scores = mask(scaledScores(q, k, number(work.scale)));
  int64_t most = wide(ofRows());
  graph.reduce(CUDNN_REDUCE_TENSOR_MAX, most, scores);
  int64_t below = compute(CUDNN_POINTWISE_SUB, ofScores(), scores, most);
  int64_t exponentials = compute(CUDNN_POINTWISE_EXP, ofScores(), below);
  int64_t sum = wide(ofRows());
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, sum, exponentials);
  int64_t logarithm = compute(CUDNN_POINTWISE_LOG, ofRows(), sum);
  graph.pointwise(CUDNN_POINTWISE_ADD, statistics(), most, logarithm);
  int64_t weights = graph.between({CUDNN_DATA_BFLOAT16, ofScores(), packed(ofScores())});
  graph.pointwise(CUDNN_POINTWISE_DIV, weights, exponentials, sum);
  int64_t v = keys(work.v);
  graph.multiply(queries(work.out), weights, v);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Of dout · out along each row. The factor is dropout's, of which there is none.
int64_t AttentionGraph::rowSums(int64_t dout, int64_t out) {
  int64_t products = compute(CUDNN_POINTWISE_MUL, {work.batch, heads(), work.qRows, work.headDim}, dout, out);
  int64_t sums = wide(ofRows());
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, sums, products);
  int64_t result = inWorkspace({CUDNN_DATA_FLOAT, ofRows(), packed(ofRows())});
  graph.pointwise(CUDNN_POINTWISE_MUL, result, sums, number(1));
  return result;
}

/// [.., q rows, k rows] to [.., k rows, q rows] of bf16.
int64_t AttentionGraph::transpose(int64_t scores) {
  Four strides = packed(ofScores());
  int64_t result = graph.between({CUDNN_DATA_BFLOAT16,
                                  {work.batch, heads(), work.kRows, work.qRows},
                                  {strides[0], strides[1], strides[3], strides[2]}});
  graph.reshape(result, scores);
  return result;
}

void AttentionGraph::writeKeyGradient(const AttentionRows &rows, int64_t a, int64_t b) {
  if (work.group == 1) {
    graph.multiply(keys(rows), a, b);
    return;
  }
  Four sizes = {work.batch, heads(), work.kRows, work.headDim};
  int64_t ofHeads = graph.between({CUDNN_DATA_BFLOAT16, sizes, packed(sizes)});
  graph.multiply(ofHeads, a, b);
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, keys(rows), ofHeads);
}

void AttentionGraph::writeBackward() {
  int64_t dout = queries(work.dout);
  int64_t sums = rowSums(dout, queries(work.out));
  int64_t q = queries(work.q), k = transposedKeys(work.k), scale = number(work.scale);
  int64_t scores = compute(CUDNN_POINTWISE_SUB, ofScores(), scaledScores(q, k, scale), statistics());
  int64_t weights = compute(CUDNN_POINTWISE_EXP, ofScores(), mask(scores));
  writeKeyGradient(work.dv, transpose(weights), dout);
  int64_t ofWeights = wide(ofScores());
  graph.multiply(ofWeights, dout, transposedKeys(work.v));
  int64_t centred = compute(CUDNN_POINTWISE_SUB, ofScores(), ofWeights, sums);
  int64_t unscaled = compute(CUDNN_POINTWISE_MUL, ofScores(), centred, weights);
  int64_t ofScaled = compute(CUDNN_POINTWISE_MUL, ofScores(), unscaled, scale);
  writeKeyGradient(work.dk, transpose(ofScaled), q);
  GraphTensor rows = rowsOf(work.k, work.batch, work.kvHeads, work.kRows, work.headDim);
  rows.type = CUDNN_DATA_FLOAT;
  int64_t kRows = graph.between(rows);
  graph.reshape(kRows, k);
  Four ofQueries = {work.batch, heads(), work.qRows, work.headDim};
  int64_t total = inWorkspace({CUDNN_DATA_FLOAT, ofQueries, packed(ofQueries)});
  graph.multiply(total, ofScaled, kRows);
  graph.pointwise(CUDNN_POINTWISE_IDENTITY, queries(work.dq), total);
}

io::Status AttentionGraph::findRoom(int64_t &most) const {
  most = work.workspaceBytes - taken;
  return most >= 0 ? io::Status()
                   : io::Status::error("its workspace has " + std::to_string(taken) +
                                       " bytes, expected at most " + std::to_string(work.workspaceBytes));
}

} // namespace par::cuda
