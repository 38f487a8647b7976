//===- RankToLLVM.cpp - rank programs as LLVM functions -------------------------------------------------===//
#include "EntryPoints.h"
#include "LowerSchedule.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "par/Conversion/Passes.h"
#include "par/Conversion/RuntimeRecords.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Target/Target.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::par {
#define GEN_PASS_DEF_RANKTOLLVM
#include "par/Conversion/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// Translates one module.
class ProgramLowering {
public:
  ProgramLowering(ModuleOp module, const Target &target)
      : module(module), target(target), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {
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
    llvm::StringMap<std::string> known;
    WalkResult result = module.walk([&](rank::KernelOp work) -> WalkResult {
      std::string body;
      llvm::raw_string_ostream stream(body);
      for (Operation &op : work.getBody().front())
        op.print(stream, OpPrintingFlags().useLocalScope());
      for (BlockArgument argument : work.getBody().getArguments())
        stream << argument.getType();
      std::string &name = known[body];
      if (name.empty()) {
        name = "kernel_" + std::to_string(known.size() - 1);
        if (failed(target.writeKernel(inKernels, work, name, axes)))
          return WalkResult::interrupt();
      }
      names[work] = name;
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(target.lowerKernels(*kernels)))
      return failure();
    module.getBody()->getOperations().splice(module.getBody()->begin(), kernels->getBody()->getOperations());
    for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>()))
      if (!function.isExternal()) {
        function.setLinkage(LLVM::Linkage::Internal);
        writePart(function);
      }
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

  /// base + offset bytes; offsets do not fit the 32 bits of a constant index of GEP.
  Value address(Value base, int64_t offset) {
    Value bytes = builder.create<LLVM::ConstantOp>(module.getLoc(), builder.getI64Type(),
                                                   builder.getI64IntegerAttr(offset));
    return builder.create<LLVM::GEPOp>(module.getLoc(), pointer, builder.getI8Type(), base,
                                       ArrayRef<LLVM::GEPArg>{bytes});
  }

  Value integer(Type type, int64_t value) {
    return builder.create<LLVM::ConstantOp>(module.getLoc(), type, builder.getIntegerAttr(type, value));
  }
  Value i32(int64_t value) { return integer(builder.getI32Type(), value); }
  Value i64(int64_t value) { return integer(builder.getI64Type(), value); }
  Value real(double value) {
    return builder.create<LLVM::ConstantOp>(module.getLoc(), builder.getF32Type(),
                                            builder.getF32FloatAttr(static_cast<float>(value)));
  }

  void call(StringRef name, ValueRange arguments) {
    builder.create<LLVM::CallOp>(module.getLoc(), TypeRange{}, name, arguments);
  }

