//===- AttentionText.h - a program that is one attention, from its shape ------------------------===//
#ifndef PAR_TEST_UNIT_TARGET_ATTENTIONTEXT_H
#define PAR_TEST_UNIT_TARGET_ATTENTIONTEXT_H

#include "KernelOfText.h"

namespace mlir::par {

struct AttentionShape {
  int64_t batch = 1, qRows = 1, kRows = 1, kvHeads = 1, group = 1, headDim = 16;
  std::string mask = "causal";
  double dropout = 0;
  bool isJoint = false;    ///< queries, keys and values in the rows of one tensor, and their gradients
  int64_t valueDim = 0;    ///< 0: headDim
  double cap = 0;          ///< 0: none
  std::string sinks = "";  ///< their type; empty: none
  bool documents = false;  ///< of rows
  bool isPerEntry = false; ///< each entry of the batch has positions and documents of its own
  std::string scale = "0.3";

  int64_t countValue() const { return valueDim ? valueDim : headDim; }
};

/// A rank.attention of one shape, forward or backward, on tensors of its own or on rows of joint ones.
class AttentionText {
public:
  AttentionText(const AttentionShape &shape, std::string type) : s(shape), type(std::move(type)) {}

  KernelText forward();
  KernelText backward();
  /// The number of the queries' positions among what it reads; the keys', and both documents, are behind
  /// them.
  int64_t getTables() const { return tables; }
  bool drops() const { return s.dropout > 0; }
  /// The error that lse may have: capped scores of bf16, by 2^-11 of themselves (AttentionCall::hasRoughCap).
  double getSlack() const { return type == "bf16" && s.headDim + s.countValue() < 256 ? s.cap / 2048 : 0; }

private:
  std::string ofQueries() const { return shape({s.batch, s.qRows, s.kvHeads, s.group, s.headDim}, type); }
  std::string ofOutputs() const {
    return shape({s.batch, s.qRows, s.kvHeads, s.group, s.countValue()}, type);
  }
  std::string ofKeys() const { return shape({s.batch, s.kRows, s.kvHeads, s.headDim}, type); }
  std::string ofValues() const { return shape({s.batch, s.kRows, s.kvHeads, s.countValue()}, type); }
  std::string getLse() const { return shape({s.batch, s.kvHeads, s.group, s.qRows}, "f32"); }
  std::string getTable(int64_t rows) const {
    return s.isPerEntry ? shape({s.batch, rows}, "i32") : shape({rows}, "i32");
  }
  int64_t queryWidth() const { return s.kvHeads * s.group * s.headDim; }
  int64_t keyWidth() const { return s.kvHeads * s.headDim; }
  int64_t valueWidth() const { return s.kvHeads * s.countValue(); }
  int64_t jointWidth() const { return queryWidth() + keyWidth() + valueWidth(); }
  /// A part of a joint tensor: name, type and width.
  struct Part {
    std::string name, type;
    int64_t width;
  };
  std::vector<Part> getParts() const {
    return {{"q", ofQueries(), queryWidth()}, {"k", ofKeys(), keyWidth()}, {"v", ofValues(), valueWidth()}};
  }

  std::string add(const std::string &of);
  std::string addInput(const std::string &of);
  void addType(const std::string &of) { types += (types.empty() ? "" : ", ") + of; }
  std::string addQueriesKeysValues();
  std::string addTables(bool isForward);
  std::string attributes() const;
  void joinGradients();
  std::string getRows(const std::string &prefix, int64_t buffer) const;
  KernelText finish(const std::string &gradientRows);

  AttentionShape s;
  std::string type, types;
  KernelText text;
  int64_t first = 0, tables = 0;
};

} // namespace mlir::par

#endif // PAR_TEST_UNIT_TARGET_ATTENTIONTEXT_H
