//===- CollectiveOps.cpp - exchange of data between ranks: constraints ----------------------------------===//
// What the collectives compute is in CollectiveSemantics.cpp.
#include "par/Dialect/Par/IR/Par.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/CollectiveOps.cpp.inc"

namespace {

/// Collects every violation of one collective. Shapes are checked only once the group is known.
class CollectiveVerifier {
public:
  CollectiveVerifier(Operation *op, ArrayAttr axes)
      : op(op), inputs(op->getOperandTypes()), results(op->getResultTypes()) {
    verifyAxes(axes);
    verifyPairs();
    verifyStarted();
  }

  /// The result is the operand but for dimension `dim`: times n where `grow`, else divided by n.
  CollectiveVerifier &scaled(StringRef code, int64_t dim, bool grow) {
    return checkShapes(code, [=](SmallVectorImpl<int64_t> &shape) { return scale(code, shape, dim, grow); });
  }

  CollectiveVerifier &split(StringRef code, int64_t split, int64_t concat) {
    return checkShapes(code, [=](SmallVectorImpl<int64_t> &shape) {
      return scale(code, shape, split, /*grow=*/false) && scale(code, shape, concat, /*grow=*/true);
    });
  }

  CollectiveVerifier &equal(StringRef code) {
    return checkShapes(code, [](SmallVectorImpl<int64_t> &) { return true; });
  }

  CollectiveVerifier &member(StringRef code, int64_t root) {
    if (members > 0 && (root < 0 || root >= members))
      error(code) << "root " << root << " is not a member of the group of " << members;
    return *this;
  }

  CollectiveVerifier &permutation(StringRef code, ArrayRef<int64_t> targets) {
    if (members == 0)
      return *this;
    if (static_cast<int64_t>(targets.size()) != members)
      error(code) << targets.size() << " entries for a group of " << members;
    llvm::SmallDenseSet<int64_t> seen;
    for (int64_t target : targets) {
      if (target < -1 || target >= members)
        error(code) << "entry " << target << " is neither -1 nor a member of the group of " << members;
      else if (target >= 0 && !seen.insert(target).second)
        error(code) << "member " << target << " receives twice";
    }
    return *this;
  }

  LogicalResult result() const { return success(valid); }

private:
  InFlightDiagnostic error(StringRef code) {
    valid = false;
    return op->emitOpError(code) << ": ";
  }

  /// (collective_c1)
  void verifyAxes(ArrayAttr axes) {
    MeshAttr mesh = getMesh(op);
    if (!mesh) {
      error("collective_c1") << "the module has no par.mesh";
      return;
    }
    if (axes.empty())
      error("collective_c1") << "needs at least one mesh axis";
    llvm::SmallDenseSet<Attribute> seen;
    int64_t size = 1;
    for (Attribute axis : axes) {
      StringRef name = cast<StringAttr>(axis).getValue();
      if (!mesh.hasAxis(name))
        error("collective_c1") << "axis \"" << name << "\" is not one of the mesh " << mesh;
      if (!seen.insert(axis).second)
        error("collective_c1") << "axis \"" << name << "\" is listed twice";
      size *= mesh.getSize(name);
    }
    members = valid ? size : 0;
  }

  /// (collective_c2)
  void verifyPairs() {
    paired = inputs.size() == results.size() && !inputs.empty();
    if (!paired)
      error("collective_c2") << inputs.size() << " operands and " << results.size()
                             << " results, expected as many and at least one";
    for (auto [number, types] : llvm::enumerate(llvm::zip(inputs, results))) {
      Type from = cast<RankedTensorType>(std::get<0>(types)).getElementType();
      Type to = cast<RankedTensorType>(std::get<1>(types)).getElementType();
      if (from != to)
        error("collective_c2") << "tensor " << number << " goes from element type " << from << " to " << to;
    }
  }

  /// (collective_c3)
  void verifyStarted() {
    if (!op->hasAttr(ParDialect::kStartedAttr))
      return;
    if (!endsInOneWait(op))
      error("collective_c3") << "is started, so its results must be the operands of one par.wait of its "
                                "block, in order, and of nothing else";
  }

