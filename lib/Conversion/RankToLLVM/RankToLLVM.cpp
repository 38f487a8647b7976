//===- RankToLLVM.cpp - rank programs as LLVM functions -------------------------------------------------===//
#include "EntryPoints.h"
#include "LowerSchedule.h"
#include "WorkCalls.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "par/Conversion/KernelNames.h"
#include "par/Conversion/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_RANKTOLLVM
#include "par/Conversion/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// Translates one module.
class ProgramLowering : CallBuilder {
public:
  ProgramLowering(ModuleOp module, const Target &target)
      : CallBuilder(module), target(target),
        calls(target.hasDeviceProgram ? createNumberedCalls(*this, target.kind)
                                      : createDirectCalls(*this, target.kind)) {
    if (MeshAttr mesh = getMesh(module))
      axes.append(mesh.getNames().begin(), mesh.getNames().end());
  }

  LogicalResult run() {
    if (failed(generateKernels()))
      return failure();
    builder.setInsertionPointToStart(module.getBody());
    declareEntryPoints(builder, module);
    for (auto function : llvm::make_early_inc_range(module.getOps<rank::FuncOp>()))
      if (failed(lowerFunction(function)))
        return failure();
    calls->finish();
    if (failed(lowerSchedules(module)))
      return failure();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<MeshOp, VariableOp, rank::FuncOp, rank::ScheduleOp>(op))
        op.erase();
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// One function per distinct body.
  LogicalResult generateKernels() {
    OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
    OpBuilder inKernels = OpBuilder::atBlockEnd(kernels->getBody());
    FailureOr<KernelNames> named = nameKernels(module, [&](rank::WorkOpInterface work, StringRef name) {
      return LogicalResult(target.writeKernel(inKernels, work, name, axes));
    });
    if (failed(named) || failed(target.lowerKernels(*kernels)))
      return failure();
    names = std::move(*named);
    calls->addKernels(*kernels);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  LLVM::LLVMFuncOp createFunction(StringRef name, unsigned parameters, LLVM::Linkage linkage) {
    builder.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                            SmallVector<Type>(parameters, pointer));
    auto function = builder.create<LLVM::LLVMFuncOp>(module.getLoc(), name, type, linkage);
    builder.setInsertionPointToStart(function.addEntryBlock(builder));
    return function;
  }

  LogicalResult lowerFunction(rank::FuncOp function) {
    Block &body = function.getBody().front();
    LLVM::LLVMFuncOp lowered = createFunction((function.getName() + ".rank").str(),
                                              body.getNumArguments() + 2, LLVM::Linkage::Internal);
    context = lowered.getArgument(0);
    frame = lowered.getArgument(1);
    buffers.clear();
    for (auto [number, argument] : llvm::enumerate(body.getArguments()))
      buffers[argument] = lowered.getArgument(number + 2);
    for (Operation &op : body)
      if (failed(lowerOp(&op)))
        return failure();
    return success();
  }

