//===- GraphWriter.cpp - writes graphs for tests as text ------------------------------------------------===//
#include "GraphWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::par::test;

static std::string join(ArrayRef<int64_t> values, StringRef separator) {
  std::string text;
  for (auto [number, value] : llvm::enumerate(values))
    text += (number ? separator.str() : "") + std::to_string(value);
  return text;
}

std::string mlir::par::test::typeOf(ArrayRef<int64_t> shape, const std::string &element) {
  return "tensor<" + join(shape, "x") + (shape.empty() ? "" : "x") + element + ">";
}

std::string mlir::par::test::listOf(ArrayRef<int64_t> values) { return "[" + join(values, ", ") + "]"; }

Node GraphWriter::variable(ArrayRef<int64_t> shape, const std::string &sharding) {
  std::string name = "v" + std::to_string(count++), dims;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    dims += (dim ? ", \"d" : "\"d") + std::to_string(dim) + "\"";
  variables += "par.variable @" + name + " : " + type(shape) + " dims [" + dims +
               "] {role = #par.role<parameter>, file = #par.file<\"" + name +
               "\">, init = #par.init<normal, " + deviation + ">" +
               (sharding.empty() ? "" : ", compute = #par.sharding<" + sharding + ">") + "}\n";
  arguments += (arguments.empty() ? "%" : ", %") + name + ": " + type(shape) +
               " {par.place = #par.place<variable @" + name + ">}";
  return {"%" + name, Shape(shape)};
}

Node GraphWriter::input(const std::string &name, int64_t batch, int64_t seq, const std::string &sharding) {
  arguments += (arguments.empty() ? "%" : ", %") + name + ": " + typeOf({batch, seq}, "i32") +
               " {par.place = #par.place<input " + name + ">, par.dims = [\"batch\", \"seq\"]" +
               (sharding.empty() ? "" : ", par.sharding = #par.sharding<" + sharding + ">") + "}";
  return {"%" + name, {batch, seq}};
}

Node GraphWriter::op(const std::string &text, ArrayRef<int64_t> shape) { return ops(text, 1, shape); }

Node GraphWriter::ops(const std::string &text, unsigned results, ArrayRef<int64_t> shape) {
  std::string name = next();
  body += "  " + name + (results > 1 ? ":" + std::to_string(results) : "") + " = " + text + "\n";
  return {results > 1 ? name + "#0" : name, Shape(shape)};
}

Node GraphWriter::pointwise(const std::string &name, ArrayRef<Node> operands) {
  std::string text = name;
  for (auto [number, operand] : llvm::enumerate(operands))
    text += (number ? ", " : " ") + operand.name;
  return op(text + " : " + type(operands[0].shape), operands[0].shape);
}

Node GraphWriter::constant(const std::string &value, ArrayRef<int64_t> shape) {
  return op("arith.constant dense<" + value + "> : " + type(shape), shape);
}

void GraphWriter::addToLoss(const Node &value, const std::string &name) {
  Node weighted = pointwise("arith.mulf", {value, variable(value.shape)});
  if (!value.shape.empty()) {
    Shape dims;
    for (size_t dim = 0; dim < value.shape.size(); ++dim)
      dims.push_back(static_cast<int64_t>(dim));
    weighted = op("par.reduce sum " + weighted.name + " dims " + listOf(dims) + " : " + type(value.shape) +
                      " -> tensor<f32>",
                  {});
  } else if (element != "f32") {
    weighted = op("arith.extf " + weighted.name + " : " + type({}) + " to tensor<f32>", {});
  }
  std::string &loss = losses[name];
  loss = loss.empty() ? weighted.name
                      : op("arith.addf " + loss + ", " + weighted.name + " : tensor<f32>", {}).name;
}

Node GraphWriter::runtimeValue(const std::string &name, ArrayRef<int64_t> shape) {
  if (!runtimeValues.insert(name).second)
    return {"%" + name, Shape(shape)};
  arguments += (arguments.empty() ? "%" : ", %") + name + ": " + typeOf(shape, "i32") +
               " {par.place = #par.place<input " + name + ">}";
  return {"%" + name, Shape(shape)};
}

std::string GraphWriter::finish() const {
  std::string attributes =
      vocabulary ? "attributes {par.model = {vocab = " + std::to_string(vocabulary) + " : i64}} " : "";
  std::string results, values, types;
  for (const auto &[name, value] : losses) {
    std::string comma = values.empty() ? "" : ", ";
    results += comma + "tensor<f32> {par.place = #par.place<output loss" +
               (name.empty() ? "" : " \"" + name + "\", weight = 0.5") + ">}";
    values += comma + value;
    types += comma + "tensor<f32>";
  }
  return "module " + attributes + "{\n" + (mesh.empty() ? "" : "par.mesh @mesh " + mesh + "\n") + variables +
         functions + "func.func @forward(" + arguments + ") -> (" + results +
         ") attributes {par.phase = #par.phase<forward>} {\n" + body + "  return " + values + " : " + types +
         "\n}\n}\n";
}