  Value loadMember(RuntimeRecord<par_context>::Member member) {
    auto type = RuntimeRecord<par_context>::getType(module.getContext());
    Value field = builder.create<LLVM::GEPOp>(module.getLoc(), pointer, type, context,
                                              ArrayRef<LLVM::GEPArg>{0, member});
    return builder.create<LLVM::LoadOp>(module.getLoc(), pointer, field);
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

  void appendBuffers(ValueRange values, SmallVectorImpl<Value> &arguments) {
    for (Value value : values)
      arguments.push_back(buffers[value]);
  }

  LogicalResult lowerWork(rank::WorkOpInterface work) {
    if (auto name = names.find(work); name != names.end()) {
      SmallVector<Value> pointers;
      appendBuffers(work.getIns(), pointers);
      appendBuffers(work.getOuts(), pointers);
      Value entry = builder.create<LLVM::AddressOfOp>(work->getLoc(), pointer, name->second + ".part");
      call("par_parallel", {context, entry, buildArray(pointers), i64(getElements(work))});
      return success();
    }
    if (auto gemm = dyn_cast<rank::GemmOp>(*work)) {
      lowerProducts(gemm);
      return success();
    }
    if (auto attention = dyn_cast<rank::AttentionOp>(*work)) {
      for (Operation &op : work.getBody().front())
        llvm::TypeSwitch<Operation *>(&op).Case<par::AttentionOp, AttentionBackwardOp>(
            [&](auto content) { lowerAttention(attention, content); });
      return success();
    }
    if (rank::isCollective(work))
      return lowerCollective(work);
    if (rank::isStartedTransfer(work))
      return lowerTransfer(cast<rank::StartOp>(*work));
    return work->emitOpError("rank-to-llvm: no code for this op");
  }

  /// Elements of the largest tensor that a kernel reads or writes: what its time is about.
  static int64_t getElements(rank::WorkOpInterface work) {
    int64_t most = 0;
    for (Type type : work.getBody().getArgumentTypes())
      most = std::max(most, cast<RankedTensorType>(type).getNumElements());
    for (Value value : work.getBody().front().getTerminator()->getOperands())
      most = std::max(most, cast<RankedTensorType>(value.getType()).getNumElements());
    return most;
  }

  /// `void kernel.part(context, buffers, part, parts)`: the form in which the runtime's threads call a
  /// kernel.
  void writePart(LLVM::LLVMFuncOp kernel) {
    Location loc = module.getLoc();
    Type wide = builder.getI64Type();
    builder.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                            {pointer, pointer, wide, wide});
    auto function = builder.create<LLVM::LLVMFuncOp>(loc, (kernel.getName() + ".part").str(), type,
                                                     LLVM::Linkage::Internal);
    builder.setInsertionPointToStart(function.addEntryBlock(builder));
    SmallVector<Value> arguments{function.getArgument(0), function.getArgument(2), function.getArgument(3)};
    for (int32_t number = 0, count = kernel.getNumArguments() - 3; number < count; ++number) {
      Value entry = builder.create<LLVM::GEPOp>(loc, pointer, pointer, function.getArgument(1),
                                                ArrayRef<LLVM::GEPArg>{number});
      arguments.push_back(builder.create<LLVM::LoadOp>(loc, pointer, entry));
    }
    call(kernel.getName(), arguments);
    builder.create<LLVM::ReturnOp>(loc, ValueRange{});
  }

  //===--------------------------------------------------------------------===//
  // Calls of the runtime
  //===--------------------------------------------------------------------===//

  /// The buffer of a region's operand: which input of the work op it is.
  Value bufferOf(rank::WorkOpInterface work, Value operand) {
    return buffers[work.getIns()[cast<BlockArgument>(operand).getArgNumber()]];
  }

  void lowerProducts(rank::GemmOp op) {
    auto products = llvm::to_vector(op.getProducts().getAsRange<rank::ProductAttr>());
    if (products.size() > 1)
      return lowerJoined(op, products);
    rank::ProductAttr product = products.front();
    auto [beta, addend] = getAddend(op, product);
    SmallVector<Value> arguments{context,
                                 i32(product.getTransposeA()),
                                 i32(product.getTransposeB()),
                                 i64(product.getM()),
                                 i64(product.getN()),
                                 i64(product.getK()),
                                 buffers[op.getIns()[product.getA()]],
                                 i64(product.getLda()),
                                 i64(product.getStrideA()),
                                 buffers[op.getIns()[product.getB()]],
                                 i64(product.getLdb()),
                                 i64(product.getStrideB()),
                                 beta,
                                 addend,
                                 buffers[op.getOuts()[product.getC()]],
                                 i64(product.getLdc()),
                                 i64(product.getStrideC()),
                                 i64(product.getBatch())};
    if (!product.getFrom().isBF16())
      return call("par_gemm", arguments);
    arguments.push_back(i32(product.getTo().isBF16()));
    appendScratch(op, arguments);
    call("par_gemm_bf16", arguments);
  }

