//===- KernelEntry.cpp - functions that a GPU starts ----------------------------------------------===//
#include "KernelEntry.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "par/Conversion/RuntimeRecords.h"
#include "par/Conversion/Scalars.h"
#include "par/Target/Target.h"

using namespace mlir;
using namespace mlir::par;

bool KernelTask::usesCoords() const {
  return llvm::any_of(getBlock().getOps<KernelOpInterface>(),
                      [](KernelOpInterface op) { return op.usesCoordinates(); });
}

Launch par::describeElements(const KernelTask &task, StringRef plan) {
  Launch launch(plan);
  launch.usesCoords = task.usesCoords();
  launch.isWide = true;
  launch.addReads(task.getOutputs());
  for (size_t out = 0; out < task.getOutputs().size(); ++out)
    launch.operands.push_back({task.getOutNumber(static_cast<int64_t>(out)), BufferAccess::Write});
  return launch;
}

static StringRef getName(BufferAccess access) {
  static constexpr llvm::StringLiteral names[] = {"read", "write", "update"};
  return names[static_cast<size_t>(access)];
}

static DictionaryAttr describe(OpBuilder &builder, const Launch &how) {
  SmallVector<int64_t> operands;
  SmallVector<StringRef> accesses;
  for (auto [operand, access] : how.operands) {
    operands.push_back(operand);
    accesses.push_back(getName(access));
  }
  NamedAttrList members;
  members.append(launch::kPlan, builder.getStringAttr(how.plan));
  if (!how.reason.empty())
    members.append(launch::kReason, builder.getStringAttr(how.reason));
  members.append(launch::kGrid, builder.getDenseI64ArrayAttr({how.blocks, 1, 1}));
  members.append(launch::kBlock, builder.getDenseI64ArrayAttr({how.threads, 1, 1}));
  members.append(launch::kSharedBytes, builder.getI64IntegerAttr(how.sharedBytes));
  members.append(launch::kCoords, builder.getBoolAttr(how.usesCoords));
  members.append(launch::kOperands, builder.getDenseI64ArrayAttr(operands));
  members.append(launch::kAccess, builder.getStrArrayAttr(accesses));
  if (!how.next.empty())
    members.append(launch::kNext, builder.getStringAttr(how.next));
  return members.getDictionary(builder.getContext());
}

static Type getMemory(const KernelTask &task, const Launch &launch, int64_t operand) {
  int64_t outs = task.getOutNumber(0);
  if (operand >= task.getScratchNumber(0))
    return MemRefType::get(launch.scratch, task.builder.getF32Type());
  Value tensor =
      operand < outs ? Value(task.getBlock().getArgument(operand)) : task.getOutputs()[operand - outs];
  return Scalars::getMemoryType(cast<RankedTensorType>(tensor.getType()));
}

func::FuncOp par::createEntry(const KernelTask &task, StringRef name, const Launch &launch) {
  SmallVector<Type> types;
  for (auto [operand, access] : launch.operands)
    types.push_back(getMemory(task, launch, operand));
  if (launch.usesCoords)
    types.push_back(LLVM::LLVMPointerType::get(task.builder.getContext()));
  return createEntry(task.builder, task.getLoc(), name, types, launch);
}

/// By itself ptxas gives threads fewer registers than they need, so that more blocks fit a multiprocessor,
/// and spills the rest: asked for room for just as many blocks as have registers enough it does not.
static void askForRegisters(func::FuncOp entry, const Launch &launch) {
  constexpr int64_t kOfMultiprocessor = 64 << 10;
  if (launch.registers == 0)
    return;
  int64_t blocks = std::max<int64_t>(1, kOfMultiprocessor / launch.registers / launch.threads);
  entry->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                 OpBuilder(entry).getI32IntegerAttr(static_cast<int32_t>(blocks)));
}

func::FuncOp par::createEntry(OpBuilder &builder, Location loc, StringRef name, ArrayRef<Type> types,
                              const Launch &launch) {
  auto entry = builder.create<func::FuncOp>(loc, name, builder.getFunctionType(types, {}));
  entry->setAttr(kLaunchAttr, describe(builder, launch));
  askForRegisters(entry, launch);
  for (size_t number = 0; launch.isWide && number < launch.operands.size(); ++number)
    entry.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(kAccessBytes));
  entry.addEntryBlock();
  return entry;
}

Value par::createContext(OpBuilder &builder, func::FuncOp entry, bool usesCoords) {
  Location loc = entry.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (!usesCoords)
    return builder.create<LLVM::ZeroOp>(loc, pointer);
  using Record = RuntimeRecord<par_context>;
  auto type = Record::getType(builder.getContext());
  Value one = builder.create<LLVM::ConstantOp>(loc, builder.getI64Type(), builder.getI64IntegerAttr(1));
  Value record = builder.create<LLVM::AllocaOp>(loc, pointer, type, one);
  Value field =
      builder.create<LLVM::GEPOp>(loc, pointer, type, record, ArrayRef<LLVM::GEPArg>{0, Record::coords});
  builder.create<LLVM::StoreOp>(loc, entry.getArguments().back(), field);
  return record;
}
