#include "standin/cudnn/Graph.h"

#include "comm/Reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>
#include <unordered_map>

namespace par::standin {

using namespace cuda;
using Values = std::vector<float>;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

bool TensorShape::operator==(const TensorShape &other) const {
  return number == other.number && type == other.type && sizes == other.sizes && strides == other.strides &&
         isVirtual == other.isVirtual && isByValue == other.isByValue;
}

static void forEach(const Index &sizes, const std::function<void(const Index &)> &visit) {
  Index at{};
  for (at[0] = 0; at[0] < sizes[0]; ++at[0])
    for (at[1] = 0; at[1] < sizes[1]; ++at[1])
      for (at[2] = 0; at[2] < sizes[2]; ++at[2])
        for (at[3] = 0; at[3] < sizes[3]; ++at[3])
          visit(at);
}

std::vector<std::pair<int64_t, int64_t>> TensorShape::pieces() const {
  std::array<int, 4> order = {0, 1, 2, 3};
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return strides[size_t(a)] < strides[size_t(b)]; });
  int64_t run = 1;
  Index outer = sizes;
  for (int dim : order)
    if (strides[size_t(dim)] == run || sizes[size_t(dim)] == 1)
      run *= sizes[size_t(dim)], outer[size_t(dim)] = 1;
    else
      break;
  std::vector<std::pair<int64_t, int64_t>> result;
  forEach(outer, [&](const Index &at) { result.push_back({offset(at) * bytesEach(), run * bytesEach()}); });
  return result;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// b is spread over the shape of a: of 1, or of one for each group of a's.
static bool spreads(const TensorShape &b, const TensorShape &a) {
  for (size_t dim = 0; dim < 4; ++dim)
    if (b.sizes[dim] < 1 || a.sizes[dim] % b.sizes[dim] != 0)
      return false;
  return true;
}

static std::string problemOfProduct(const Operation &op) {
  const Index &a = op.a.sizes, &b = op.b.sizes, &c = op.result.sizes;
  bool batches = a[0] == c[0] && a[1] == c[1] && b[0] == a[0] && b[1] > 0 && a[1] % b[1] == 0;
  return batches && a[2] == c[2] && a[3] == b[2] && b[3] == c[3]
             ? ""
             : "a product of shapes that do not go together";
}

static std::string problemOfPointwise(const Operation &op) {
  int mode = op.mode;
  bool compares = mode == CUDNN_POINTWISE_CMP_GE || mode == CUDNN_POINTWISE_CMP_GT;
  bool selects = mode == CUDNN_POINTWISE_BINARY_SELECT;
  bool isUnary = mode == CUDNN_POINTWISE_EXP || mode == CUDNN_POINTWISE_LOG ||
                 mode == CUDNN_POINTWISE_IDENTITY || mode == CUDNN_POINTWISE_GEN_INDEX;
  if (isUnary != (op.b.number == 0) || selects != (op.select.number != 0))
    return "mode " + std::to_string(mode) + " with another number of operands";
  if (op.a.sizes != op.result.sizes || (op.b.number && !spreads(op.b, op.a)) ||
      (selects && op.select.sizes != op.a.sizes))
    return "mode " + std::to_string(mode) + " of shapes that do not go together";
  if (compares != (op.result.type == CUDNN_DATA_BOOLEAN) || (selects && op.select.type != CUDNN_DATA_BOOLEAN))
    return "mode " + std::to_string(mode) + " of types that do not go together";
  return "";
}

std::string Operation::problem() const {
  if (a.number == 0 || result.number == 0)
    return "an operation without an operand or a result";
  if (result.isByValue)
    return "a result by value";
  if (kind == Kind::multiply)
    return problemOfProduct(*this);
  if (kind == Kind::pointwise)
    return problemOfPointwise(*this);
  if (kind == Kind::reduce)
    return spreads(result, a) ? "" : "a reduction to another shape";
  return result.elements() == a.elements() ? "" : "a reshape to another number of elements";
}

