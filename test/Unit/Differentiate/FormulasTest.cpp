//===- FormulasTest.cpp - saved activations against the counts of Korthikanti et al. --------------------===//
// docs/Formulas.md says where each term comes from. s tokens, b sequences, h embedding, a heads, t
// tensor-parallel ranks; bf16, so two bytes an element.
#include "lib/Transforms/Differentiate/Differentiator.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "par/Register/Register.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

constexpr int64_t s = 32, b = 2, h = 48, a = 4, d = h / a;

/// Statistics of two layer norms, a mean and a deviation per row in f32, which the paper leaves out as small.
constexpr int64_t kStatistics = 2 * 2 * 4 * s * b;
/// Of one value of the residual stream's size, and of one matrix of attention probabilities.
constexpr int64_t kStream = 2 * s * b * h, kProbabilities = 2 * a * s * s * b;

std::string tensor(std::initializer_list<int64_t> shape, StringRef element = "bf16") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element.str() + ">";
}

/// GPT-2's block with attention unfused and ReLU, whose derivative needs its input as GeLU's does but which
/// is one op.
std::string writeBlock() {
  std::string x = tensor({b, s, h}), heads = tensor({b, s, a, d}), scores = tensor({b, a, s, s}),
              mlp = tensor({b, s, 4 * h});
  std::string stats = tensor({b, s}, "f32"), w = tensor({a, d, h}), wo = tensor({h, a, d}),
              norm = tensor({h});
  std::string up = tensor({4 * h, h}), down = tensor({h, 4 * h});
  std::string text = "func.func private @block(%x: " + x + ", %n0w: " + norm + ", %n0b: " + norm +
                     ", %wq: " + w + ", %wk: " + w + ", %wv: " + w + ", %wo: " + wo + ", %n1w: " + norm +
                     ", %n1b: " + norm + ", %up: " + up + ", %down: " + down + ", %key: tensor<2xi32>) -> " +
                     x + " {\n";
  auto line = [&](const std::string &op) { text += "  " + op + "\n"; };
  auto normalise = [&](StringRef name, StringRef value, StringRef number) {
    line(llvm::formatv("%{0}, %m{2}, %r{2} = par.layer_norm %{1}, %n{2}w, %n{2}b {{eps = 1.0e-5 : f64} : "
                       "({3}, {4}, {4}) -> ({3}, {5}, {5})",
                       name, value, number, x, norm, stats));
  };
  auto drop = [&](StringRef name, StringRef value, StringRef type, StringRef strides, int rank, int site) {
    line(llvm::formatv("%site{0} = arith.constant dense<{0}> : tensor<i32>", site));
    line(llvm::formatv("%off{0} = arith.constant dense<0> : tensor<{1}xi32>", site, rank));
    line(llvm::formatv("%{0} = par.dropout %{1} key %key site %site{2} row %row offsets %off{2} {{p = 1.0e-1 "
                       ": f64, strides = array<i64: {3}>} "
                       ": ({4}, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<{5}xi32>) -> {4}",
                       name, value, site, strides, type, rank));
  };
  line("%row = arith.constant dense<0> : tensor<i32>");
  normalise("h0", "x", "0");
  for (StringRef part : {"q", "k", "v"})
    line(llvm::formatv("%{0} = par.einsum \"bse,hde->bshd\"(%h0, %w{0}) : ({1}, {2}) -> {3}", part, x, w,
                       heads));
  line(llvm::formatv("%raw = par.einsum \"bshd,buhd->bhsu\"(%q, %k) : ({0}, {0}) -> {1}", heads, scores));
  line("%scale = arith.constant dense<0.25> : " + scores);
  line("%scaled = arith.mulf %raw, %scale : " + scores);
  line("%p = par.softmax %scaled : " + scores);
  drop("pd", "p", scores, llvm::formatv("0, {0}, {1}, 1", s * s, s).str(), 4, 1);
  line(llvm::formatv("%o = par.einsum \"bhsu,buhd->bshd\"(%pd, %v) : ({0}, {1}) -> {1}", scores, heads));
  line(llvm::formatv("%z = par.einsum \"bshd,ehd->bse\"(%o, %wo) : ({0}, {1}) -> {2}", heads, wo, x));
  drop("zd", "z", x, llvm::formatv("0, {0}, 1", h).str(), 3, 2);
  line("%x1 = arith.addf %x, %zd : " + x);
  normalise("h1", "x1", "1");
  line(llvm::formatv("%u = par.einsum \"bse,me->bsm\"(%h1, %up) : ({0}, {1}) -> {2}", x, up, mlp));
  line("%zero = arith.constant dense<0.0> : " + mlp);
  line("%g = arith.maximumf %u, %zero : " + mlp);
  line(llvm::formatv("%y = par.einsum \"bsm,em->bse\"(%g, %down) : ({0}, {1}) -> {2}", mlp, down, x));
  drop("yd", "y", x, llvm::formatv("0, {0}, 1", h).str(), 3, 3);
  line("%x2 = arith.addf %x1, %yd : " + x);
  line("return %x2 : " + x);
  return text + "}\n";
}

