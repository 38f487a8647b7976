//===- FormEpilogues.cpp - what a library computes behind a product, in a form of its own ---------------===//
#include "mlir/IR/IRMapping.h"
#include "par/Dialect/Par/IR/Gelu.h"
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "par/Target/Target.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_FORMEPILOGUES
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static RankedTensorType getType(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
class EpilogueFormer {
public:
  explicit EpilogueFormer(Block &block) : block(block), builder(block.getParentOp()->getContext()) {}

  void run() {
    for (EinsumOp product : llvm::to_vector(block.getOps<EinsumOp>())) {
      std::optional<GemmShape> gemm = matchGemm(product);
      if (!gemm || gemm->batch != 1)
        continue;
      if (Value sum = widenBias(product, *gemm))
        ownGelu(sum, *gemm);
      else if (rank::mayHaveAux(*gemm))
        ownGradient(product);
    }
  }

private:
  /// The sum of product and bias in f32, where it may be rounded to bf16 once; null if there is no bias.
  Value widenBias(EinsumOp product, const GemmShape &gemm) {
    Value value = product.getResult();
    auto add = value.hasOneUse() ? dyn_cast<arith::AddFOp>(*value.getUsers().begin()) : arith::AddFOp();
    if (!add || add.getLhs() == add.getRhs())
      return {};
    Value other = add.getLhs() == value ? add.getRhs() : add.getLhs();
    SmallVector<Operation *> ops;
    if (!rank::findBias(other, gemm, ops))
      return {};
    Type element = getType(value).getElementType();
    if (element.isF32())
      return add.getResult();
    Type wide = getType(value).clone(builder.getF32Type());
    product.getResult().setType(cast<RankedTensorType>(wide));
    builder.setInsertionPoint(add);
    Value bias = builder.create<arith::ExtFOp>(add.getLoc(), wide, other);
    Value sum = builder.create<arith::AddFOp>(add.getLoc(), value, bias);
    Value rounded = builder.create<arith::TruncFOp>(add.getLoc(), add.getType(), sum);
    add.replaceAllUsesWith(rounded);
    add.erase();
    return sum;
  }

  /// GELU of the sum gets ops of its own, and is of the sum before that is rounded.
  void ownGelu(Value sum, const GemmShape &gemm) {
    if (!rank::mayHaveAux(gemm))
      return;
    if (std::optional<GeluMatch> gelu = findGelu(sum))
      return own(*gelu, sum, sum);
    for (Operation *user : sum.getUsers())
      if (auto narrow = dyn_cast<arith::TruncFOp>(user))
        for (Operation *next : narrow->getUsers())
          if (auto again = dyn_cast<arith::ExtFOp>(next))
            if (std::optional<GeluMatch> gelu = findGelu(again.getResult()))
              return own(*gelu, again.getResult(), sum);
  }

  void ownGradient(EinsumOp product) {
    if (std::optional<GeluMatch> gradient = findGeluGradient(product.getResult()))
      own(*gradient, product.getResult(), product.getResult());
  }

  /// Copies the ops of a match, with `input` for what they were of. Who needs the old ones keeps them.
  void own(const GeluMatch &match, Value was, Value input) {
    builder.setInsertionPoint(match.result.getDefiningOp());
    IRMapping mapping;
    mapping.map(was, input);
    for (Operation *op : match.ops)
      builder.clone(*op, mapping);
    Value result = match.result;
    result.replaceAllUsesWith(mapping.lookup(result));
    for (Operation *op : llvm::reverse(match.ops))
      if (op->use_empty())
        op->erase();
    if (Operation *wide = was.getDefiningOp(); wide && isa<arith::ExtFOp>(wide) && wide->use_empty())
      removeRounding(wide);
  }

  static void removeRounding(Operation *wide) {
    Operation *narrow = wide->getOperand(0).getDefiningOp();
    wide->erase();
    if (narrow->use_empty())
      narrow->erase();
  }

  Block &block;
  OpBuilder builder;
};

struct FormEpilogues : par::impl::FormEpiloguesBase<FormEpilogues> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (!getOperation().isExternal() && target->limits.hasEpilogues)
      EpilogueFormer(getOperation().front()).run();
  }
};
} // namespace
