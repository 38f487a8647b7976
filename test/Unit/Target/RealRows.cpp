//===- RealRows.cpp - the kernels of large models, emulated at the length of their rows -----------------===//
// real-rows [--rows N] [--record FOLDER [--unemulated]] FILE.mlir..: programs that par-compile --to lower has
// printed. Prints what their kernels move (test/Gpu/rows.py), or records what they compute, or the kernels
// alone (test/Gpu/prepare.py).
#include "DistinctKernels.h"
#include "KernelCase.h"
#include "KernelLimits.h"
#include "KernelRecord.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Conversion/Passes.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Register/Register.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::par;

/// A sequence is eight documents, with positions that begin at 0 in each.
static constexpr int64_t kDocuments = 8;

template <typename Op>
static void drawDocuments(Block &block, KernelCase &one) {
  auto draw = [&](Value table, function_ref<int64_t(int64_t row, int64_t each)> number) {
    auto argument = dyn_cast_or_null<BlockArgument>(table);
    if (!argument)
      return;
    Tensor &tensor = one.ins[argument.getArgNumber()];
    int64_t rows = tensor.type.getShape().back();
    for (auto [place, value] : llvm::enumerate(tensor.values))
      value = static_cast<double>(
          number(static_cast<int64_t>(place) % rows, llvm::divideCeilSigned(rows, kDocuments)));
  };
  for (auto op : block.getOps<Op>())
    if (op.getQDocuments())
      for (auto [positions, documents] : {std::pair(op.getQPositions(), op.getQDocuments()),
                                          std::pair(op.getKPositions(), op.getKDocuments())}) {
        draw(positions, [](int64_t row, int64_t each) { return row % each; });
        draw(documents, [](int64_t row, int64_t each) { return row / each; });
      }
}

/// Squares are positive, and ids are those of rows that some rank has.
static void drawSpecial(KernelCase &one, ModuleOp module, std::mt19937 &random) {
  Block &block = one.work.getBody().front();
  drawDocuments<AttentionOp>(block, one);
  drawDocuments<AttentionBackwardOp>(block, one);
  for (auto op : block.getOps<AttentionOp>()) // as AttentionCall::hasRoughCap
    if (getElementTypeOrSelf(op.getQ()).isBF16())
      one.slack = op.getCap().convertToDouble() / 2048;
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
  for (auto op : block.getOps<AddsRowsOpInterface>())
    draw(op.getIds(), op->getResult(0));
}

namespace {
/// A line for each launch, and the worst of each plan.
class Table {
public:
  void add(const LaunchLimits &launch, const std::string &where, bool isRight) {
    Plan &plan = plans[launch.plan];
    ++plan.launches;
    if (launch.isLimited)
      plan.worst.worsen(launch.worst);
    plan.isLimited |= launch.isLimited;
    isGood &= isRight && launch.broken.empty();
    print(launch.plan, where, std::to_string(launch.row), launch.isLimited, launch.worst);
    llvm::outs() << (!isRight ? "wrong" : launch.broken.empty() ? "ok" : "moves too much") << "\n";
    for (const std::string &text : launch.broken)
      llvm::outs() << "    " << text << "\n";
    llvm::outs().flush();
  }
  /// True if all is right, and within the limits.
  bool finish() {
    int launches = 0;
    for (auto &[name, plan] : plans) {
      print(name, std::to_string(plan.launches) + " launches", "worst", plan.isLimited, plan.worst);
      llvm::outs() << "\n";
      launches += plan.launches;
    }
    llvm::outs() << launches << " launches: "
                 << (isGood ? "all within their limits\n" : "some are not as they should be\n");
    return isGood;
  }

private:
  struct Plan {
    int launches = 0;
    bool isLimited = false;
    Traffic worst;
  };
  static void print(const std::string &plan, const std::string &where, const std::string &row, bool isLimited,
                    const Traffic &traffic) {
    llvm::outs() << llvm::format("%-17s %-26s %7s ", plan.c_str(), where.c_str(), row.c_str());
    if (isLimited)
      llvm::outs() << llvm::format("%6.3f %6.1f %6.1f ", traffic.moved, 100 * traffic.wide,
                                   100 * traffic.used);
    else
      llvm::outs() << "     -      -      - ";
  }