  bool scale(StringRef code, SmallVectorImpl<int64_t> &shape, int64_t dim, bool grow) {
    if (dim < 0 || dim >= static_cast<int64_t>(shape.size())) {
      error(code) << "dimension " << dim << " does not exist in a tensor of rank " << shape.size();
      return false;
    }
    if (!grow && shape[dim] % members != 0) {
      error(code) << "dimension " << dim << " of size " << shape[dim] << " is not a multiple of the "
                  << members << " members";
      return false;
    }
    if (!grow)
      shape[dim] /= members;
    else if (llvm::MulOverflow(shape[dim], members, shape[dim])) {
      error(code) << "dimension " << dim << " of " << members << " members together cannot be counted";
      return false;
    }
    return true;
  }

  /// `expect` turns an operand's shape into the result's.
  CollectiveVerifier &checkShapes(StringRef code,
                                  llvm::function_ref<bool(SmallVectorImpl<int64_t> &)> expect) {
    if (members == 0 || !paired)
      return *this;
    for (auto [number, types] : llvm::enumerate(llvm::zip(inputs, results))) {
      auto from = cast<RankedTensorType>(std::get<0>(types)), to = cast<RankedTensorType>(std::get<1>(types));
      SmallVector<int64_t> shape(from.getShape());
      if (expect(shape) && to.getShape() != ArrayRef<int64_t>(shape))
        error(code) << "result " << number << " is " << to << ", expected " << from.clone(shape) << " for "
                    << members << " members";
    }
    return *this;
  }

  Operation *op;
  TypeRange inputs, results;
  int64_t members = 0; ///< 0 while the group is not known
  bool valid = true, paired = true;
};

} // namespace

LogicalResult AllReduceOp::verify() {
  return CollectiveVerifier(*this, getAxes()).equal("all_reduce_c1").result();
}

LogicalResult ReduceScatterOp::verify() {
  return CollectiveVerifier(*this, getAxes()).scaled("reduce_scatter_c1", getDim(), /*grow=*/false).result();
}

LogicalResult AllGatherOp::verify() {
  return CollectiveVerifier(*this, getAxes()).scaled("all_gather_c1", getDim(), /*grow=*/true).result();
}

LogicalResult AllToAllOp::verify() {
  return CollectiveVerifier(*this, getAxes()).split("all_to_all_c1", getSplit(), getConcat()).result();
}

LogicalResult PermuteOp::verify() {
  return CollectiveVerifier(*this, getAxes())
      .permutation("permute_c1", getPermutation())
      .equal("permute_c2")
      .result();
}

LogicalResult CollectiveBroadcastOp::verify() {
  return CollectiveVerifier(*this, getAxes())
      .member("collective_broadcast_c1", getRoot())
      .equal("collective_broadcast_c2")
      .result();
}

LogicalResult ReduceToOp::verify() {
  return CollectiveVerifier(*this, getAxes())
      .member("reduce_to_c1", getRoot())
      .equal("reduce_to_c2")
      .result();
}

LogicalResult GatherOp::verify() {
  return CollectiveVerifier(*this, getAxes())
      .member("gather_c1", getRoot())
      .scaled("gather_c2", getDim(), /*grow=*/true)
      .result();
}

LogicalResult ScatterOp::verify() {
  return CollectiveVerifier(*this, getAxes())
      .member("scatter_c1", getRoot())
      .scaled("scatter_c2", getDim(), /*grow=*/false)
      .result();
}

LogicalResult AllSliceOp::verify() {
  return CollectiveVerifier(*this, getAxes()).scaled("all_slice_c1", getDim(), /*grow=*/false).result();
}

bool par::endsInOneWait(Operation *started) {
  Operation *first = started->use_empty() ? nullptr : *started->getUsers().begin();
  return first && llvm::all_of(started->getUsers(), [&](Operation *user) { return user == first; }) &&
         isa<WaitOp>(first) && first->getBlock() == started->getBlock() &&
         first->getOperands() == ValueRange(started->getResults());
}

LogicalResult WaitOp::verify() {
  Operation *started = getStarted().empty() ? nullptr : getStarted().front().getDefiningOp();
  if (!started || !isa<CollectiveOpInterface, TransferOp>(started) ||
      !started->hasAttr(ParDialect::kStartedAttr) || getOperands() != ValueRange(started->getResults()))
    return emitOpError(
        "wait_c1: the operands must be all results of one collective or transfer with par.started, in order");
  if (getOperandTypes() != getResultTypes())
    return emitOpError("wait_c2: results have the types (")
           << getResultTypes() << "), expected those of the operands, (" << getOperandTypes() << ")";
  return success();
}
