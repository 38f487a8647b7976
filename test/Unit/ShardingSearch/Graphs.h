//===- Graphs.h - graphs whose parameters are to be split -------------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_SHARDINGSEARCH_GRAPHS_H
#define PAR_TEST_UNIT_SHARDINGSEARCH_GRAPHS_H

#include "mlir/Parser/Parser.h"
#include "par/Register/Register.h"
#include "par/ShardingSearch/SearchShardings.h"
#include "par/Support/OneThread.h"
#include <map>
#include <string>

namespace mlir::par::test {

class TestContext : public OneThreadContext {
public:
  TestContext() {
    DialectRegistry registry;
    registerDialects(registry);
    appendDialectRegistry(registry);
    static bool registered = (registerPasses(), true);
    (void)registered;
  }
};

inline std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// `L` stands for [4, 8], batch and sequence.
constexpr const char *kOddFunction = R"(
func.func @forward(%tokens: tensor<Lxi32> {par.place = #par.place<input tokens>},
                   %targets: tensor<Lxi32> {par.place = #par.place<input targets>}ARGUMENTS)
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %tokens, %table : (tensor<Lxi32>, tensor<18x8xf32>) -> tensor<Lx8xf32>
  %b = BOUNDED
  %a = par.einsum "bse,me->bsm"(%b, %gate) : (tensor<Lx8xf32>, tensor<20x8xf32>) -> tensor<Lx20xf32>
  %s = math.tanh %a : tensor<Lx20xf32>
  %u = par.einsum "bse,me->bsm"(%b, %up) : (tensor<Lx8xf32>, tensor<20x8xf32>) -> tensor<Lx20xf32>
  %g = arith.mulf %s, %u : tensor<Lx20xf32>
  %d = par.einsum "bsm,em->bse"(%g, %down) : (tensor<Lx20xf32>, tensor<8x20xf32>) -> tensor<Lx8xf32>
  %r = arith.addf %x, %d : tensor<Lx8xf32>
  %z = par.einsum "bse,fe->bsf"(%r, %square) : (tensor<Lx8xf32>, tensor<8x8xf32>) -> tensor<Lx8xf32>
  %z1 = math.tanh %z : tensor<Lx8xf32>
  %z2 = par.einsum "bsf,fe->bse"(%z1, %square) : (tensor<Lx8xf32>, tensor<8x8xf32>) -> tensor<Lx8xf32>
  %logits = par.einsum "bse,ve->bsv"(%z2, %table) : (tensor<Lx8xf32>, tensor<18x8xf32>) -> tensor<Lx18xf32>
  %losses, %lse = par.cross_entropy %logits, %targets {classes = 18 : i64}
      : (tensor<Lx18xf32>, tensor<Lxi32>) -> (tensor<Lxf32>, tensor<Lxf32>)
  %loss = par.reduce sum %losses dims [0, 1] : tensor<Lxf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
)";

/// No transformer: a gated layer whose sizes differ by what divides them, a square weight that is used twice,
/// once transposed, a table that is also the head, and a residual around the gated layer. `annotations`: by
/// name, what follows the role of a parameter. `isBounded`: the gated layer reads the residual's tanh, which
/// nothing else reads.
inline std::string writeOddGraph(int64_t ranks, const std::map<std::string, std::string> &annotations = {},
                                 bool isBounded = false) {
  const std::pair<std::string, std::string> parameters[] = {{"table", "18x8xf32"},
                                                            {"gate", "20x8xf32"},
                                                            {"up", "20x8xf32"},
                                                            {"down", "8x20xf32"},
                                                            {"square", "8x8xf32"}};
  std::string variables, arguments;
  for (auto &[name, type] : parameters) {
    auto found = annotations.find(name);
    variables += "par.variable @" + name + " : tensor<" + type +
                 "> dims [\"\", \"\"] {role = #par.role<parameter>" +
                 (found == annotations.end() ? "" : found->second) + "}\n";
    arguments += ", %" + name + ": tensor<" + type + "> {par.place = #par.place<variable @" + name + ">}";
  }
  std::string function = replaceAll(kOddFunction, "ARGUMENTS", arguments);
  function = isBounded ? replaceAll(function, "BOUNDED", "math.tanh %x : tensor<Lx8xf32>")
                       : replaceAll(replaceAll(function, "  %b = BOUNDED\n", ""), "%b", "%x");
  return "module attributes {par.model = {vocab = 18 : i64}} {\npar.mesh @mesh <[\"tp\"=" +
         std::to_string(ranks) + "]>\n" + variables + replaceAll(function, "<Lx", "<4x8x");
}

/// By the names of parameters.
inline std::map<std::string, Layout> getLayouts(const ShardingProblem &problem, const FoundShardings &found) {
  std::map<std::string, Layout> layouts;
  for (auto [group, layout] : llvm::zip(problem.groups, found.layouts))
    for (VariableOp variable : group.parameters)
      layouts[variable.getSymName().str()] = layout;
  return layouts;
}

} // namespace mlir::par::test

#endif // PAR_TEST_UNIT_SHARDINGSEARCH_GRAPHS_H
