//===- GenericKernelTest.cpp - every kernel of training steps, emulated, is what the interpreter says ===//
#include "KernelCase.h"
#include "par/Compile/Driver.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Import/Import.h"
#include "par/Register/Register.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// A training step of a model, lowered.
class Step {
public:
  Step(const std::string &model, const Plan &plan, std::vector<std::string> overrides)
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    ImportOptions options;
    options.model = std::string(PAR_TEST_DIR) + "/Golden/" + model;
    options.overrides = std::move(overrides);
    options.seq = plan.seq;
    options.batch = plan.getGraphBatch();
    options.dtype = getName(plan.dtype).str();
    module = importModel(context, options);
    Driver driver(plan);
    EXPECT_TRUE(module && succeeded(driver.run(*module, CompilePhase::Annotate, CompilePhase::Lower)));
    program.emplace(*module, plan, [&](ModuleOp copy) { return driver.run(copy, CompilePhase::Emit); });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<KernelProgram> program;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
};

/// One pass over memory, in whole accesses and sectors; what has another shape is read more often than it has
/// elements.
void checkElementwise(const KernelCase &one) {
  SmallVector<RankedTensorType> all;
  for (const Tensor &in : one.ins)
    all.push_back(in.type);
  llvm::append_range(all, one.types);
  for (auto [operand, type] : llvm::enumerate(all)) {
    if (type.getShape() != all.back().getShape())
      continue;
    auto moved = one.getMoved(0, static_cast<int64_t>(operand));
    EXPECT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved.begin()->second, static_cast<uint64_t>(one.getBytes(operand)));
    if (type.getShape().back() % 8 != 0)
      continue;
    EXPECT_EQ(moved.begin()->first, 16u);
    auto [fetched, used] = one.getSectorUse(0, static_cast<int64_t>(operand));
    // The last sector of a tensor may reach beyond it.
    EXPECT_LT(fetched, used * one.countInstructions(static_cast<int64_t>(operand)) + 32);
  }
}

/// Rows that are added to a table which lies where the result does: nothing else of it is touched. False:
/// the kernel does something else.
bool checkInPlace(KernelCase &one, const KernelProgram &program) {
  auto sum = cast<rank::YieldOp>(one.work.getBody().front().getTerminator()).getValues()[0].getDefiningOp();
  auto isScatter = [](Value value) { return value.getDefiningOp<AddsRowsOpInterface>(); };
  if (!sum || !isa<arith::AddFOp>(sum) || llvm::none_of(sum->getOperands(), isScatter))
    return false;
  size_t table = 0;
  while (table < one.ins.size() && one.ins[table].type != one.types[0])
    ++table;
  for (Tensor &in : one.ins)
    if (in.type.getRank() == 0 && in.type.getElementType().isF32())
      in.values[0] = 1; // what the table is multiplied by
  std::vector<Memory> apart = one.emulate(par_emulation_forward),
                      same = one.emulate(par_emulation_random, table);
  EXPECT_EQ(same[0].bytes, apart[0].bytes);
  return true;
}

Plan makePlan(FloatKind dtype) {
  Plan plan;
  plan.seq = 16;
  plan.batch = 8;
  plan.microBatches = 2;
  plan.dtype = dtype;
  plan.target = TargetKind::Cuda;
  plan.chip = ChipKind::Sm90;
  return plan;
}

void checkAll(const std::string &model, const Plan &plan, std::vector<std::string> overrides = {}) {
  Step step(model, plan, std::move(overrides));
  std::mt19937 random(3);
  std::map<std::string, int> plans;
  int inPlace = 0;
  ASSERT_TRUE(step.program && step.program->kernels);
  for (const std::string &name : step.program->names) {
    KernelCase one(*step.program, name, random);
    one.check();
    ++plans[one.getPlan().str()];
    if (one.getPlan() == "elementwise")
      checkElementwise(one);
    inPlace += checkInPlace(one, *step.program);
  }
  for (const char *plan : {"elementwise", "row", "row-column", "total"})
    EXPECT_GT(plans[plan], 0) << plan;
  EXPECT_EQ(inPlace > 0, plan.microBatches > 1) << "gradients of tables are added up over micro-batches";
  for (auto [plan, count] : plans)
    testing::Test::RecordProperty(plan, count);
}

const std::vector<std::string> kDropout = {"attn_pdrop=0.1", "embd_pdrop=0.1", "resid_pdrop=0.1"};

TEST(GenericKernelTest, Gpt2InF32) { checkAll("gpt2", makePlan(FloatKind::F32), kDropout); }
TEST(GenericKernelTest, Gpt2InBf16) { checkAll("gpt2", makePlan(FloatKind::BF16), kDropout); }
TEST(GenericKernelTest, LlamaInF32) { checkAll("llama", makePlan(FloatKind::F32)); }
TEST(GenericKernelTest, LlamaInBf16) { checkAll("llama", makePlan(FloatKind::BF16)); }

/// Kernels that ask where their rank is.
TEST(GenericKernelTest, LlamaOnEightRanks) {
  Plan plan = makePlan(FloatKind::F32);
  plan.mesh = {{"dp", 4}, {"tp", 2}};
  plan.zero = 3;
  plan.sequenceParallel = true;
  plan.microBatches = 1;
  checkAll("llama", plan);
}
} // namespace
