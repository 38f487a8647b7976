//===- GraphWriter.h - writes graphs for tests as text ----------------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_PROPERTY_GRAPHWRITER_H
#define PAR_TEST_UNIT_PROPERTY_GRAPHWRITER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace mlir::par::test {

using Shape = llvm::SmallVector<int64_t>;

/// A value of the graph being written.
struct Node {
  std::string name;
  Shape shape;
};

/// "tensor<2x3xf32>"
std::string typeOf(llvm::ArrayRef<int64_t> shape, const std::string &element = "f32");
/// "[0, 1]"
std::string listOf(llvm::ArrayRef<int64_t> values);

/// Numbers that depend on the seed alone, on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  /// In [low, high].
  int64_t range(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int64_t percent) { return range(1, 100) <= percent; }
  /// In (-1, 1).
  double real() {
    return static_cast<double>(static_cast<int64_t>(engine() >> 11)) / 4503599627370496.0 - 1.0;
  }

private:
  std::mt19937_64 engine;
};

/// Writes a module with one chunk function @forward whose results are losses.
class GraphWriter {
public:
  /// `mesh` as in par.mesh, for example `<["a"=2, "b"=3]>`; without, no value may have a sharding.
  /// `deviation` is that of the parameters' initial values, `element` the type of parameters and of what has
  /// no type of its own.
  explicit GraphWriter(std::string mesh = "", std::string deviation = "1.0", std::string element = "f32")
      : mesh(std::move(mesh)), deviation(std::move(deviation)), element(std::move(element)) {}

  /// A parameter; `sharding` as in #par.sharding, without its angle brackets.
  Node variable(llvm::ArrayRef<int64_t> shape, const std::string &sharding = "");
  /// `tokens` or `targets`: tensor<batch x seq x i32>.
  Node input(const std::string &name, int64_t batch, int64_t seq, const std::string &sharding = "");
  /// `dropout_key`, `micro_batch`, …: i32 values that change per step; the same argument when asked for
  /// again.
  Node runtimeValue(const std::string &name, llvm::ArrayRef<int64_t> shape);
  /// Number of tokens that exist, which programs that run need.
  void setVocabulary(int64_t size) { vocabulary = size; }
  /// `%n = text`, the text ending in its types.
  Node op(const std::string &text, llvm::ArrayRef<int64_t> shape);
  /// The first of `results` results.
  Node ops(const std::string &text, unsigned results, llvm::ArrayRef<int64_t> shape);
  /// An op whose operands and result have one type: `name %a, %b : type`.
  Node pointwise(const std::string &name, llvm::ArrayRef<Node> operands);
  /// A splat.
  Node constant(const std::string &value, llvm::ArrayRef<int64_t> shape);
  /// A private function, written as it is.
  void function(const std::string &text) { functions += text; }
  /// Adds the weighted sum of all elements to a loss, the main one where `name` is empty; the weights are a
  /// parameter. A further loss has the weight 0.5 in the gradient.
  void addToLoss(const Node &value, const std::string &name = "");
  std::string finish() const;

private:
  std::string next() { return "%n" + std::to_string(count++); }

  /// Of the graph's own type.
  std::string type(llvm::ArrayRef<int64_t> shape) const { return typeOf(shape, element); }

  std::string mesh, deviation, element, variables, functions, arguments, body;
  std::map<std::string, std::string> losses; ///< values by name
  unsigned count = 0;
  int64_t vocabulary = 0;
  std::set<std::string> runtimeValues;
};

} // namespace mlir::par::test

#endif // PAR_TEST_UNIT_PROPERTY_GRAPHWRITER_H