  std::map<std::string, Plan> plans;
  bool isGood = true;
};
} // namespace

static int countFailures() {
  return ::testing::UnitTest::GetInstance()->ad_hoc_test_result().total_part_count();
}

/// What becomes of a program's kernels that have been emulated.
struct KernelVisitor {
  std::function<void(const KernelProgram &)> begin;
  std::function<void(const KernelCase &, const std::string &where, bool isRight)> see;
};

static void emulateAll(const DistinctKernels &kernels, const KernelVisitor &visitor, bool isEmulated) {
  ModuleOp module = *kernels.module;
  KernelProgram program(module, getPlan(module).getPlan(), [&](ModuleOp copy) {
    PassManager manager(copy.getContext());
    manager.addPass(createRankToLLVM());
    return manager.run(copy);
  });
  visitor.begin(program);
  std::mt19937 random(3);
  for (auto [name, where] : llvm::zip(program.names, kernels.places)) {
    int before = countFailures();
    KernelCase one(program, name, random);
    drawSpecial(one, module, random);
    if (isEmulated)
      one.checkValues(par_emulation_random);
    else
      one.list();
    visitor.see(one, where, countFailures() == before);
  }
}

namespace {
struct Options {
  int64_t rows = 16;
  std::string record;     ///< a folder; empty: what kernels move is printed
  bool isEmulated = true; ///< else kernels are recorded without what they compute
  std::vector<std::string> files;

  Options(int argc, char **argv) {
    for (int i = 1; i < argc; ++i)
      if (std::string word = argv[i]; word == "--rows" && i + 1 < argc)
        rows = std::atoll(argv[++i]);
      else if (word == "--record" && i + 1 < argc)
        record = argv[++i];
      else if (word == "--unemulated")
        isEmulated = false;
      else
        files.push_back(word);
  }
};

/// The kernels of programs, by their meshes.
class Programs {
public:
  Programs() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  bool read(const Options &options) {
    llvm::StringSet<> known;
    for (const std::string &file : options.files) {
      OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
      if (!module)
        return false;
      std::string mesh;
      llvm::raw_string_ostream(mesh) << getMesh(*module);
      auto place = byMesh.try_emplace(mesh, *module, known, options.rows).first;
      place->second.add(*module, llvm::sys::path::stem(file).str());
    }
    return true;
  }
  void emulate(const KernelVisitor &visitor, bool isEmulated = true) const {
    for (auto &[mesh, kernels] : byMesh)
      emulateAll(kernels, visitor, isEmulated);
  }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  MLIRContext context;
  std::map<std::string, DistinctKernels> byMesh;
};
} // namespace

static bool record(const Programs &programs, const Options &options) {
  KernelRecord kernels(options.record, options.isEmulated);
  programs.emulate({[&](const KernelProgram &program) { kernels.begin(program); },
                    [&](const KernelCase &one, const std::string &where, bool) { kernels.add(one, where); }},
                   options.isEmulated);
  return kernels.finish();
}

static bool printTable(const Programs &programs) {
  Table table;
  programs.emulate({[](const KernelProgram &) {},
                    [&](const KernelCase &one, const std::string &where, bool isRight) {
                      for (size_t launch = 0; launch < one.countLaunches(); ++launch)
                        table.add(LaunchLimits(one, launch), where, isRight);
                    }});
  return table.finish();
}

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  Options options(argc, argv);
  Programs programs;
  if (!programs.read(options))
    return 1;
  bool isGood = options.record.empty() ? printTable(programs) : record(programs, options);
  return isGood && countFailures() == 0 ? 0 : 1;
}
