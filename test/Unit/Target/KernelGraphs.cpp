//===- KernelGraphs.cpp - subsets of the results of functions that become kernels -------------------===//
#include "KernelGraphs.h"
#include "TensorMemory.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Transforms/Lower/Passes.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

/// Two ranks, so that what asks where its rank is has an answer other than 0.
static const char *const kMesh = "par.mesh @mesh <[\"tp\"=2]>\n";

static std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

static std::string expand(std::string text, StringRef lead, StringRef type) {
  std::string leading = lead.str(), first = lead.split('x').first.str();
  const std::pair<const char *, std::string> words[] = {{"$x", "tensor<$lx69x$t>"},
                                                        {"$X", "tensor<$lx69xf32>"},
                                                        {"$s", "tensor<$lxf32>"},
                                                        {"$i", "tensor<$lxi32>"},
                                                        {"$w", "tensor<69x$t>"},
                                                        {"$W", "tensor<69xf32>"},
                                                        {"$l", leading},
                                                        {"$n", first},
                                                        {"$m", std::to_string(2 * std::stoi(first))},
                                                        {"$t", type.str()}};
  for (auto &[word, meaning] : words)
    text = replaceAll(std::move(text), word, meaning);
  return text;
}

static std::string print(const KernelGraph &graph) {
  auto [values, types] = StringRef(graph.returned).split(" : ");
  return ("func.func @main(" + StringRef(graph.arguments) + ") -> (" + types + ") {\n" + graph.body +
          "\nreturn " + values + " : " + types + "\n}\n")
      .str();
}

KernelGraphs::KernelGraphs(MLIRContext &context, const GraphSizes &sizes) : context(context) {
  wholes = parseSourceString<ModuleOp>(kMesh, &context);
  for (const KernelGraph &graph : getKernelGraphs()) {
    std::string text = print(graph);
    bool hasLead = expand(text, "1", "f32") != expand(text, "1x7", "f32");
    bool hasType = expand(text, "1", "f32") != expand(text, "1", "bf16");
    for (auto &[type, leads] : sizes)
      for (StringRef lead : leads)
        if ((hasLead || !lead.contains('x')) && (hasType || type == "f32"))
          add(graph, lead, type);
  }
  interpreter.emplace(*wholes, getMesh(*wholes));
}

void KernelGraphs::add(const KernelGraph &graph, StringRef lead, StringRef type) {
  std::string text = expand(kMesh + print(graph), lead, type);
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  auto function = *module->getOps<func::FuncOp>().begin();
  function->remove();
  function.setName(graph.name + ("_" + lead + "_" + type).str());
  wholes->push_back(function);
  function.walk([&](Operation *op) { ops.insert(op->getName().getStringRef().str()); });
  unsigned results = function.getNumResults();
  for (unsigned mask = 1; mask < 1U << results; ++mask) {
    ResultSubset subset{function.getName().str() + "_of", function, {}};
    for (unsigned result = 0; result < results; ++result)
      if (mask >> result & 1U) {
        subset.wanted.push_back(static_cast<int>(result));
        subset.name += "_" + std::to_string(result);
      }
    subsets.push_back(std::move(subset));
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Tensors KernelGraphs::drawArguments(func::FuncOp whole, std::mt19937 &random) {
  Tensors arguments;
  for (BlockArgument argument : whole.getArguments()) {
    arguments.push_back(drawTensor(cast<RankedTensorType>(argument.getType()), random));
    if (whole.getArgAttr(argument.getArgNumber(), "test.positive"))
      for (double &value : arguments.back().values)
        value = std::abs(value);
  }
  return arguments;
}

Tensors KernelGraphs::interpret(func::FuncOp whole, const Tensors &arguments) {
  FailureOr<std::vector<Tensors>> results =
      interpreter->run(whole, std::vector<Tensors>(interpreter->getNumRanks(), arguments));
  EXPECT_TRUE(succeeded(results));
  return succeeded(results) ? results->back() : Tensors();
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// A copy that returns the wanted results alone.
static func::FuncOp select(ResultSubset subset) {
  func::FuncOp function = subset.whole.clone();
  function.setName(subset.name);
  function.setPrivate();
  llvm::BitVector erased(function.getNumResults(), true);
  for (int result : subset.wanted)
    erased.reset(result);
  function.front().getTerminator()->eraseOperands(erased);
  function.eraseResults(erased);
  return function;
}

/// A module without functions but those of a step that does nothing.
static std::string printStep(TargetKind target) {
  std::string text =
      "module attributes {par.plan = #par.plan<target = \"" + getName(target).str() + "\">} {\n";
  text += kMesh;
  for (const char *phase : {"forward", "backward", "reduce", "update"})
    text += std::string("func.func @") + phase + "() attributes {par.phase = #par.phase<" + phase +
            ", chunk = 0>} { return }\n";
  return text + "}";
}

/// The step calls it with a constant for each argument.
static void call(func::FuncOp step, func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&step.front());
  SmallVector<Value> arguments;
  for (Type type : function.getArgumentTypes()) {
    Attribute zero = builder.getZeroAttr(type);
    arguments.push_back(builder.create<arith::ConstantOp>(step.getLoc(), cast<TypedAttr>(zero)));
  }
  builder.create<CallOp>(step.getLoc(), function.getResultTypes(), function.getName(), arguments);
}

OwningOpRef<ModuleOp> KernelGraphs::lower(TargetKind target) {
  auto module = parseSourceString<ModuleOp>(printStep(target), &context);
  if (!module)
    return nullptr;
  auto step = module->lookupSymbol<func::FuncOp>("forward");
  for (const ResultSubset &subset : subsets) {
    func::FuncOp function = select(subset);
    module->push_back(function);
    call(step, function);
  }
  PassManager manager(&context);
  manager.addNestedPass<func::FuncOp>(createWidenSums());
  manager.addNestedPass<func::FuncOp>(createFormEpilogues());
  manager.addNestedPass<func::FuncOp>(createFormKernels());
  manager.addNestedPass<func::FuncOp>(createJoinProducts());
  manager.addPass(createToRank());
  manager.addPass(createPlanMemory());
  manager.addPass(createVerifyProgram());
  return succeeded(manager.run(*module)) ? std::move(module) : nullptr;
}