  LogicalResult lowerOp(Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>("work"))
      call("par_work", {context, i32(number.getInt())});
    if (auto alloc = dyn_cast<rank::AllocOp>(op)) {
      if (!alloc.getOffset())
        return op->emitOpError("rank-to-llvm: the buffer has no offset; run rank-plan-memory first");
      buffers[alloc.getBuffer()] = address(
          rank::isOnDevice(alloc.getBuffer()) ? frame : loadMember(RuntimeRecord<par_context>::host_arena),
          *alloc.getOffset());
      call("par_discard", {context, buffers[alloc.getBuffer()], i64(alloc.getType().getBytes())});
    } else if (auto copy = dyn_cast<rank::CopyOp>(op)) {
      int64_t bytes = copy.getSource().getType().getBytes();
      call("par_copy", {context, buffers[copy.getTarget()], buffers[copy.getSource()], i64(bytes)});
    } else if (auto callee = dyn_cast<rank::CallOp>(op)) {
      lowerCall(callee);
    } else if (auto wait = dyn_cast<rank::WaitOp>(op)) {
      return lowerWait(wait);
    } else if (isa<rank::ReturnOp>(op)) {
      builder.create<LLVM::ReturnOp>(op->getLoc(), ValueRange{});
    } else if (auto work = dyn_cast<rank::WorkOpInterface>(op)) {
      return lowerWork(work);
    } else {
      return op->emitOpError("rank-to-llvm: no code for this op");
    }
    return success();
  }

  /// A call, or a loop of calls in which every one gets the next part of what is cut.
  void lowerCall(rank::CallOp op) {
    SmallVector<Value> arguments = {context, buffers[op.getFrame()]};
    appendBuffers(op.getBuffers(), arguments);
    std::string name = (op.getCallee() + ".rank").str();
    if (op.getParts() == 1)
      return call(name, arguments);
    auto callee = SymbolTable::lookupNearestSymbolFrom<rank::FuncOp>(op, op.getCalleeAttr());
    SmallVector<int64_t> strides(2, 0); // context and frame stay
    for (unsigned number = 0; number < op.getBuffers().size(); ++number)
      strides.push_back(op.getStride(number, callee));
    callInLoop(name, arguments, strides, static_cast<int64_t>(op.getParts()));
  }

  void callInLoop(StringRef name, ArrayRef<Value> arguments, ArrayRef<int64_t> strides, int64_t times) {
    Location loc = module.getLoc();
    Block *before = builder.getInsertionBlock();
    Block *body =
        builder.createBlock(before->getParent(), std::next(before->getIterator()), builder.getI64Type(), loc);
    Block *after = builder.createBlock(before->getParent(), std::next(body->getIterator()));
    builder.setInsertionPointToEnd(before);
    builder.create<LLVM::BrOp>(loc, ValueRange{i64(0)}, body);
    builder.setInsertionPointToStart(body);
    Value number = body->getArgument(0);
    SmallVector<Value> parts;
    for (auto [argument, stride] : llvm::zip(arguments, strides)) {
      Value offset = stride ? builder.create<LLVM::MulOp>(loc, number, i64(stride)).getResult() : Value();
      parts.push_back(offset ? builder.create<LLVM::GEPOp>(loc, pointer, builder.getI8Type(), argument,
                                                           ArrayRef<LLVM::GEPArg>{offset})
                             : argument);
    }
    call(name, parts);
    Value next = builder.create<LLVM::AddOp>(loc, number, i64(1));
    Value again = builder.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::slt, next, i64(times));
    builder.create<LLVM::CondBrOp>(loc, again, body, ValueRange{next}, after, ValueRange{});
    builder.setInsertionPointToStart(after);
  }

  LogicalResult lowerWork(rank::WorkOpInterface work) {
    if (auto kernel = dyn_cast<rank::KernelOp>(*work))
      return calls->callKernel(kernel, names.lookup(work));
    if (auto gemm = dyn_cast<rank::GemmOp>(*work))
      return calls->callProducts(gemm, names.lookup(work));
    if (auto library = dyn_cast<rank::LibraryWorkInterface>(*work))
      return calls->callLibrary(library, names.lookup(work));
    if (rank::isCollective(work))
      return lowerCollective(work);
    if (rank::isStartedTransfer(work))
      return lowerTransfer(cast<rank::StartOp>(*work));
    return work->emitOpError("rank-to-llvm: no code for this op");
  }

  //===--------------------------------------------------------------------===//
  // Calls of the runtime
  //===--------------------------------------------------------------------===//

  LogicalResult lowerCollective(rank::WorkOpInterface work) {
    auto number = work->getAttrOfType<IntegerAttr>("number");
    if (!number)
      return work->emitOpError("rank-to-llvm: the collective has no number; run rank-number-work first");
    // Inputs in the order of the collective's operands.
    SmallVector<Value> pointers;
    for (Value operand : work.getBody().front().front().getOperands())
      pointers.push_back(bufferOf(work, operand));
    appendBuffers(work.getOuts(), pointers);
    // The array lies in this function's frame: a started collective ends before the function does.
    call(isa<rank::StartOp>(work) ? "par_collective_start" : "par_collective",
         {context, i32(number.getInt()), buildArray(pointers)});
    return success();
  }

  LogicalResult lowerTransfer(rank::StartOp start) {
    Value source = buffers[start.getIns().front()], target = buffers[start.getOuts().front()];
    int64_t bytes = cast<rank::BufferType>(start.getOuts().front().getType()).getBytes();
    auto call = builder.create<LLVM::CallOp>(start.getLoc(), builder.getI64Type(), "par_transfer_start",
                                             ValueRange{context, target, source, i64(bytes)});
    tickets[start.getEvent()] = call.getResult();
    return success();
  }

  /// The time spent here is the collective's or the transfer's.
  LogicalResult lowerWait(rank::WaitOp wait) {
    Operation *start = wait.getEvent().getDefiningOp();
    if (Value ticket = tickets.lookup(wait.getEvent())) {
      call("par_work", {context, i32(start->getAttrOfType<IntegerAttr>("work").getInt())});
      call("par_transfer_wait", {context, ticket});
      return success();
    }
    auto number = start->getAttrOfType<IntegerAttr>("number"),
         work = start->getAttrOfType<IntegerAttr>("work");
    if (!number || !work)
      return wait.emitOpError("rank-to-llvm: the collective has no number; run rank-number-work first");
    call("par_work", {context, i32(work.getInt())});
    call("par_collective_wait", {context, i32(number.getInt())});
    return success();
  }

  const Target &target;
  std::unique_ptr<WorkCalls> calls; ///< of what computes
  SmallVector<StringAttr> axes;
  KernelNames names;                    ///< of kernels' functions
  llvm::DenseMap<Value, Value> tickets; ///< of started transfers, by their events
};

struct RankToLLVM : par::impl::RankToLLVMBase<RankToLLVM> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target || failed(ProgramLowering(getOperation(), *target).run()))
      signalPassFailure();
  }
};
} // namespace