/// A model of `layers` blocks behind an embedding.
std::string writeModel(int layers) {
  struct Parameter {
    const char *name;
    std::string type, dims;
  };
  const Parameter parameters[] = {
      {"n0w", tensor({h}), "\"embed\""},
      {"n0b", tensor({h}), "\"embed\""},
      {"wq", tensor({a, d, h}), "\"heads\", \"head_dim\", \"embed\""},
      {"wk", tensor({a, d, h}), "\"heads\", \"head_dim\", \"embed\""},
      {"wv", tensor({a, d, h}), "\"heads\", \"head_dim\", \"embed\""},
      {"wo", tensor({h, a, d}), "\"embed\", \"heads\", \"head_dim\""},
      {"n1w", tensor({h}), "\"embed\""},
      {"n1b", tensor({h}), "\"embed\""},
      {"up", tensor({4 * h, h}), "\"mlp\", \"embed\""},
      {"down", tensor({h, 4 * h}), "\"embed\", \"mlp\""},
  };
  std::string x = tensor({b, s, h}), table = tensor({64, h}), variables, arguments, calls;
  auto declare = [&](const std::string &name, const std::string &type, const std::string &dims) {
    variables +=
        "par.variable @" + name + " : " + type + " dims [" + dims + "] {role = #par.role<parameter>}\n";
    arguments += ", %" + name + ": " + type + " {par.place = #par.place<variable @" + name + ">}";
  };
  declare("table", table, "\"vocab\", \"embed\"");
  std::string value = "%x";
  for (int layer = 0; layer < layers; ++layer) {
    std::string names = value, types = x, result = "%y" + std::to_string(layer);
    for (const Parameter &parameter : parameters) {
      std::string name = parameter.name + std::to_string(layer);
      declare(name, parameter.type, parameter.dims);
      names += ", %" + name;
      types += ", " + parameter.type;
    }
    calls += "  " + result + " = par.call @block(" + names + ", %key) : (" + types + ", tensor<2xi32>) -> " +
             x + "\n";
    value = result;
  }
  return variables + writeBlock() + "func.func @forward(%ids: " + tensor({b, s}, "i32") +
         " {par.place = #par.place<input tokens>, par.dims = [\"batch\", \"seq\"]}, %key: tensor<2xi32> {"
         "par.place = #par.place<input dropout_key>}" +
         arguments +
         ") -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = "
         "#par.phase<forward>} {\n  %x = par.embedding %ids, %table : (" +
         tensor({b, s}, "i32") + ", " + table + ") -> " + x + "\n" + calls + "  %wide = arith.extf " + value +
         " : " + x + " to " + tensor({b, s, h}, "f32") +
         "\n  %loss = par.reduce sum %wide dims [0, 1, 2] : " + tensor({b, s, h}, "f32") +
         " -> tensor<f32>\n  return %loss : tensor<f32>\n}\n";
}

