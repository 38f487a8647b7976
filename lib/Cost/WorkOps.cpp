//===- WorkOps.cpp - what the ops of rank programs compute and exchange ---------------------------------===//
#include "par/Cost/WorkOps.h"
#include "par/Cost/LibraryModel.h"
#include "par/Dialect/Par/IR/Sizes.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

static FloatKind getKind(Type type) { return type.isBF16() ? FloatKind::BF16 : FloatKind::F32; }

static std::vector<ProductShape> describeProducts(rank::GemmOp gemm) {
  std::vector<ProductShape> shapes;
  for (rank::ProductAttr product : gemm.getProducts().getAsRange<rank::ProductAttr>())
    shapes.push_back(
        {getKind(product.getFrom()), product.getBatch(), product.getM(), product.getN(), product.getK()});
  return shapes;
}

static bool isTranspose(Operation *op) {
  auto kernel = dyn_cast<rank::KernelOp>(op);
  return kernel && llvm::all_of(kernel.getBody().front().without_terminator(), llvm::IsaPred<TransposeOp>);
}

Computation par::describeComputation(Operation *op) {
  Computation work;
  if (auto copy = dyn_cast<rank::CopyOp>(op)) {
    work.bytes = 2 * static_cast<double>(copy.getSource().getType().getBytes());
    work.onHost = copy.getSource().getType().getSpace() == rank::Space::Host;
    return work;
  }
  auto computes = cast<rank::WorkOpInterface>(op);
  for (OperandRange buffers : {computes.getIns(), computes.getOuts()})
    for (Value buffer : buffers) {
      work.bytes += static_cast<double>(rank::getBytes(buffer));
      work.onHost |= cast<rank::BufferType>(buffer.getType()).getSpace() == rank::Space::Host;
    }
  op->walk([&](CostOpInterface inner) { work.flops += inner.getFlops(); });
  work.transposes = isTranspose(op);
  if (auto gemm = dyn_cast<rank::GemmOp>(op))
    work.products = describeProducts(gemm);
  else if (auto library = dyn_cast<rank::LibraryWorkInterface>(op))
    work.library = findLibraryModel(library);
  return work;
}

//===----------------------------------------------------------------------===//
// Exchanging
//===----------------------------------------------------------------------===//

/// Nothing for a permutation, in which each rank sends to one. Those with a root take as long as those in
/// which all ranks are one.
static std::optional<CollectiveKind> getKind(Operation *collective) {
  if (isa<PermuteOp>(collective))
    return std::nullopt;
  if (isa<AllReduceOp>(collective))
    return CollectiveKind::AllReduce;
  if (isa<ReduceScatterOp, ReduceToOp>(collective))
    return CollectiveKind::ReduceScatter;
  if (isa<AllToAllOp>(collective))
    return CollectiveKind::AllToAll;
  return CollectiveKind::AllGather;
}

Exchange par::describeExchange(Operation *work, MeshAttr mesh) {
  auto content = cast<CollectiveOpInterface>(cast<rank::WorkOpInterface>(work).getBody().front().front());
  Exchange exchange;
  exchange.kind = getKind(content);
  exchange.bytes = static_cast<double>(
      std::max(getTensorBytes(content->getOperandTypes()), getTensorBytes(content->getResultTypes())));
  exchange.wireBytes = content.getWireBytes(countMembers(content, mesh));
  for (StringRef name : content.getCollectiveAxes())
    exchange.axes.push_back(static_cast<size_t>(mesh.getPosition(name)));
  llvm::sort(exchange.axes);
  return exchange;
}

Exchange par::describeExchange(rank::ExchangeOp entry, MeshAttr mesh) {
  Exchange exchange;
  for (Value buffer : entry.getBuffers())
    exchange.bytes += static_cast<double>(rank::getBytes(buffer));
  exchange.wireBytes = exchange.bytes;
  exchange.axes.push_back(static_cast<size_t>(mesh.getPosition(getAxisName(AxisRole::Pipeline))));
  if (isSum(entry.getKind())) {
    exchange.kind = CollectiveKind::AllReduce;
    llvm::append_range(exchange.coordinates, entry.getStages());
    auto members = static_cast<double>(exchange.coordinates.size());
    exchange.wireBytes *= 2 * (members - 1) / members;
  }
  return exchange;
}

std::optional<double> par::findTransferBytes(Operation *op) {
  if (auto copy = dyn_cast<rank::CopyOp>(op)) {
    bool isTransfer = copy.getSource().getType().getSpace() != copy.getTarget().getType().getSpace();
    return isTransfer ? std::optional(static_cast<double>(copy.getSource().getType().getBytes()))
                      : std::nullopt;
  }
  if (!rank::isStartedTransfer(op))
    return std::nullopt;
  double bytes = 0;
  for (Value buffer : cast<rank::WorkOpInterface>(op).getIns())
    bytes += static_cast<double>(rank::getBytes(buffer));
  return bytes;
}

OpCost par::estimateWorkCost(Operation *work, MeshAttr mesh) {
  OpCost cost;
  if (rank::isCollective(work)) {
    cost.gathered = describeExchange(work, mesh).wireBytes;
    return cost;
  }
  Computation computation = describeComputation(work);
  cost.flops = computation.flops;
  cost.bytes = computation.bytes;
  return cost;
}
