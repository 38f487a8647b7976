//===- SeparateEpilogue.cpp - a product's epilogue as a kernel behind it --------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "par/Dialect/Rank/IR/Epilogue.h"

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::rank;

namespace {
class EpilogueKernel {
public:
  EpilogueKernel(GemmOp gemm, ProductAttr product)
      : gemm(gemm), product(product), builder(gemm.getContext()), block(new Block) {}

  OwningOpRef<KernelOp> build() {
    Block &body = gemm.getBody().front();
    einsum = *body.getOps<EinsumOp>().begin();
    ProductEpilogue epilogue = *matchEpilogue(einsum); // as the verifier has it
    llvm::SmallPtrSet<Operation *, 32> ops(epilogue.ops.begin(), epilogue.ops.end());
    builder.setInsertionPointToEnd(block);
    for (Operation &op : body)
      if (ops.contains(&op)) {
        llvm::for_each(op.getOperands(), [&](Value operand) { read(operand); });
        builder.clone(op, mapping);
      }
    SmallVector<Value> results, outs;
    for (auto [out, value] : llvm::zip(gemm.getOuts(), body.getTerminator()->getOperands()))
      if (ops.contains(value.getDefiningOp())) {
        outs.push_back(out);
        results.push_back(mapping.lookup(value));
      }
    builder.create<YieldOp>(gemm.getLoc(), results);
    return wrap(outs);
  }

private:
  void read(Value value) {
    if (mapping.contains(value))
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      mapping.map(value, addInput(gemm.getIns()[argument.getArgNumber()], value.getType()));
    } else if (value == einsum.getResult()) {
      Value stored = addInput(gemm.getOuts()[product.getC()], einsum.getType().clone(product.getTo()));
      mapping.map(value, product.getTo().isF32()
                             ? stored
                             : builder.create<arith::ExtFOp>(einsum.getLoc(), value.getType(), stored));
    }
  }

  Value addInput(Value buffer, Type type) {
    ins.push_back(buffer);
    return block->addArgument(type, gemm.getLoc());
  }

  OwningOpRef<KernelOp> wrap(ValueRange outs) {
    OpBuilder nowhere(gemm.getContext());
    ValueRange scratch = gemm.getScratch();
    auto kernel = nowhere.create<KernelOp>(gemm.getLoc(), TypeRange(), ins, outs,
                                           scratch.empty() ? scratch : scratch.drop_front(), nullptr, nullptr,
                                           nullptr, nullptr);
    kernel.getBody().push_back(block);
    return kernel;
  }

  GemmOp gemm;
  ProductAttr product;
  OpBuilder builder;
  Block *block; ///< the kernel's, in the end
  EinsumOp einsum;
  IRMapping mapping;
  SmallVector<Value> ins;
};
} // namespace

OwningOpRef<KernelOp> rank::separateEpilogue(GemmOp gemm) {
  if (gemm.getProducts().size() != 1) // of joined products none has one
    return {};
  auto product = cast<ProductAttr>(gemm.getProducts()[0]);
  return product.getEpilogue() == Epilogue::None ? OwningOpRef<KernelOp>()
                                                 : EpilogueKernel(gemm, product).build();
}
