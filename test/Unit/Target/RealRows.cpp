//===- RealRows.cpp - the kernels of large models, emulated at the length of their rows -----------------===//
// real-rows FILE.mlir..: programs that par-compile --to lower has printed (test/Gpu/rows.py).
#include "DistinctKernels.h"
#include "KernelCase.h"
#include "KernelLimits.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Conversion/Passes.h"
#include "par/Register/Register.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::par;

/// Squares are positive, and ids are those of rows that some rank has.
static void drawSpecial(KernelCase &one, ModuleOp module, std::mt19937 &random) {
  Block &block = one.work.getBody().front();
  for (auto op : block.getOps<AdamWOp>())
    if (auto squares = dyn_cast<BlockArgument>(op.getV()))
      for (double &value : one.ins[squares.getArgNumber()].values)
        value = std::abs(value);
  int64_t ranks = 1;
  for (auto index : block.getOps<AxisIndexOp>())
    ranks = getMesh(module).getSize(index.getAxis());
  auto draw = [&](Value ids, Value table) {
    auto argument = dyn_cast<BlockArgument>(ids);
    int64_t rows = cast<RankedTensorType>(table.getType()).getDimSize(0) * ranks;
    if (argument)
      for (double &id : one.ins[argument.getArgNumber()].values)
        id = static_cast<double>(random() % static_cast<uint64_t>(rows));
  };
  for (auto op : block.getOps<EmbeddingOp>())
    draw(op.getIds(), op.getTable());
  for (auto op : block.getOps<EmbeddingBackwardOp>())
    draw(op.getIds(), op.getResult());
}

static void print(StringRef plan, const std::string &where, const KernelLimits &limits) {
  const Traffic &worst = limits.worst;
  llvm::outs() << llvm::format("%-17s %-24s %7lld ", plan.str().c_str(), where.c_str(),
                               static_cast<long long>(limits.row));
  if (limits.isLimited)
    llvm::outs() << llvm::format("%6.3f %6.1f %6.1f ", worst.moved, 100 * worst.wide, 100 * worst.used);
  llvm::outs() << (limits.broken.empty() ? "ok" : "BROKEN") << "\n";
  for (const std::string &text : limits.broken)
    llvm::outs() << "    " << text << "\n";
  llvm::outs().flush();
}

static void check(const DistinctKernels &kernels, const Plan &plan) {
  ModuleOp module = *kernels.module;
  KernelProgram program(module, plan, [&](ModuleOp copy) {
    PassManager manager(copy.getContext());
    manager.addPass(createRankToLLVM());
    return manager.run(copy);
  });
  std::mt19937 random(3);
  for (auto [name, where] : llvm::zip(program.names, kernels.places)) {
    KernelCase one(program, name, random);
    drawSpecial(one, module, random);
    one.checkValues(par_emulation_random);
    KernelLimits limits(one);
    print(one.getPlan(0), where, limits);
  }
}

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Plan plan;
  plan.target = TargetKind::Cuda;
  plan.chip = ChipKind::Sm90;
  llvm::StringSet<> known;
  std::map<std::string, DistinctKernels> byMesh;
  for (int i = 1; i < argc; ++i) {
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[i], &context);
    if (!module)
      return 1;
    std::string mesh;
    llvm::raw_string_ostream(mesh) << getMesh(*module);
    auto place = byMesh.try_emplace(mesh, *module, known).first;
    place->second.add(*module, llvm::sys::path::stem(argv[i]).str());
  }
  for (auto &[mesh, kernels] : byMesh)
    check(kernels, plan);
  return 0;
}
