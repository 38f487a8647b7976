//===- PadForSharding.cpp - rounds sizes up to what their shardings divide, and masks padding -----------===//
#include "ZeroPadding.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Target/Target.h"
#include "par/Transforms/Partition/Passes.h"
#include <limits>

namespace mlir::par {
#define GEN_PASS_DEF_PADFORSHARDING
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// A dimension of a value whose padding must hold something else first.
struct Mask {
  OpOperand *use;
  unsigned dim;
  double neutral;
};

struct PadForSharding : par::impl::PadForShardingBase<PadForSharding> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshAttr mesh = getMesh(module);
    if (!mesh) {
      module.emitError("par-pad-for-sharding: the module has no par.mesh; run par-set-mesh first");
      return signalPassFailure();
    }
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    PaddedSizes sizes(module, mesh, target->limits.rowElements);
    SmallVector<Mask> masks = collectMasks(module, sizes);
    // Rows are longer only where that costs nothing else.
    while (giveUpRows(sizes, masks))
      masks = collectMasks(module, sizes);
    // Masks are built with logical types, so that rounding up afterwards treats them like everything else.
    for (const Mask &mask : masks)
      apply(mask, sizes);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        pad(function, sizes);
  }

  //===--------------------------------------------------------------------===//
  // Masks
  //===--------------------------------------------------------------------===//

  static bool giveUpRows(PaddedSizes &sizes, ArrayRef<Mask> masks) {
    bool isChanged = false;
    for (const Mask &mask : masks)
      isChanged |= sizes.giveUpRows(mask.use->get(), mask.dim);
    return isChanged;
  }

  static SmallVector<Mask> collectMasks(ModuleOp module, const PaddedSizes &sizes) {
    SmallVector<Mask> masks;
    if (!sizes.padAny(module))
      return masks;
    ZeroPadding padding(module, sizes);
    padding.solve();
    module.walk([&](Operation *op) {
      if (auto exit = dyn_cast<func::ReturnOp>(op))
        collectWrites(cast<func::FuncOp>(exit->getParentOp()), exit, padding, masks);
      else if (auto rule = dyn_cast<ShardingRuleOpInterface>(op); rule && !isa<ReshardOp>(op))
        collectReductions(op, rule.getShardingRule(), padding, masks);
    });
    return masks;
  }

  /// Whatever is written to a variable has zero padding.
  static void collectWrites(func::FuncOp function, func::ReturnOp exit, const ZeroPadding &padding,
                            SmallVectorImpl<Mask> &masks) {
    for (OpOperand &use : exit->getOpOperands())
      if (getResultVariable(function, use.getOperandNumber()))
        for (int64_t dim = 0, rank = cast<RankedTensorType>(use.get().getType()).getRank(); dim < rank; ++dim)
          if (!padding.isZero(use.get(), dim))
            masks.push_back({&use, static_cast<unsigned>(dim), 0.0});
  }

  static void collectReductions(Operation *op, RuleAttr rule, const ZeroPadding &padding,
                                SmallVectorImpl<Mask> &masks) {
    for (OpOperand &use : op->getOpOperands()) {
      unsigned number = use.getOperandNumber();
      std::optional<double> neutral = cast<ShardingRuleOpInterface>(op).getPaddingNeutral(number);
      for (auto [dim, factors] : llvm::enumerate(rule.getOperands()[number].getDims())) {
        if (!neutral || factors.empty() || !padding.isPadded(use.get(), dim) ||
            !isSummed(op, rule, factors[0]))
          continue;
        if (*neutral != 0.0 || !padding.isZero(use.get(), dim))
          masks.push_back({&use, static_cast<unsigned>(dim), *neutral});
      }
    }
  }

  static bool isSummed(Operation *op, RuleAttr rule, int64_t factor) {
    if (rule.getKinds()[factor] == FactorKind::Permutation)
      return true;
    for (unsigned result = 0; result < op->getNumResults(); ++result)
      if (rule.isPending(result, factor))
        return true;
    return false;
  }

  /// select(iota < n, value, neutral).
  static void apply(const Mask &mask, PaddedSizes &sizes) {
    Operation *user = mask.use->getOwner();
    Value value = mask.use->get();
    auto type = cast<RankedTensorType>(value.getType());
    OpBuilder builder(user);
    Location loc = user->getLoc();
    ShardingAttr sharding = getSharding(value).withUnreduced({});
    auto indexType = RankedTensorType::get(type.getShape(), builder.getI32Type());
    auto keep = [&](Value built, ShardingAttr with) {
      setSharding(built, with);
      sizes.addLike(built, value);
      return built;
    };
    Value index = keep(builder.create<IotaOp>(loc, indexType, mask.dim), sharding);
    Value limit = keep(buildSplat(builder, loc, indexType, type.getDimSize(mask.dim)), sharding);
    Value valid = keep(builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, index, limit), sharding);
    Value neutral = keep(buildSplat(builder, loc, type, mask.neutral), sharding);
    Value masked = builder.create<arith::SelectOp>(loc, valid, value, neutral);
    mask.use->set(keep(masked, getSharding(value)));
  }

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  static void pad(func::FuncOp function, const PaddedSizes &sizes) {
    MLIRContext *context = function.getContext();
    auto padType = [&](Value value, ShardingAttr sharding) {
      return cast<RankedTensorType>(value.getType()).clone(sizes.getShape(value, sharding));
    };
    SmallVector<Type> arguments, results;
    SmallVector<Attribute> argumentTypes, resultTypes;
    for (auto [number, value] : llvm::enumerate(function.front().getTerminator()->getOperands())) {
      resultTypes.push_back(TypeAttr::get(value.getType()));
      results.push_back(padType(value, getResultSharding(function, number)));
    }
    for (BlockArgument argument : function.getArguments()) {
      argumentTypes.push_back(TypeAttr::get(argument.getType()));
      argument.setType(padType(argument, getSharding(argument)));
      arguments.push_back(argument.getType());
    }
    setArgumentAttrs(function, ParDialect::kGlobalTypeAttr, argumentTypes);
    setResultAttrs(function, ParDialect::kGlobalTypeAttr, resultTypes);
    function.walk([&](Operation *op) {
      if (auto reshard = dyn_cast<ReshardOp>(op))
        reshard.setLogicalAttr(DenseI64ArrayAttr::get(context, reshard.getType().getShape()));
      for (Value result : op->getResults())
        if (ShardingAttr sharding = getSharding(result))
          result.setType(padType(result, sharding));
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        resize(constant);
    });
    function.setFunctionType(FunctionType::get(context, arguments, results));
  }

  /// Only splats are split, so only they can have become larger.
  static void resize(arith::ConstantOp constant) {
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (value && type && value.isSplat() && value.getType() != type)
      constant.setValueAttr(value.resizeSplat(type));
  }
};
} // namespace