std::string Graph::add(const Operation &operation) {
  if (std::string broken = operation.problem(); !broken.empty())
    return broken;
  for (const TensorShape *operand : {&operation.a, &operation.b, &operation.select, &operation.result}) {
    if (operand->number == 0)
      continue;
    auto [known, isNew] = all.emplace(operand->number, *operand);
    if (!isNew && !(known->second == *operand))
      return "tensor " + std::to_string(operand->number) + " is two tensors";
    if (operand != &operation.result && operand->isVirtual && !writes(operand->number))
      return "tensor " + std::to_string(operand->number) + " is virtual, and read before it is computed";
  }
  if (!results.emplace(operation.result.number, true).second)
    return "tensor " + std::to_string(operation.result.number) + " is computed twice";
  operations.push_back(operation);
  return "";
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Calls `visit` with a reference to each number of a tensor.
template <typename Tensor, typename Visit>
static void visitNumbers(Tensor &tensor, const Visit &visit) {
  visit(tensor.number), visit(tensor.type), visit(tensor.alignment);
  for (size_t dim = 0; dim < 4; ++dim)
    visit(tensor.sizes[dim]), visit(tensor.strides[dim]);
  visit(tensor.isVirtual), visit(tensor.isByValue);
}

std::string Graph::print() const {
  std::string text;
  auto write = [&](auto number) { text += std::to_string(int64_t(number)) + " "; };
  for (const Operation &op : operations) {
    write(op.kind), write(op.mode), write(op.axis);
    for (const TensorShape *tensor : {&op.a, &op.b, &op.select, &op.result})
      visitNumbers(*tensor, write);
  }
  return text;
}

std::string Graph::parse(const std::string &text) {
  std::istringstream stream(text);
  auto read = [&](auto &number) {
    int64_t value = 0;
    stream >> value;
    number = std::decay_t<decltype(number)>(value);
  };
  while (stream >> std::ws && !stream.eof()) {
    Operation op;
    read(op.kind), read(op.mode), read(op.axis);
    for (TensorShape *tensor : {&op.a, &op.b, &op.select, &op.result})
      visitNumbers(*tensor, read);
    if (!stream)
      return "an operation that ends too soon";
    if (std::string problem = add(op); !problem.empty())
      return problem;
  }
  return operations.empty() ? "no operation" : "";
}

/// The gradient of the queries once more, where there is one, up to a multiple of 8 rows.
static int64_t olderWorkspace(const Operation &op) {
  const TensorShape &result = op.result;
  if (op.kind != Operation::Kind::multiply || !result.isInMemory() || result.type != CUDNN_DATA_FLOAT)
    return 0;
  return 128 + 4 * result.sizes[0] * result.sizes[1] * ((result.sizes[2] + 7) / 8 * 8) * result.sizes[3];
}

int64_t Graph::workspace(bool isOlder) const {
  int64_t bytes = isOlder ? 0 : 256;
  for (const Operation &op : operations)
    if (isOlder)
      bytes += olderWorkspace(op);
  for (const Operation &op : operations)
    if (op.kind == Operation::Kind::multiply && op.result.isVirtual && op.result.type == CUDNN_DATA_BFLOAT16)
      bytes += op.result.elements() * op.result.bytesEach();
  return bytes;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static float rounded(float value, int type) {
  return type == CUDNN_DATA_BFLOAT16 ? comm::widenBf16(comm::roundToBf16(value)) : value;
}

static Index packed(const Index &sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

static int64_t place(const Index &sizes, const Index &at) {
  Index strides = packed(sizes);
  return at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2] + at[3] * strides[3];
}

/// The place in a tensor that is spread over one of other sizes.
static int64_t spreadPlace(const Index &sizes, const Index &over, const Index &at) {
  Index own{};
  for (size_t dim = 0; dim < 4; ++dim)
    own[dim] = at[dim] * sizes[dim] / over[dim];
  return place(sizes, own);
}

static float apply(int mode, float x, float b, bool takes) {
  switch (mode) {
  case CUDNN_POINTWISE_ADD:
    return x + b;
  case CUDNN_POINTWISE_SUB:
    return x - b;
  case CUDNN_POINTWISE_MUL:
    return x * b;
  case CUDNN_POINTWISE_DIV:
    return x / b;
  case CUDNN_POINTWISE_EXP:
    return std::exp(x);
  case CUDNN_POINTWISE_LOG:
    return std::log(x);
  case CUDNN_POINTWISE_CMP_GE:
    return x >= b;
  case CUDNN_POINTWISE_CMP_GT:
    return x > b;
  case CUDNN_POINTWISE_BINARY_SELECT:
    return takes ? x : b;
  default:
    return x;
  }
}

namespace {
/// One execution.
class Evaluation {
public:
  Evaluation(const std::map<int64_t, std::vector<char *>> &memory, const std::map<int64_t, float> &scalars)
      : memory(memory), scalars(scalars) {}

  void run(const Operation &op) {
    Values result(size_t(op.result.elements()));
    const Values &a = read(op.a);
    if (op.kind == Operation::Kind::multiply)
      multiply(op, a, read(op.b), result);
    else if (op.kind == Operation::Kind::pointwise)
      pointwise(op, a, result);
    else if (op.kind == Operation::Kind::reduce)
      reduce(op, a, result);
    else
      reshape(op, a, result);
    for (float &value : result)
      value = rounded(value, op.result.type);
    if (op.result.isInMemory())
      write(op.result, result);
    values[op.result.number] = std::move(result);
  }

private:
  const Values &read(const TensorShape &tensor) {
    Values &known = values[tensor.number];
    if (!known.empty())
      return known;
    if (tensor.isByValue) {
      known = {scalars.at(tensor.number)};
      return known;
    }
    visit(tensor, [&](char *at) {
      float wide = 0;
      uint16_t narrow = 0;
      if (tensor.bytesEach() == 4)
        std::memcpy(&wide, at, 4);
      else
        std::memcpy(&narrow, at, 2), wide = comm::widenBf16(narrow);
      known.push_back(wide);
    });
    return known;
  }

  void write(const TensorShape &tensor, const Values &from) {
    size_t number = 0;
    visit(tensor, [&](char *at) {
      float wide = from[number++];
      uint16_t narrow = comm::roundToBf16(wide);
      tensor.bytesEach() == 4 ? std::memcpy(at, &wide, 4) : std::memcpy(at, &narrow, 2);
    });
  }

  /// Pieces are many and alike: found once by their beginning.
  void visit(const TensorShape &tensor, const std::function<void(char *)> &each) const {
    std::map<int64_t, std::pair<int64_t, char *>> byBegin;
    auto pieces = tensor.pieces();
    for (size_t i = 0; i < pieces.size(); ++i)
      byBegin[pieces[i].first] = {pieces[i].second, memory.at(tensor.number)[i]};
    forEach(tensor.sizes, [&](const Index &at) {
      int64_t offset = tensor.offset(at) * tensor.bytesEach();
      auto piece = std::prev(byBegin.upper_bound(offset));
      each(piece->second.second + (offset - piece->first));
    });
  }

  static void multiply(const Operation &op, const Values &a, const Values &b, Values &result) {
    forEach(op.result.sizes, [&](const Index &at) {
      float sum = 0;
      int64_t head = at[1] * op.b.sizes[1] / op.a.sizes[1];
      for (int64_t k = 0; k < op.a.sizes[3]; ++k)
        sum += a[size_t(place(op.a.sizes, {at[0], at[1], at[2], k}))] *
               b[size_t(place(op.b.sizes, {at[0], head, k, at[3]}))];
      result[size_t(place(op.result.sizes, at))] = sum;
    });
  }

  void pointwise(const Operation &op, const Values &a, Values &result) {
    const Values none{0};
    const Values &b = op.b.number ? read(op.b) : none;
    const Values &select = op.select.number ? read(op.select) : none;
    forEach(op.result.sizes, [&](const Index &at) {
      auto number = size_t(place(op.result.sizes, at));
      size_t ofB = op.b.number ? size_t(spreadPlace(op.b.sizes, op.a.sizes, at)) : 0;
      result[number] = op.mode == CUDNN_POINTWISE_GEN_INDEX
                           ? float(at[size_t(op.axis)])
                           : apply(op.mode, a[number], b[ofB], op.select.number && select[number] != 0);
    });
  }

  static void reduce(const Operation &op, const Values &a, Values &result) {
    bool isMaximum = op.mode == CUDNN_REDUCE_TENSOR_MAX;
    std::fill(result.begin(), result.end(), isMaximum ? -std::numeric_limits<float>::infinity() : 0);
    forEach(op.a.sizes, [&](const Index &at) {
      float &total = result[size_t(spreadPlace(op.result.sizes, op.a.sizes, at))];
      float value = a[size_t(place(op.a.sizes, at))];
      total = isMaximum ? std::max(total, value) : total + value;
    });
  }

  /// Elements stay where strides say that they are.
  static void reshape(const Operation &op, const Values &a, Values &result) {
    std::unordered_map<int64_t, float> byOffset;
    forEach(op.a.sizes,
            [&](const Index &at) { byOffset[op.a.offset(at)] = a[size_t(place(op.a.sizes, at))]; });
    forEach(op.result.sizes, [&](const Index &at) {
      result[size_t(place(op.result.sizes, at))] = byOffset[op.result.offset(at)];
    });
  }

  const std::map<int64_t, std::vector<char *>> &memory;
  const std::map<int64_t, float> &scalars;
  std::map<int64_t, Values> values;
};
} // namespace

void Graph::compute(const std::map<int64_t, std::vector<char *>> &memory,
                    const std::map<int64_t, float> &scalars) const {
  Evaluation evaluation(memory, scalars);
  for (const Operation &op : operations)
    evaluation.run(op);
}

} // namespace par::standin
