//===- VerifyProgramTest.cpp - what computes something else is refused ----------------------------------===//
#include "mlir/IR/Verifier.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Import/Import.h"
#include "par/Interpreter/RankInterpreter.h"
#include "par/Pipelines/Pipelines.h"
#include "par/Register/Register.h"
#include "par/Target/Target.h"
#include "par/Transforms/Differentiate/Passes.h"
#include "par/Transforms/Lower/Passes.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::par;

namespace {
struct Compilation {
  const char *model, *mesh;
  int64_t zero = 0, microBatches = 1;
  bool overlap = false, offload = false, onHost = false;
  int64_t largestValue = int64_t(32) << 20;
};

/// What one step leaves: the loss, the norm and all variables; nothing where the program cannot be run.
using Outcome = std::optional<std::map<std::string, std::vector<double>>>;

enum class Kind { Offset, Order, Wait, Space, Alias };
constexpr unsigned kKinds = 5;

class VerifyProgramTest : public testing::Test {
protected:
  VerifyProgramTest() : context(makeRegistry()), silence(&context, [](Diagnostic &) { return success(); }) {
    context.loadAllAvailableDialects();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  OwningOpRef<ModuleOp> compile(const Compilation &plan) {
    ImportOptions import;
    import.model = std::string(PAR_TEST_DIR "/Tools/par-import/Inputs/") + plan.model + ".json";
    import.batch = 2;
    import.seq = 4;
    import.logits = false;
    OwningOpRef<ModuleOp> module = importModel(context, import);
    PassManager manager(&context);
    AnnotatePipelineOptions annotate;
    annotate.mesh = plan.mesh;
    annotate.zero = plan.zero;
    buildAnnotatePipeline(manager, annotate);
    buildPropagatePipeline(manager);
    buildDifferentiatePipeline(manager, DifferentiatePipelineOptions());
    buildPropagatePipeline(manager);
    PartitionPipelineOptions partition;
    partition.largestValue = plan.largestValue;
    buildPartitionPipeline(manager, partition);
    OverlapPipelineOptions overlap;
    overlap.microBatches = plan.microBatches;
    if (plan.overlap)
      buildOverlapPipeline(manager, overlap);
    LowerPipelineOptions lower;
    lower.microBatches = plan.microBatches;
    lower.offload = plan.offload;
    lower.updateOnHost = plan.onHost;
    lower.overlapOffload = plan.offload && plan.overlap;
    lower.largestValue = plan.largestValue;
    lower.leastRows = 1;
    buildLowerPipeline(manager, lower);
    return module && succeeded(manager.run(*module)) ? std::move(module) : nullptr;
  }

  Outcome run(ModuleOp module, int64_t microBatches) {
    std::unique_ptr<RankInterpreter> program = RankInterpreter::create(module);
    if (!program)
      return std::nullopt;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> real(-0.5, 0.5);
    for (auto variable : module.getOps<VariableOp>()) {
      Tensor value(variable.getTensorType());
      for (double &element : value.values)
        element = variable.getRole() == Role::Moment ? std::abs(real(random)) : real(random);
      program->setVariable(variable.getSymName(), value);
    }
    TrainStep step;
    auto type = RankedTensorType::get({2, 4}, IntegerType::get(&context, 32));
    for (int64_t microBatch = 0; microBatch < microBatches; ++microBatch) {
      for (auto *list : {&step.tokens, &step.targets}) {
        list->emplace_back(type);
        for (double &element : list->back().values)
          element = static_cast<double>(random() % 11);
      }
    }
    FailureOr<TrainResult> result = program->step(step);
    if (failed(result))
      return std::nullopt;
    std::map<std::string, std::vector<double>> outcome{
        {" loss", {result->loss, result->gradNorm.value_or(0)}}};
    for (auto variable : module.getOps<VariableOp>())
      if (std::optional<Tensor> value = program->getVariable(variable.getSymName()))
        outcome[variable.getSymName().str()] = value->values;
      else if (variable.getRole() == Role::Parameter)
        return std::nullopt;
    return outcome;
  }

  bool isAccepted(ModuleOp module) {
    PassManager manager(&context);
    manager.addPass(createVerifyProgram());
    return succeeded(verify(module)) && succeeded(manager.run(module));
  }

  MLIRContext context;
  ScopedDiagnosticHandler silence;
};

/// Plants one fault; false where the place that chance chose has none of the kind.
class Mutator {
public:
  Mutator(ModuleOp module, std::mt19937 &random) : module(module), random(random) {}

  bool mutate(Kind kind) {
    switch (kind) {
    case Kind::Offset:
      return moveBuffer();
    case Kind::Order:
      return moveOp(pick([](Operation *op) {
        return isa<rank::AccessOpInterface, rank::AllocOp>(op) && !isa<rank::StartOp>(op);
      }));
    case Kind::Wait:
      return moveWait(pick([](Operation *op) { return isa<rank::WaitOp>(op); }));
    case Kind::Space:
      return moveToOtherMemory(pick([](Operation *op) { return isa<rank::AllocOp, rank::SlotOp>(op); }));
    case Kind::Alias:
      return exchangeOperand(pick([](Operation *op) { return isa<rank::AccessOpInterface>(op); }));
    }
    return false;
  }

private:
  Operation *pick(llvm::function_ref<bool(Operation *)> fits) {
    SmallVector<Operation *> found;
    module.walk([&](Operation *op) {
      if (fits(op))
        found.push_back(op);
    });
    return found.empty() ? nullptr : found[random() % found.size()];
  }

