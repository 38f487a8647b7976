//===- GenericKernel.cpp - any kernel, with a part for each thread of a grid ----------------------===//
#include "../../Kernels/KernelWriter.h"
#include "../../Kernels/WideStep.h"
#include "../KernelStrategy.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::par;

/// Threads of a block.
static constexpr int32_t kBlock = 128;
/// Most blocks of a grid: threads take several elements of what is larger.
static constexpr int64_t kMostBlocks = 1 << 16;

/// From so many on a kernel, an update of a list of tensors, has an address of each in its registers.
static constexpr size_t kManyOperands = 20;

/// A part has few elements, whose sums stay in registers.
static constexpr Sharing kGeneric{/*enoughRows=*/INT64_MAX, /*roomColumns=*/1, /*sharesElements=*/true,
                                  /*isStrided=*/true};

/// Numbers that are computed before anybody would notice.
static constexpr int64_t kMostScalars = 32;

static Launch describe(const KernelTask &task, PartKernel part, Launch launch) {
  launch.blocks = std::min(llvm::divideCeilSigned(part.mostParts, kBlock), kMostBlocks);
  launch.threads = kBlock;
  launch.usesCoords = !part.function.getArgument(0).use_empty();
  for (int64_t in = 0; in < task.countIns(); ++in)
    launch.operands.push_back({in, BufferAccess::Read});
  for (int64_t out = 0; out < static_cast<int64_t>(task.getOutputs().size()); ++out)
    launch.operands.push_back({task.getOutNumber(out), llvm::is_contained(part.updates, out)
                                                           ? BufferAccess::Update
                                                           : BufferAccess::Write});
  if (launch.isWide && launch.operands.size() >= kManyOperands)
    launch.registers = kManyRegisters;
  return launch;
}

/// The kernel that calls a part's function.
static void writeEntry(const KernelTask &task, PartKernel part, const Launch &launch) {
  OpBuilder &builder = task.builder;
  Location loc = task.getLoc();
  func::FuncOp entry = createEntry(task, task.name, launch);
  builder.setInsertionPointToStart(&entry.front());
  Value thread = readRegister<NVVM::ThreadIdXOp>(builder, loc),
        block = readRegister<NVVM::BlockIdXOp>(builder, loc),
        threads = readRegister<NVVM::BlockDimXOp>(builder, loc),
        blocks = readRegister<NVVM::GridDimXOp>(builder, loc);
  Value first = builder.create<arith::MulIOp>(loc, block, threads);
  SmallVector<Value> arguments{createContext(builder, entry, launch.usesCoords),
                               builder.create<arith::AddIOp>(loc, first, thread),
                               builder.create<arith::MulIOp>(loc, blocks, threads)};
  llvm::append_range(arguments, entry.getArguments().take_front(launch.operands.size()));
  builder.create<func::CallOp>(loc, part.function, arguments);
  builder.create<func::ReturnOp>(loc);
}

/// As `launch` says it: with whole accesses, or else for what reason.
static LogicalResult writeParts(const KernelTask &task, const Launch &launch) {
  Sharing sharing = kGeneric;
  sharing.accessBytes = launch.isWide ? kAccessBytes : 0;
  OpBuilder &builder = task.builder;
  FailureOr<PartKernel> part =
      writePartKernel(builder, task.work, (task.name + "_part").str(), task.axes, sharing);
  if (failed(part))
    return failure();
  part->function->setAttr("passthrough", builder.getStrArrayAttr({"alwaysinline"}));
  part->function->setAttr("llvm.linkage",
                          LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  writeEntry(task, *part, describe(task, *part, launch));
  return success();
}

namespace {
class Generic : public KernelStrategy {
public:
  explicit Generic(std::string reason) : KernelStrategy("generic"), reason(std::move(reason)) {}

  LogicalResult write(const KernelTask &task) const override {
    return writeParts(task, Launch(name, reason));
  }

private:
  const std::string reason;
};

/// Parts that are whole accesses.
class Elementwise : public KernelStrategy {
public:
  using KernelStrategy::KernelStrategy;

  LogicalResult write(const KernelTask &task) const override {
    Launch launch(name);
    launch.isWide = true;
    return task.isAligned ? writeParts(task, launch) : writeGenericKernel(task);
  }
};
} // namespace

std::unique_ptr<KernelStrategy> par::makeGeneric(std::string reason) {
  return std::make_unique<Generic>(std::move(reason));
}

LogicalResult par::writeGenericKernel(const KernelTask &task) {
  return Generic("buffers that begin anywhere").write(task);
}

StrategyMatch par::matchGeneric(const KernelRegion &region) {
  if (!region.problem.empty())
    return refuse(region.problem);
  bool areScalars = llvm::all_of(region.outputs, [](Value output) {
    return ShapedType::getNumElements(getShape(output)) <= kMostScalars;
  });
  return areScalars && !region.hasSums() ? refuse("scalars") : StrategyMatch();
}

StrategyMatch par::matchElementwise(const KernelRegion &region) {
  bool areWide = llvm::all_of(region.outputs, [&](Value output) {
    ArrayRef<int64_t> shape = getShape(output);
    return !shape.empty() && findWideStep(region.block, shape.back(), kAccessBytes) > 1;
  });
  if (region.hasSums() || !areWide)
    return {};
  return {std::make_unique<Elementwise>(region.isInPlace() ? "elementwise" : "gather"), ""};
}
