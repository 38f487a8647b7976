//===- FactorAssignment.cpp - which axes split which factor of an op ------------------------------------===//
#include "par/Sharding/FactorAssignment.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Sharding/ReshardCost.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

DimAxes par::getDimAxes(ShardingAttr sharding) {
  DimAxes dims;
  for (DimShardingAttr dim : sharding.getDims())
    dims.emplace_back(dim.getAxes());
  return dims;
}

ShardingAttr par::makeSharding(MLIRContext *context, StringRef mesh, const DimAxes &dims,
                               ArrayRef<StringAttr> unreduced) {
  return ShardingAttr::get(context, mesh, dims, unreduced);
}

DimAxes par::projectFactors(TensorFactorsAttr tensor, const FactorAxes &factors) {
  DimAxes dims;
  for (DenseI64ArrayAttr dim : tensor.getDims())
    dims.push_back(dim.empty() ? Axes() : factors[dim[0]]);
  return dims;
}

FactorAxes par::readFactors(RuleAttr rule, ArrayRef<ShardingAttr> operands, ArrayRef<ShardingAttr> results) {
  FactorAxes factors(rule.getNumFactors());
  auto read = [&](ArrayRef<TensorFactorsAttr> tensors, ArrayRef<ShardingAttr> shardings) {
    for (auto [tensor, sharding] : llvm::zip(tensors, shardings))
      for (auto [dim, numbers] : llvm::enumerate(tensor.getDims()))
        if (!numbers.empty() && factors[numbers[0]].empty())
          factors[numbers[0]] = Axes(sharding.getAxes(dim));
  };
  read(rule.getOperands(), operands);
  read(rule.getResults(), results);
  return factors;
}

Axes par::pendingAxes(RuleAttr rule, const FactorAxes &factors, unsigned result) {
  Axes pending;
  for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
    if (rule.isPending(result, factor))
      llvm::append_range(pending, factors[factor]);
  return pending;
}

namespace {
/// Builds assignments for one op and weighs them.
class Assigner {
public:
  explicit Assigner(const ShardedOp &op) : op(op) {
    for (int64_t factor = 0; factor < op.rule.getNumFactors(); ++factor) {
      maySplit.push_back(op.rule.maySplit(factor));
      compound.push_back(isCompound(factor));
    }
    SmallVector<int64_t> bytes;
    for (ArrayRef<RankedTensorType> types : {ArrayRef(op.operandTypes), ArrayRef(op.resultTypes)})
      for (RankedTensorType type : types)
        bytes.push_back(getTensorBytes(type));
    bySize.resize(bytes.size());
    std::iota(bySize.begin(), bySize.end(), 0);
    llvm::stable_sort(bySize, [&](unsigned a, unsigned b) { return bytes[a] > bytes[b]; });
  }

  FactorAxes best() {
    if (bySize.empty())
      return FactorAxes(op.rule.getNumFactors());
    FactorAxes winner = assign(0);
    std::optional<double> least; // most often all want the same, and nothing is weighed
    for (unsigned first = 1; first < bySize.size(); ++first) {
      FactorAxes candidate = assign(first);
      if (candidate == winner)
        continue;
      least = least ? *least : weigh(winner);
      double cost = weigh(candidate);
      if (cost < *least) {
        winner = std::move(candidate);
        least = cost;
      }
    }
    return winner;
  }

private:
  bool isCompound(int64_t factor) const {
    auto shares = [&](TensorFactorsAttr tensor) {
      return llvm::any_of(tensor.getDims(),
                          [&](DenseI64ArrayAttr dim) { return dim.size() > 1 && dim[0] == factor; });
    };
    return llvm::any_of(op.rule.getOperands(), shares) || llvm::any_of(op.rule.getResults(), shares);
  }

  TensorFactorsAttr getFactors(unsigned tensor) const {
    return tensor < op.operands.size() ? op.rule.getOperands()[tensor]
                                       : op.rule.getResults()[tensor - op.operands.size()];
  }
  const DimAxes &getAxes(unsigned tensor) const {
    return tensor < op.operands.size() ? op.operands[tensor] : op.results[tensor - op.operands.size()];
  }

  /// Adds what `tensor` wants, as far as nobody before it wanted otherwise.
  void propose(unsigned tensor, FactorAxes &factors, llvm::SmallPtrSetImpl<const void *> &used) const {
    for (auto [dim, numbers] : llvm::enumerate(getFactors(tensor).getDims())) {
      if (numbers.empty() || !maySplit[numbers[0]])
        continue;
      int64_t factor = numbers[0];
      ArrayRef<StringAttr> wanted = getAxes(tensor)[dim];
      Axes &have = factors[factor];
      if (wanted.size() <= have.size() || ArrayRef<StringAttr>(have) != wanted.take_front(have.size()))
        continue;
      for (StringAttr axis : wanted.drop_front(have.size())) {
        int64_t shards = op.mesh.getSize(have) * op.mesh.getSize(axis.getValue());
        if (used.contains(axis.getAsOpaquePointer()) ||
            (compound[factor] && op.rule.getSizes()[factor] % shards))
          break;
        have.push_back(axis);
        used.insert(axis.getAsOpaquePointer());
      }
    }
  }

  /// `first`, then the others from the largest to the smallest.
  FactorAxes assign(unsigned first) const {
    FactorAxes factors(op.rule.getNumFactors());
    llvm::SmallPtrSet<const void *, 8> used;
    propose(first, factors, used);
    for (unsigned tensor : bySize)
      if (tensor != first)
        propose(tensor, factors, used);
    return factors;
  }

  /// Bytes to bring operands and results where the assignment wants them, and the work that is not divided.
  double weigh(const FactorAxes &factors) const {
    double cost = 0, shards = 1;
    for (auto [number, type] : llvm::enumerate(op.operandTypes))
      cost += getReshardBytes(type, op.operands[number], {},
                              projectFactors(op.rule.getOperands()[number], factors), op.mesh);
    for (auto [number, type] : llvm::enumerate(op.resultTypes)) {
      DimAxes natural = projectFactors(op.rule.getResults()[number], factors);
      cost += getReshardBytes(type, natural, pendingAxes(op.rule, factors, number),
                              op.freeResults[number] ? natural : op.results[number], op.mesh);
    }
    for (const Axes &axes : factors)
      shards *= op.mesh.getSize(axes);
    return cost + op.flops / shards / op.flopsPerByte;
  }

  const ShardedOp &op;
  SmallVector<bool> maySplit, compound;
  SmallVector<unsigned> bySize; ///< operands, then results, the largest first
};
} // namespace

ShardedOp par::describeOp(Operation *op, RuleAttr rule, MeshAttr mesh, double flopsPerByte,
                          llvm::function_ref<DimAxes(Value)> getAxes) {
  SmallVector<bool> freeResults(op->getNumResults(), false);
  ShardedOp sharded{rule, mesh, {}, {}, {}, {}, freeResults, 0, flopsPerByte};
  for (Value operand : op->getOperands()) {
    sharded.operands.push_back(getAxes(operand));
    sharded.operandTypes.push_back(cast<RankedTensorType>(operand.getType()));
  }
  for (Value result : op->getResults()) {
    sharded.results.push_back(getAxes(result));
    sharded.resultTypes.push_back(cast<RankedTensorType>(result.getType()));
  }
  if (auto cost = dyn_cast<CostOpInterface>(op))
    sharded.flops = cost.getFlops();
  return sharded;
}

FactorAxes par::assignFactors(const ShardedOp &op) { return Assigner(op).best(); }