  /// To the place of another buffer, or by a few steps of the alignment.
  bool moveBuffer() {
    auto isBuffer = [](Operation *op) { return op->getAttrOfType<IntegerAttr>("offset") != nullptr; };
    Operation *op = pick(isBuffer), *other = pick(isBuffer);
    int64_t offset = op->getAttrOfType<IntegerAttr>("offset").getInt(),
            target = random() % 2 ? other->getAttrOfType<IntegerAttr>("offset").getInt()
                                  : offset + (static_cast<int64_t>(random() % 9) - 4) *
                                                 getTarget(op)->limits.alignment;
    op->setAttr("offset", Builder(op).getI64IntegerAttr(target));
    return target != offset && target >= 0;
  }

  /// Within its block, behind what it uses and before what uses it.
  bool moveOp(Operation *op) {
    SmallVector<Operation *> places;
    Operation *earliest = nullptr, *latest = op->getBlock()->getTerminator();
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && (!earliest || earliest->isBeforeInBlock(maker)))
        earliest = maker;
    for (Operation *user : op->getUsers())
      latest = user->isBeforeInBlock(latest) ? user : latest;
    for (Operation &place : *op->getBlock())
      if ((!earliest || earliest->isBeforeInBlock(&place)) && !latest->isBeforeInBlock(&place) &&
          &place != op && &place != op->getNextNode())
        places.push_back(&place);
    if (places.empty())
      return false;
    op->moveBefore(places[random() % places.size()]);
    return true;
  }

  bool moveWait(Operation *op) {
    if (!op || random() % 4)
      return op && moveOp(op);
    op->erase();
    return true;
  }

  bool moveToOtherMemory(Operation *op) {
    Value buffer = op->getResult(0);
    auto type = cast<rank::BufferType>(buffer.getType());
    buffer.setType(rank::BufferType::get(type.getContext(), type.getBytes(),
                                         type.getSpace() == rank::Space::Device ? rank::Space::Pinned
                                                                                : rank::Space::Device));
    return true;
  }

  /// Another buffer of the type that is known there.
  bool exchangeOperand(Operation *op) {
    if (!op->getNumOperands())
      return false;
    OpOperand &operand = op->getOpOperand(random() % op->getNumOperands());
    SmallVector<Value> others;
    auto add = [&](Value value) {
      if (value != operand.get() && value.getType() == operand.get().getType())
        others.push_back(value);
    };
    for (Value argument : op->getBlock()->getArguments())
      add(argument);
    for (Operation &before : llvm::make_range(op->getBlock()->begin(), op->getIterator()))
      for (Value result : before.getResults())
        add(result);
    if (others.empty())
      return false;
    operand.set(others[random() % others.size()]);
    return true;
  }

  ModuleOp module;
  std::mt19937 &random;
};

struct Counts {
  int planted = 0, refused = 0, differing = 0, refusedEqual = 0;
};
} // namespace

// 1,000 programs of which one thing was changed, never what an op computes: each that leaves something else
// behind, or cannot be run, is refused; the programs themselves are not.
TEST_F(VerifyProgramTest, RandomMutations) {
  const Compilation plans[] = {{"llama", "dp=2", 3, 2, true},
                               {"gpt2-dropout", "dp=1,tp=2", 0, 2},
                               {"llama", "dp=2", 1, 1, true, true},
                               {"gpt2-dropout", "dp=1", 0, 1, false, true, true},
                               {"llama", "dp=1", 0, 1, false, false, false, 128}};
  std::mt19937 random(20240917);
  Counts counts[kKinds];
  for (const Compilation &plan : plans) {
    OwningOpRef<ModuleOp> module = compile(plan);
    ASSERT_TRUE(module);
    ASSERT_TRUE(isAccepted(*module));
    Outcome expected = run(*module, plan.microBatches);
    ASSERT_TRUE(expected);
    for (int planted = 0; planted < 200;) {
      auto kind = static_cast<Kind>(random() % kKinds);
      OwningOpRef<ModuleOp> mutant = module->clone();
      if (!Mutator(*mutant, random).mutate(kind)) {
        continue;
      }
      ++planted;
      Counts &count = counts[static_cast<unsigned>(kind)];
      ++count.planted;
      bool isValid = succeeded(verify(*mutant)), accepted = isValid && isAccepted(*mutant);
      bool equal = isValid && run(*mutant, plan.microBatches) == expected;
      count.refused += !accepted;
      count.differing += !equal;
      count.refusedEqual += !accepted && equal;
      EXPECT_TRUE(equal || !accepted) << plan.model << " " << plan.mesh << ", mutation " << planted
                                      << " of kind " << static_cast<int>(kind);
    }
  }
  const char *names[] = {"offset", "order", "wait", "space", "alias"};
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    const Counts &count = counts[kind];
    std::printf("%-6s %4d planted, %4d differ or cannot run, %4d refused (%d of which compute the same)\n",
                names[kind], count.planted, count.differing, count.refused, count.refusedEqual);
    // The test would say nothing if faults did nothing.
    EXPECT_GE(count.differing, 20) << names[kind];
    EXPECT_LT(count.refused, count.planted + (kind == 3)) << names[kind];
  }
}