class FormulasTest : public ::testing::Test {
protected:
  FormulasTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    static bool registered = (registerPasses(), true);
    (void)registered;
  }

  OwningOpRef<ModuleOp> annotate(int layers, int64_t t, bool sequence) {
    auto module = parseSourceString<ModuleOp>(writeModel(layers), &context);
    EXPECT_TRUE(module);
    runPasses(*module, llvm::formatv(
                           "par-annotate-pipeline{{mesh=tp={0} sequence-parallel={1}},par-propagate-pipeline",
                           t, sequence ? "true" : "false"));
    return module;
  }

  void runPasses(ModuleOp module, const std::string &pipeline) {
    PassManager manager(&context);
    FailureOr<OpPassManager> parsed = parsePassPipeline("builtin.module(" + pipeline + ")");
    ASSERT_TRUE(succeeded(parsed)) << pipeline;
    static_cast<OpPassManager &>(manager) = std::move(*parsed);
    ASSERT_TRUE(succeeded(manager.run(module))) << pipeline;
  }

  static int64_t countLocalBytes(RankedTensorType type, ShardingAttr sharding, ModuleOp module) {
    if (sharding)
      type = sharding.getLocalType(type, getMesh(module));
    return type.getNumElements() * type.getElementTypeBitWidth() / 8;
  }

  /// What one rank holds of a micro-batch between forward and backward pass.
  static int64_t countResiduals(ModuleOp module) {
    int64_t bytes = 0;
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    for (unsigned result = 0; result < forward.getNumResults(); ++result) {
      if (!getResultResidual(forward, result))
        continue;
      auto type = cast<RankedTensorType>(forward.getResultTypes()[result]);
      bytes += countLocalBytes(type, getResultSharding(forward, result), module);
    }
    return bytes;
  }

  /// What the ops before the `layer`-th call of `callee` hand to that call and to the ops behind it. What the
  /// function returns stays where it was computed.
  static int64_t countHandedOn(ModuleOp module, StringRef function, StringRef callee, int layer) {
    Block &body = module.lookupSymbol<func::FuncOp>(function).getBody().front();
    SmallVector<Operation *> calls;
    for (CallOp call : body.getOps<CallOp>())
      if (call.getCallee() == callee)
        calls.push_back(call);
    int64_t bytes = 0;
    for (Operation &op : llvm::make_range(body.begin(), calls[size_t(layer)]->getIterator()))
      for (Value value : op.getResults())
        if (llvm::any_of(value.getUsers(), [&](Operation *user) {
              return !user->isBeforeInBlock(calls[size_t(layer)]) && !user->hasTrait<OpTrait::IsTerminator>();
            }))
          bytes += countLocalBytes(cast<RankedTensorType>(value.getType()), getSharding(value), module);
    return bytes;
  }

  /// Of one layer more: what stands around the layers does not count.
  int64_t countLayer(const std::string &policy, int64_t t = 1, bool sequence = false) {
    int64_t bytes[2];
    for (int layers : {2, 3}) {
      OwningOpRef<ModuleOp> module = annotate(layers, t, sequence);
      runPasses(*module, "par-differentiate-pipeline{recompute=" + policy + "}");
      bytes[layers - 2] = countResiduals(*module);
    }
    return bytes[1] - bytes[0];
  }

  /// The same where every value that a backward op reads is held, as a framework without a compiler does it:
  /// nothing at all runs again but what follows from parameters, and what sequence parallelism gathers.
  int64_t countLayerHeld(int64_t t = 1, bool sequence = false) {
    int64_t bytes[2];
    for (int layers : {2, 3}) {
      OwningOpRef<ModuleOp> module = annotate(layers, t, sequence);
      EXPECT_TRUE(succeeded(differentiateModule(*module, false, Float32Type::get(&context), holdWhatIsRead)));
      bytes[layers - 2] = countResiduals(*module);
    }
    return bytes[1] - bytes[0];
  }

  static DenseSet<Value> holdWhatIsRead(JointFunction &joint) {
    DenseSet<Value> saved = joint.calleeResiduals, free = collectFree(joint.getBody(), joint.info.free);
    for (Value value : collectUsedByBackward(joint)) {
      while (auto constrain = value.getDefiningOp<ConstrainOp>()) {
        constrain->setAttr(ParDialect::kRecomputeAttr, UnitAttr::get(constrain.getContext()));
        value = constrain.getInput();
      }
      if (!free.contains(value))
        saved.insert(value);
    }
    return saved;
  }

  MLIRContext context;
};

