/// A graph of operations, as the stand-in of cuDNN computes it: in f32, rounded where a tensor is bf16.
#ifndef PAR_STANDIN_CUDNN_GRAPH_H
#define PAR_STANDIN_CUDNN_GRAPH_H

#include "cuda/cudnn/CudnnTypes.h"
#include "standin/Library.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace par::standin {

using Index = std::array<int64_t, 4>;

struct TensorShape {
  int64_t number = 0; ///< 0: none
  int type = 0;
  Index sizes{}, strides{};
  int64_t alignment = 0;
  bool isVirtual = false, isByValue = false;

  int64_t elements() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  int64_t bytesEach() const { return type == cuda::CUDNN_DATA_BFLOAT16 ? 2 : 4; }
  bool isInMemory() const { return !isVirtual && !isByValue; }
  int64_t offset(const Index &index) const {
    return index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2] + index[3] * strides[3];
  }
  /// Pieces without gaps, in bytes from the beginning.
  std::vector<std::pair<int64_t, int64_t>> pieces() const;
  bool operator==(const TensorShape &other) const;
};

struct Operation {
  enum class Kind { pointwise, multiply, reduce, reshape } kind = Kind::pointwise;
  int mode = 0, axis = 0;
  TensorShape a, b, select, result; ///< b and select: maybe none

  std::string problem() const;
};

class Graph {
public:
  /// Empty, or which rule the operation breaks beside those before.
  std::string add(const Operation &operation);
  const std::map<int64_t, TensorShape> &tensors() const { return all; }
  bool writes(int64_t tensor) const { return results.count(tensor) != 0; }
  /// As an H100's engines: 256, and what virtual results of products in bf16 take. Or as an A100's
  /// (par/CudnnWorkspace.h).
  int64_t workspace(bool isOlder) const;

  /// `memory`: where each tensor in memory begins, `scalars`: the numbers by value.
  void compute(const std::map<int64_t, std::vector<char *>> &memory,
               const std::map<int64_t, float> &scalars) const;

  /// As text, from which `parse` makes the same graph.
  std::string print() const;
  /// Empty, or what is wrong with the text.
  std::string parse(const std::string &text);

private:
  std::vector<Operation> operations;
  std::map<int64_t, TensorShape> all;
  std::map<int64_t, bool> results;
};

} // namespace par::standin
#endif
