//===- AttentionKernelTest.cpp - attention of every shape, emulated -------------------------------===//
#include "KernelOfText.h"

using namespace mlir;
using namespace mlir::par;

namespace {
struct Shape {
  int64_t batch = 1, qRows = 1, kRows = 1, kvHeads = 1, group = 1, headDim = 16;
  std::string mask = "causal";
  double dropout = 0;
  bool isJoint = false; ///< queries, keys and values in the rows of one tensor, and their gradients
};

/// A rank.attention of one shape, forward or backward, on tensors of its own or on rows of joint ones.
class AttentionText {
public:
  AttentionText(const Shape &shape, std::string type) : s(shape), type(std::move(type)) {}

  KernelText forward() {
    std::string operands = addQueriesKeysValues();
    std::string dropout = addPositions();
    std::string out = ofQueries(), lse = getLse();
    text.body += "%out, %lse = par.attention " + operands + " positions " + dropout + attributes() + " : (" +
                 types + ") -> (" + out + ", " + lse + ")\nrank.yield %out, %lse : " + out + ", " + lse;
    text.outs = {out, lse};
    return finish("");
  }

  KernelText backward() {
    std::string dout = add(ofQueries());
    std::string operands = addQueriesKeysValues();
    std::string out = add(ofQueries()), lse = add(getLse());
    std::string dropout = addPositions();
    std::string results = ofQueries() + ", " + ofKeys() + ", " + ofKeys();
    text.body += "%dq, %dk, %dv = par.attention_backward " + dout + ", " + operands + ", " + out + ", " +
                 lse + " positions " + dropout + attributes() + " : (" + types + ") -> (" + results + ")\n";
    if (s.isJoint)
      joinGradients();
    else
      text.body += "rank.yield %dq, %dk, %dv : " + results;
    if (!s.isJoint)
      text.outs = {ofQueries(), ofKeys(), ofKeys()};
    return finish(getGradientRows());
  }

private:
  std::string ofQueries() const { return shape({s.batch, s.qRows, s.kvHeads, s.group, s.headDim}, type); }
  std::string ofKeys() const { return shape({s.batch, s.kRows, s.kvHeads, s.headDim}, type); }
  std::string getLse() const { return shape({s.batch, s.kvHeads, s.group, s.qRows}, "f32"); }
  int64_t queryWidth() const { return s.kvHeads * s.group * s.headDim; }
  int64_t keyWidth() const { return s.kvHeads * s.headDim; }
  int64_t jointWidth() const { return queryWidth() + 2 * keyWidth(); }

  /// An input, and an operand of the op.
  std::string add(const std::string &of) {
    std::string name = addInput(of);
    addType(of);
    return name;
  }
  std::string addInput(const std::string &of) {
    text.ins.push_back(of);
    return std::string("%") + static_cast<char>('a' + text.ins.size() - 1);
  }
  void addType(const std::string &of) { types += (types.empty() ? "" : ", ") + of; }

  std::string addQueriesKeysValues() {
    first = static_cast<int64_t>(text.ins.size());
    if (!s.isJoint) {
      std::string q = add(ofQueries()), k = add(ofKeys()), v = add(ofKeys());
      return q + ", " + k + ", " + v;
    }
    std::string joint = addInput(shape({s.batch, s.qRows, jointWidth()}, type));
    int64_t offset = 0;
    std::pair<const char *, std::string> parts[] = {{"q", ofQueries()}, {"k", ofKeys()}, {"v", ofKeys()}};
    for (auto [name, of] : parts) {
      int64_t width = *name == 'q' ? queryWidth() : keyWidth();
      std::string part = shape({s.batch, s.qRows, width}, type);
      text.body += std::string("%") + name + "_ = par.slice " + joint + " from [0, 0, " +
                   std::to_string(offset) + "] : " + shape({s.batch, s.qRows, jointWidth()}, type) + " -> " +
                   part + "\n%" + name + " = par.reshape %" + name + "_ : " + part + " -> " + of + "\n";
      offset += width;
      addType(of);
    }
    return "%q, %k, %v";
  }