/// sbh(34 + 5as/h) per layer, of which dropout masks are 2sbh + as²b: those are computed from counters.
constexpr int64_t kMasks = 2 * s * b * h + a * s * s * b;
constexpr int64_t kPaper = 34 * s * b * h + 5 * a * s * s * b;

TEST_F(FormulasTest, everyValueThatBackwardReads) {
  EXPECT_EQ(countLayerHeld(), kPaper - kMasks + kStatistics);
}

/// sbh(10 + 24/t + 5as/(ht)): eight of the ten are values, two are masks.
TEST_F(FormulasTest, tensorParallel) {
  for (int64_t t : {2, 4}) {
    int64_t paper = 10 * s * b * h + 24 * s * b * h / t + 5 * a * s * s * b / t;
    int64_t masks = 2 * s * b * h + a * s * s * b / t;
    EXPECT_EQ(countLayerHeld(t), paper - masks + kStatistics) << t;
  }
}

/// sbh/t (34 + 5as/h): everything is divided.
TEST_F(FormulasTest, sequenceParallel) {
  for (int64_t t : {2, 4})
    EXPECT_EQ(countLayerHeld(t, true), (kPaper - kMasks + kStatistics) / t) << t;
}

/// `none` holds less than the paper: the second product's operand (8sbh) follows from the first one's result,
/// and what dropout left of the probabilities (2as²b) from the probabilities.
constexpr int64_t kCheap = 4 * kStream + kProbabilities;

TEST_F(FormulasTest, none) {
  EXPECT_EQ(countLayer("none"), kPaper - kMasks - kCheap + kStatistics);
  for (int64_t t : {2, 4}) {
    int64_t paper = 10 * s * b * h + 24 * s * b * h / t + 5 * a * s * s * b / t;
    int64_t masks = 2 * s * b * h + a * s * s * b / t;
    EXPECT_EQ(countLayer("none", t), paper - masks - kCheap / t + kStatistics) << t;
    EXPECT_EQ(countLayer("none", t, true), (kPaper - kMasks - kCheap + kStatistics) / t) << t;
  }
}

/// 34sbh/t: nothing of size as²b is left. Norms (two results, 4sbh, and their statistics) and attention's
/// result (2sbh) run again too.
TEST_F(FormulasTest, selective) {
  constexpr int64_t paper = 34 * s * b * h, masks = 2 * s * b * h;
  constexpr int64_t expected = paper - masks - 4 * kStream - 2 * kStream - kStream;
  EXPECT_EQ(countLayer("selective"), expected);
  for (int64_t t : {2, 4})
    EXPECT_EQ(countLayer("selective", t, true), expected / t) << t;
}

/// What a pipeline would send across a cut between two layers: bsh forward, its gradient backward.
TEST_F(FormulasTest, betweenLayers) {
  for (const char *policy : {"none", "selective", "full"})
    for (auto [t, sequence] : {std::pair<int64_t, bool>{1, false}, {2, false}, {2, true}, {4, true}}) {
      OwningOpRef<ModuleOp> module = annotate(3, t, sequence);
      runPasses(*module, llvm::formatv("par-differentiate-pipeline{{recompute={0}}", policy));
      for (int layer : {1, 2}) {
        int64_t expected = kStream / (sequence ? t : 1);
        EXPECT_EQ(countHandedOn(*module, "forward", "block.forward", layer), expected)
            << policy << t << sequence;
        EXPECT_EQ(countHandedOn(*module, "backward", "block.backward", layer), expected)
            << policy << t << sequence;
      }
    }
}

/// 2sbh, and with sequence parallelism a part of it.
TEST_F(FormulasTest, full) {
  EXPECT_EQ(countLayer("full"), 2 * s * b * h);
  EXPECT_EQ(countLayer("full", 4), 2 * s * b * h);
  for (int64_t t : {2, 4})
    EXPECT_EQ(countLayer("full", t, true), 2 * s * b * h / t) << t;
}

} // namespace
