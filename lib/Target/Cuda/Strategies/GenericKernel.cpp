//===- GenericKernel.cpp - any kernel, with a part for each thread of a grid ----------------------===//
#include "../../Kernels/KernelWriter.h"
#include "../PlannedKernels.h"
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

static Launch describe(const KernelTask &task, PartKernel part, bool isWide) {
  Launch launch;
  launch.plan = isWide ? task.plan.kind : PlanKind::Generic;
  launch.reason = task.plan.reason;
  if (!isWide && launch.reason.empty())
    launch.reason = "buffers that begin anywhere";
  launch.blocks = std::min(llvm::divideCeilSigned(part.mostParts, kBlock), kMostBlocks);
  launch.threads = kBlock;
  launch.usesCoords = !part.function.getArgument(0).use_empty();
  launch.isWide = isWide;
  for (int64_t in = 0; in < task.countIns(); ++in)
    launch.operands.push_back({in, BufferAccess::Read});
  for (int64_t out = 0; out < static_cast<int64_t>(task.getOutputs().size()); ++out)
    launch.operands.push_back({task.getOutNumber(out), llvm::is_contained(part.updates, out)
                                                           ? BufferAccess::Update
                                                           : BufferAccess::Write});
  if (isWide && launch.operands.size() >= kManyOperands)
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

LogicalResult par::writeGenericKernel(const KernelTask &task) {
  Sharing sharing = kGeneric;
  bool isWide =
      task.isAligned && (task.plan.kind == PlanKind::Elementwise || task.plan.kind == PlanKind::Gather);
  sharing.accessBytes = isWide ? kAccessBytes : 0;
  OpBuilder &builder = task.builder;
  FailureOr<PartKernel> part =
      writePartKernel(builder, task.work, (task.name + "_part").str(), task.axes, sharing);
  if (failed(part))
    return failure();
  part->function->setAttr("passthrough", builder.getStrArrayAttr({"alwaysinline"}));
  part->function->setAttr("llvm.linkage",
                          LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  writeEntry(task, *part, describe(task, *part, isWide));
  return success();
}