  /// par_product records of runtime.h on the stack, in the order in which sums are added up.
  void lowerJoined(rank::GemmOp op, ArrayRef<rank::ProductAttr> products) {
    Location loc = op->getLoc();
    using Record = RuntimeRecord<par_product>;
    auto type = Record::getType(module.getContext());
    Value records = builder.create<LLVM::AllocaOp>(loc, pointer, type, i64(products.size()));
    for (auto [number, product] : llvm::enumerate(products)) {
      auto [beta, addend] = getAddend(op, product);
      std::pair<Record::Member, Value> members[] = {{Record::transpose_a, i32(product.getTransposeA())},
                                                    {Record::transpose_b, i32(product.getTransposeB())},
                                                    {Record::m, i64(product.getM())},
                                                    {Record::n, i64(product.getN())},
                                                    {Record::k, i64(product.getK())},
                                                    {Record::a, buffers[op.getIns()[product.getA()]]},
                                                    {Record::lda, i64(product.getLda())},
                                                    {Record::b, buffers[op.getIns()[product.getB()]]},
                                                    {Record::ldb, i64(product.getLdb())},
                                                    {Record::beta, beta},
                                                    {Record::addend, addend},
                                                    {Record::c, buffers[op.getOuts()[product.getC()]]},
                                                    {Record::ldc, i64(product.getLdc())}};
      for (auto [member, value] : members) {
        LLVM::GEPArg path[] = {static_cast<int32_t>(number), member};
        builder.create<LLVM::StoreOp>(loc, value,
                                      builder.create<LLVM::GEPOp>(loc, pointer, type, records, path));
      }
    }
    call("par_products", {context, records, i64(products.size())});
  }

  /// beta and the buffer that beta times is added to the product.
  std::pair<Value, Value> getAddend(rank::GemmOp op, rank::ProductAttr product) {
    Value addend = product.getAddend() < 0 ? buffers[op.getOuts()[product.getC()]]
                                           : buffers[op.getIns()[product.getAddend()]];
    if (product.getScale() < 0)
      return {real(static_cast<double>(product.getBeta())), addend};
    Value scale = buffers[op.getIns()[product.getScale()]];
    return {builder.create<LLVM::LoadOp>(op->getLoc(), builder.getF32Type(), scale), addend};
  }

  /// The last scratch buffer and its bytes: the workspace of calls on bf16.
  void appendScratch(rank::WorkOpInterface work, SmallVectorImpl<Value> &arguments) {
    if (work.getScratch().empty()) {
      arguments.append({builder.create<LLVM::ZeroOp>(work->getLoc(), pointer), i64(0)});
      return;
    }
    Value scratch = work.getScratch().back();
    arguments.append({buffers[scratch], i64(cast<rank::BufferType>(scratch.getType()).getBytes())});
  }

