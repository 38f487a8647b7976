//===- AttentionText.cpp - a program that is one attention, from its shape ----------------------===//
#include "AttentionText.h"

using namespace mlir;
using namespace mlir::par;

KernelText AttentionText::forward() {
  std::string operands = addQueriesKeysValues();
  std::string rows = addTables(/*isForward=*/true);
  std::string out = ofOutputs(), lse = getLse();
  text.body += "%out, %lse = par.attention " + operands + " positions " + rows + attributes() + " : (" +
               types + ") -> (" + out + ", " + lse + ")\nrank.yield %out, %lse : " + out + ", " + lse;
  text.outs = {out, lse};
  return finish("");
}

KernelText AttentionText::backward() {
  std::string dout = add(ofOutputs());
  std::string operands = addQueriesKeysValues();
  std::string out = add(ofOutputs()), lse = add(getLse());
  std::string rows = addTables(/*isForward=*/false);
  std::string results = ofQueries() + ", " + ofKeys() + ", " + ofValues();
  text.body += "%dq, %dk, %dv = par.attention_backward " + dout + ", " + operands + ", " + out + ", " + lse +
               " positions " + rows + attributes() + " : (" + types + ") -> (" + results + ")\n";
  if (s.isJoint) {
    joinGradients();
  } else {
    text.body += "rank.yield %dq, %dk, %dv : " + results;
    text.outs = {ofQueries(), ofKeys(), ofValues()};
  }
  return finish(getRows("d", 0));
}

/// An input, and an operand of the op.
std::string AttentionText::add(const std::string &of) {
  std::string name = addInput(of);
  addType(of);
  return name;
}

std::string AttentionText::addInput(const std::string &of) {
  text.ins.push_back(of);
  return std::string("%") + static_cast<char>('a' + text.ins.size() - 1);
}

std::string AttentionText::addQueriesKeysValues() {
  first = static_cast<int64_t>(text.ins.size());
  if (!s.isJoint) {
    std::string q = add(ofQueries()), k = add(ofKeys()), v = add(ofValues());
    return q + ", " + k + ", " + v;
  }
  std::string joint = addInput(shape({s.batch, s.qRows, jointWidth()}, type));
  int64_t offset = 0;
  for (const Part &of : getParts()) {
    std::string part = shape({s.batch, s.qRows, of.width}, type);
    std::string name = "%part_" + of.name; // inputs have names of one letter
    text.body += name + "_ = par.slice " + joint + " from [0, 0, " + std::to_string(offset) +
                 "] : " + shape({s.batch, s.qRows, jointWidth()}, type) + " -> " + part + "\n" + name +
                 " = par.reshape " + name + "_ : " + part + " -> " + of.type + "\n";
    offset += of.width;
    addType(of.type);
  }
  return "%part_q, %part_k, %part_v";
}

std::string AttentionText::addTables(bool isForward) {
  tables = static_cast<int64_t>(text.ins.size());
  std::string operands = add(getTable(s.qRows));
  operands += ", " + add(getTable(s.kRows));
  if (s.documents) {
    operands += " documents " + add(getTable(s.qRows));
    operands += ", " + add(getTable(s.kRows));
  }
  if (isForward && !s.sinks.empty())
    operands += " sinks " + add(shape({s.kvHeads, s.group}, s.sinks));
  if (s.dropout == 0)
    return operands;
  operands += " dropout " + add("tensor<2xi32>");
  operands += " site " + add("tensor<i32>");
  operands += " row " + add("tensor<i32>");
  return operands + " offsets " + add("tensor<5xi32>");
}

std::string AttentionText::attributes() const {
  std::string all = " {" + s.mask + (s.mask.empty() ? "" : ", ") + "scale = " + s.scale;
  if (s.cap > 0)
    all += ", cap = " + std::to_string(s.cap);
  if (s.dropout > 0)
    all += ", dropout = " + std::to_string(s.dropout) + ", strides = array<i64: 0, 4099, 513, 77, 1>";
  return all + "}";
}

void AttentionText::joinGradients() {
  std::string joint = shape({s.batch, s.qRows, jointWidth()}, type), parts;
  for (const Part &of : getParts()) {
    std::string part = shape({s.batch, s.qRows, of.width}, type);
    text.body += "%d" + of.name + "_ = par.reshape %d" + of.name + " : " + of.type + " -> " + part + "\n";
    parts += (parts.empty() ? "" : ", ") + part;
  }
  text.body += "%all = par.concat %dq_, %dk_, %dv_ dim 2 : (" + parts + ") -> " + joint +
               "\nrank.yield %all : " + joint;
  text.outs = {joint};
}

std::string AttentionText::getRows(const std::string &prefix, int64_t buffer) const {
  std::string all;
  int64_t offset = 0;
  for (const Part &of : getParts()) {
    int64_t stride = s.isJoint ? jointWidth() : of.width;
    all += ", " + prefix + of.name + " = <buffer = " + std::to_string(buffer) +
           ", offset = " + std::to_string(offset) + ", stride = " + std::to_string(stride) + ">";
    buffer += s.isJoint ? 0 : 1;
    offset += s.isJoint ? of.width : 0;
  }
  return all;
}

KernelText AttentionText::finish(const std::string &gradientRows) {
  text.op = "rank.attention";
  text.attributes = "attributes {structure = #rank.attention<type = " + type;
  std::pair<const char *, int64_t> sizes[] = {
      {"batch", s.batch}, {"q_rows", s.qRows},     {"k_rows", s.kRows},          {"kv_heads", s.kvHeads},
      {"group", s.group}, {"head_dim", s.headDim}, {"value_dim", s.countValue()}};
  for (auto [name, size] : sizes)
    text.attributes += std::string(", ") + name + " = " + std::to_string(size);
  text.attributes += getRows("", first) + gradientRows + ">}";
  return text;
}