  std::string addPositions() {
    std::string operands = add(shape({s.qRows}, "i32"));
    operands += ", " + add(shape({s.kRows}, "i32"));
    if (s.dropout == 0)
      return operands;
    operands += " dropout " + add("tensor<2xi32>");
    operands += " site " + add("tensor<i32>");
    operands += " row " + add("tensor<i32>");
    return operands + " offsets " + add("tensor<5xi32>");
  }

  std::string attributes() const {
    std::string all = " {" + s.mask + (s.mask.empty() ? "" : ", ") + "scale = 0.3";
    if (s.dropout > 0)
      all += ", dropout = " + std::to_string(s.dropout) + ", strides = array<i64: 0, 4099, 513, 77, 1>";
    return all + "}";
  }

  void joinGradients() {
    std::string joint = shape({s.batch, s.qRows, jointWidth()}, type), parts;
    for (const char *name : {"dq", "dk", "dv"}) {
      bool isQuery = name[1] == 'q';
      std::string part = shape({s.batch, s.qRows, isQuery ? queryWidth() : keyWidth()}, type);
      text.body += std::string("%") + name + "_ = par.reshape %" + name + " : " +
                   (isQuery ? ofQueries() : ofKeys()) + " -> " + part + "\n";
      parts += (parts.empty() ? "" : ", ") + part;
    }
    text.body += "%all = par.concat %dq_, %dk_, %dv_ dim 2 : (" + parts + ") -> " + joint +
                 "\nrank.yield %all : " + joint;
    text.outs = {joint};
  }

  std::string rows(const std::string &name, int64_t buffer, int64_t offset, int64_t stride) const {
    return ", " + name + " = <buffer = " + std::to_string(buffer) + ", offset = " + std::to_string(offset) +
           ", stride = " + std::to_string(stride) + ">";
  }

  std::string getRows(const std::string &prefix, int64_t buffer) const {
    if (s.isJoint)
      return rows(prefix + "q", buffer, 0, jointWidth()) +
             rows(prefix + "k", buffer, queryWidth(), jointWidth()) +
             rows(prefix + "v", buffer, queryWidth() + keyWidth(), jointWidth());
    return rows(prefix + "q", buffer, 0, queryWidth()) + rows(prefix + "k", buffer + 1, 0, keyWidth()) +
           rows(prefix + "v", buffer + 2, 0, keyWidth());
  }
  std::string getGradientRows() const { return getRows("d", 0); }

  KernelText finish(const std::string &gradientRows) {
    text.op = "rank.attention";
    text.attributes = "attributes {structure = #rank.attention<type = " + type;
    std::pair<const char *, int64_t> sizes[] = {{"batch", s.batch},  {"q_rows", s.qRows},
                                                {"k_rows", s.kRows}, {"kv_heads", s.kvHeads},
                                                {"group", s.group},  {"head_dim", s.headDim}};
    for (auto [name, size] : sizes)
      text.attributes += std::string(", ") + name + " = " + std::to_string(size);
    text.attributes += getRows("", first) + gradientRows + ">}";
    return text;
  }

