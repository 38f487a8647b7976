//===- DirectCalls.cpp - what computes, by addresses and records ----------------------------------===//
#include "WorkCalls.h"
#include "par/Target/LibraryCall.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class DirectCalls : public WorkCalls {
public:
  using WorkCalls::WorkCalls;

  void addKernels(ModuleOp kernels) override {
    Block *body = calls.module.getBody();
    body->getOperations().splice(body->begin(), kernels.getBody()->getOperations());
    for (auto function : llvm::to_vector(calls.module.getOps<LLVM::LLVMFuncOp>()))
      if (!function.isExternal()) {
        function.setLinkage(LLVM::Linkage::Internal);
        writePart(function);
      }
  }

  LogicalResult callKernel(rank::WorkOpInterface work, StringRef name) override {
    SmallVector<Value> pointers;
    calls.appendBuffers(work.getIns(), pointers);
    calls.appendBuffers(work.getOuts(), pointers);
    Value entry =
        calls.builder.create<LLVM::AddressOfOp>(work->getLoc(), calls.pointer, (name + ".part").str());
    calls.call("par_parallel",
               {calls.context, entry, calls.buildArray(pointers), calls.i64(getElements(work))});
    return success();
  }

  LogicalResult callProducts(rank::GemmOp op, StringRef) override {
    for (auto product : op.getProducts().getAsRange<rank::ProductAttr>())
      if (product.getEpilogue() != rank::Epilogue::None)
        return op.emitOpError("rank-to-llvm: a product has the epilogue ")
               << rank::stringifyEpilogue(product.getEpilogue())
               << ", expected none: only products of a device's program have some (--target cuda)";
    lowerProducts(op);
    return success();
  }

  LogicalResult callLibrary(rank::LibraryWorkInterface work, StringRef) override {
    const LibraryCall *call = getLibraryCall(target, work);
    return call ? call->emitCall(calls, work) : failure();
  }

private:
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
    Location loc = calls.module.getLoc();
    Type wide = calls.builder.getI64Type();
    calls.builder.setInsertionPointToEnd(calls.module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(calls.module.getContext()),
                                            {calls.pointer, calls.pointer, wide, wide});
    auto function = calls.builder.create<LLVM::LLVMFuncOp>(loc, (kernel.getName() + ".part").str(), type,
                                                           LLVM::Linkage::Internal);
    calls.builder.setInsertionPointToStart(function.addEntryBlock(calls.builder));
    SmallVector<Value> arguments{function.getArgument(0), function.getArgument(2), function.getArgument(3)};
    for (int32_t number = 0, count = kernel.getNumArguments() - 3; number < count; ++number) {
      Value entry = calls.builder.create<LLVM::GEPOp>(
          loc, calls.pointer, calls.pointer, function.getArgument(1), ArrayRef<LLVM::GEPArg>{number});
      arguments.push_back(calls.builder.create<LLVM::LoadOp>(loc, calls.pointer, entry));
    }
    calls.call(kernel.getName(), arguments);
    calls.builder.create<LLVM::ReturnOp>(loc, ValueRange{});
  }

  void lowerProducts(rank::GemmOp op) {
    auto products = llvm::to_vector(op.getProducts().getAsRange<rank::ProductAttr>());
    if (products.size() > 1)
      return lowerJoined(op, products);
    rank::ProductAttr product = products.front();
    auto [beta, addend] = getAddend(op, product);
    SmallVector<Value> arguments{calls.context,
                                 calls.i32(product.getTransposeA()),
                                 calls.i32(product.getTransposeB()),
                                 calls.i64(product.getM()),
                                 calls.i64(product.getN()),
                                 calls.i64(product.getK()),
                                 calls.buffers[op.getIns()[product.getA()]],
                                 calls.i64(product.getLda()),
                                 calls.i64(product.getStrideA()),
                                 calls.buffers[op.getIns()[product.getB()]],
                                 calls.i64(product.getLdb()),
                                 calls.i64(product.getStrideB()),
                                 beta,
                                 addend,
                                 calls.buffers[op.getOuts()[product.getC()]],
                                 calls.i64(product.getLdc()),
                                 calls.i64(product.getStrideC()),
                                 calls.i64(product.getBatch())};
    if (!product.getFrom().isBF16())
      return calls.call("par_gemm", arguments);
    arguments.push_back(calls.i32(product.getTo().isBF16()));
    calls.appendScratch(op, arguments);
    calls.call("par_gemm_bf16", arguments);
  }

  /// par_product records of runtime.h on the stack, in the order in which sums are added up.
  void lowerJoined(rank::GemmOp op, ArrayRef<rank::ProductAttr> products) {
    Location loc = op->getLoc();
    using Record = RuntimeRecord<par_product>;
    auto type = Record::getType(calls.module.getContext());
    Value records =
        calls.builder.create<LLVM::AllocaOp>(loc, calls.pointer, type, calls.i64(products.size()));
    for (auto [number, product] : llvm::enumerate(products)) {
      auto [beta, addend] = getAddend(op, product);
      std::pair<Record::Member, Value> members[] = {{Record::transpose_a, calls.i32(product.getTransposeA())},
                                                    {Record::transpose_b, calls.i32(product.getTransposeB())},
                                                    {Record::m, calls.i64(product.getM())},
                                                    {Record::n, calls.i64(product.getN())},
                                                    {Record::k, calls.i64(product.getK())},
                                                    {Record::a, calls.buffers[op.getIns()[product.getA()]]},
                                                    {Record::lda, calls.i64(product.getLda())},
                                                    {Record::b, calls.buffers[op.getIns()[product.getB()]]},
                                                    {Record::ldb, calls.i64(product.getLdb())},
                                                    {Record::beta, beta},
                                                    {Record::addend, addend},
                                                    {Record::c, calls.buffers[op.getOuts()[product.getC()]]},
                                                    {Record::ldc, calls.i64(product.getLdc())}};
      for (auto [member, value] : members) {
        LLVM::GEPArg path[] = {static_cast<int32_t>(number), member};
        calls.builder.create<LLVM::StoreOp>(
            loc, value, calls.builder.create<LLVM::GEPOp>(loc, calls.pointer, type, records, path));
      }
    }
    calls.call("par_products", {calls.context, records, calls.i64(products.size())});
  }

  /// beta and the buffer that beta times is added to the product.
  std::pair<Value, Value> getAddend(rank::GemmOp op, rank::ProductAttr product) {
    Value addend = product.getAddend() < 0 ? calls.buffers[op.getOuts()[product.getC()]]
                                           : calls.buffers[op.getIns()[product.getAddend()]];
    if (product.getScale() < 0)
      return {calls.real(static_cast<double>(product.getBeta())), addend};
    Value scale = calls.buffers[op.getIns()[product.getScale()]];
    return {calls.builder.create<LLVM::LoadOp>(op->getLoc(), calls.builder.getF32Type(), scale), addend};
  }
};
} // namespace

std::unique_ptr<WorkCalls> par::createDirectCalls(CallBuilder &calls, TargetKind target) {
  return std::make_unique<DirectCalls>(calls, target);
}