  /// An array of pointers on the stack; null values become null pointers.
  Value buildArray(ArrayRef<Value> pointers) {
    Location loc = module.getLoc();
    Value array = builder.create<LLVM::AllocaOp>(loc, pointer, pointer, i64(pointers.size()));
    for (auto [position, value] : llvm::enumerate(pointers)) {
      Value entry = builder.create<LLVM::GEPOp>(loc, pointer, pointer, array,
                                                ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
      Value stored = value ? value : builder.create<LLVM::ZeroOp>(loc, pointer).getResult();
      builder.create<LLVM::StoreOp>(loc, stored, entry);
    }
    return array;
  }

  /// struct par_attention of runtime.h on the stack.
  template <typename Op>
  Value describe(rank::AttentionAttr structure, Op op) {
    Location loc = op.getLoc();
    using Record = RuntimeRecord<par_attention>;
    auto type = Record::getType(module.getContext());
    Value memory = builder.create<LLVM::AllocaOp>(loc, pointer, type, i64(1));
    auto store = [&](ArrayRef<LLVM::GEPArg> path, Value value) {
      Value entry = builder.create<LLVM::GEPOp>(loc, pointer, type, memory, path);
      builder.create<LLVM::StoreOp>(loc, value, entry);
    };
    store({0, Record::batch}, i64(structure.getBatch()));
    store({0, Record::q_rows}, i64(structure.getQRows()));
    store({0, Record::k_rows}, i64(structure.getKRows()));
    store({0, Record::kv_heads}, i64(structure.getKvHeads()));
    store({0, Record::group}, i64(structure.getGroup()));
    store({0, Record::head_dim}, i64(structure.getHeadDim()));
    store({0, Record::scale}, real(op.getScale().convertToDouble()));
    store({0, Record::causal}, i32(op.getCausal()));
    store({0, Record::window}, i64(op.getWindow()));
    store({0, Record::dropout}, real(op.getDropout().convertToDouble()));
    for (int32_t dim = 0; dim < 5; ++dim)
      store({0, Record::strides, dim}, i64(op.getStrides() ? (*op.getStrides())[dim] : 0));
    int32_t member = Record::q_stride;
    for (rank::RowsAttr rows : {structure.getQ(), structure.getK(), structure.getV(), structure.getDq(),
                                structure.getDk(), structure.getDv()})
      if (rows)
        store({0, member++}, i64(rows.getStride()));
    return memory;
  }

  /// The first element of rows.
  Value addressOf(OperandRange tensors, rank::RowsAttr rows, Type element) {
    Value base = buffers[tensors[rows.getBuffer()]];
    int64_t bytes = rows.getOffset() * element.getIntOrFloatBitWidth() / 8;
    return bytes ? address(base, bytes) : base;
  }

  template <typename Op>
  SmallVector<Value> commonBuffers(rank::AttentionOp work, Op op) {
    rank::AttentionAttr structure = work.getStructure();
    SmallVector<Value> pointers;
    for (rank::RowsAttr rows : {structure.getQ(), structure.getK(), structure.getV()})
      pointers.push_back(addressOf(work.getIns(), rows, structure.getType()));
    for (Value operand : {Value(op.getQPositions()), Value(op.getKPositions()), Value(op.getKey()),
                          Value(op.getSite()), Value(op.getRow()), Value(op.getOffsets())})
      pointers.push_back(operand ? bufferOf(work, operand) : Value());
    return pointers;
  }

  /// Calls `name`, or `name`_bf16 with the workspace.
  void callAttention(StringRef name, rank::AttentionOp work, Value description, ArrayRef<Value> pointers) {
    SmallVector<Value> arguments{context, description, buildArray(pointers)};
    bool isBf16 = work.getStructure().getType().isBF16();
    if (isBf16)
      appendScratch(work, arguments);
    call(isBf16 ? (name + "_bf16").str() : name.str(), arguments);
  }

  void lowerAttention(rank::AttentionOp work, par::AttentionOp op) {
    SmallVector<Value> pointers = commonBuffers(work, op);
    appendBuffers(work.getOuts(), pointers);
    callAttention("par_attention_forward", work, describe(work.getStructure(), op), pointers);
  }

  void lowerAttention(rank::AttentionOp work, AttentionBackwardOp op) {
    rank::AttentionAttr structure = work.getStructure();
    SmallVector<Value> pointers = commonBuffers(work, op);
    pointers.append({bufferOf(work, op.getOut()), bufferOf(work, op.getLse()), bufferOf(work, op.getDout())});
    for (rank::RowsAttr rows : {structure.getDq(), structure.getDk(), structure.getDv()})
      pointers.push_back(addressOf(work.getOuts(), rows, structure.getType()));
    callAttention("par_attention_backward", work, describe(structure, op), pointers);
  }

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

  ModuleOp module;
  const Target &target;
  OpBuilder builder;
  Type pointer;
  SmallVector<StringAttr> axes;
  llvm::DenseMap<Operation *, std::string> names;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Value, Value> tickets; ///< of started transfers, by their events
  Value context, frame;
};

struct RankToLLVM : par::impl::RankToLLVMBase<RankToLLVM> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target || failed(ProgramLowering(getOperation(), *target).run()))
      signalPassFailure();
  }
};
} // namespace