  Shape s;
  std::string type, types;
  KernelText text;
  int64_t first = 0;
};

/// Positions grow along rows from `first` on by `step`.
void setPositions(Tensor &tensor, int64_t first, int64_t step) {
  for (auto [number, value] : llvm::enumerate(tensor.values))
    value = static_cast<double>(first + step * static_cast<int64_t>(number));
}

struct Positions {
  int64_t first = 0, step = 1;
};

/// Both directions, in both types, in three orders of threads, are what the interpreter says.
void check(const Shape &shape, std::optional<Positions> queries = Positions(),
           std::optional<Positions> keys = Positions(), bool isAligned = true) {
  for (const char *type : kTypes)
    for (bool isBackward : {false, true}) {
      SCOPED_TRACE(std::string(type) + (isBackward ? " backward" : " forward"));
      AttentionText text(shape, type);
      KernelOfText kernel(isBackward ? text.backward() : text.forward(), isAligned);
      int64_t joined = shape.isJoint ? 1 : 3, qPositions = isBackward ? joined + 3 : joined;
      if (queries)
        setPositions(kernel->ins[qPositions], queries->first, queries->step);
      if (keys)
        setPositions(kernel->ins[qPositions + 1], keys->first, keys->step);
      if (shape.dropout > 0)
        kernel->ins.back().values = {1, 2, 3, 4, 5}; // offsets
      EXPECT_EQ(kernel->getPlan(), isBackward ? "attention-queries" : "attention-forward");
      kernel->check();
    }
}

TEST(AttentionKernelTest, HeadsOfAnySize) {
  for (int64_t headDim : {8, 16, 20, 64, 128}) {
    SCOPED_TRACE(headDim);
    check({1, 17, 17, 1, 1, headDim});
  }
}

/// Blocks of several warps, several blocks, several tiles, and what is left of each.
TEST(AttentionKernelTest, OddLengths) {
  check({1, 1, 1, 1, 1, 8});
  check({2, 65, 130, 1, 1, 8, ""});
  check({1, 130, 67, 1, 1, 8}, Positions{-50, 1}, Positions{3, 2});
}

TEST(AttentionKernelTest, QueriesShareKeys) {
  check({2, 19, 19, 2, 3, 8});
  check({1, 33, 70, 1, 4, 16, ""});
}

/// Some tiles are not seen at all, some as a whole, some in part; a row may see nothing.
TEST(AttentionKernelTest, Windows) {
  check({1, 80, 150, 1, 1, 8, "causal, window = 5"}, Positions{40, 1});
  check({1, 40, 40, 1, 2, 8, "window = 3"}, Positions{10, 3});
  check({1, 20, 20, 1, 1, 8, "causal, window = 9223372036854775807"});
}

/// No diagonal: any positions, those of a striped sequence, and keys that are all behind the queries.
TEST(AttentionKernelTest, AnyPositions) {
  check({1, 70, 75, 1, 2, 8}, std::nullopt, std::nullopt);
  check({1, 40, 40, 1, 1, 8, "causal, window = 7"}, std::nullopt, std::nullopt);
  check({1, 35, 70, 1, 1, 8}, Positions{1, 4}, Positions{0, 2});
  check({1, 20, 20, 1, 1, 8}, Positions{0, 1}, Positions{100, 1});
}

/// The masks of the interpreter, which depend on neither tiles nor heads' numbers in a block.
TEST(AttentionKernelTest, Dropout) {
  check({2, 21, 21, 2, 2, 8, "causal", 0.3});
  check({1, 70, 70, 1, 2, 8, "causal, window = 40", 0.5});
}

TEST(AttentionKernelTest, RowsOfJointTensors) {
  check({2, 20, 20, 1, 2, 8, "causal", 0, /*isJoint=*/true});
  check({1, 40, 40, 2, 1, 20, "causal", 0.2, /*isJoint=*/true});
}

/// Buffers that begin anywhere are moved element by element.
TEST(AttentionKernelTest, BuffersThatBeginAnywhere) {
  check({1, 20, 20, 1, 2, 16}, Positions(), Positions(), /*isAligned=*/false);
}

/// Rows of heads of 16 bytes and more are moved in accesses of 16 bytes; nothing is read that no query sees.
TEST(AttentionKernelTest, WholeAccesses) {
  for (const char *type : kTypes) {
    KernelOfText kernel(AttentionText({1, 128, 128, 1, 1, 16}, type).forward());
    setPositions(kernel->ins[3], 0, 1);
    setPositions(kernel->ins[4], 0, 1);
    kernel->check();
    uint64_t tile = 64 * 16 * (std::string(type) == "f32" ? 4 : 2);
    using Moved = std::map<uint32_t, uint64_t>;
    EXPECT_EQ(kernel->getMoved(0, 0), (Moved{{16, 2 * tile}})); // queries
    EXPECT_EQ(kernel->getMoved(0, 1), (Moved{{16, 3 * tile}})); // keys: one tile of the first block, two
    EXPECT_EQ(kernel->getMoved(0, 2), (Moved{{16, 3 * tile}})); // values
    EXPECT_EQ(kernel->getMoved(0, 5), (Moved{{16, 2 * tile}})); // out
  }
}
} // namespace
