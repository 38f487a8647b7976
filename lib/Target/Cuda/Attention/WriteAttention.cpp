//===- WriteAttention.cpp - kernels of an attention -----------------------------------------------===//
#include "WriteAttention.h"
#include "LibraryAttention.h"
#include "par/Target/Target.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class AttentionWriter {
public:
  AttentionWriter(OpBuilder &builder, rank::AttentionOp work, const AttentionCall &call, bool isAligned)
      : builder(builder), work(work), call(call), isAligned(isAligned) {}

  LogicalResult write(StringRef name, AttentionPass pass, function_ref<void(const AttentionTask &)> writer) {
    std::optional<AttentionPlan> plan = planAttention(call, pass);
    if (!plan)
      return work.emitOpError("attention on a GPU: a head has ")
             << describeHead() << " of " << call.type << ", expected at most " << findLargestHead(pass)
             << ", of which tiles fit into the shared memory of a block";
    OpBuilder::InsertionGuard guard(builder);
    writer({builder, work, name, call, *plan, isAligned});
    return success();
  }

private:
  std::string describeHead() const {
    std::string elements = std::to_string(call.headDim) + " elements";
    return call.valueDim == call.headDim
               ? elements
               : elements + " of keys and " + std::to_string(call.valueDim) + " of values";
  }

  /// The largest head that fits, with keys and values of one size.
  int64_t findLargestHead(AttentionPass pass) const {
    AttentionCall smaller = call;
    smaller.headDim = smaller.valueDim = std::max(call.headDim, call.valueDim);
    while (!planAttention(smaller, pass))
      smaller.valueDim = --smaller.headDim;
    return smaller.headDim;
  }

  OpBuilder &builder;
  rank::AttentionOp work;
  const AttentionCall &call;
  bool isAligned;
};
} // namespace

/// What computes it: its kernels, or a library where it can; else why it cannot.
static void describeChoice(func::FuncOp function, const AttentionCall &call, rank::AttentionOp work,
                           bool isAligned) {
  std::string problem = isAligned ? findLibraryProblem(call) : "buffers at no multiples of 16 bytes";
  auto planned = static_cast<int64_t>(work.getScratch().size()) - call.isBackward;
  if (problem.empty() && planned < (getLibraryBytes(work) ? 1 : 0))
    problem = "no workspace";
  Builder builder(function.getContext());
  NamedAttrList how(function->getAttrOfType<DictionaryAttr>(kLaunchAttr));
  if (problem.empty())
    how.set(launch::kLibrary, describeLibraryCall(builder, function.getName(), call, work));
  else
    how.set(launch::kReason, builder.getStringAttr("no cuDNN: " + problem));
  function->setAttr(kLaunchAttr, how.getDictionary(function.getContext()));
}

FailureOr<func::FuncOp> par::writeAttention(OpBuilder &builder, rank::AttentionOp work, StringRef name,
                                            bool isAligned) {
  FailureOr<AttentionCall> call = readAttention(work);
  if (failed(call))
    return failure();
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  AttentionWriter writer(builder, work, *call, isAligned);
  LogicalResult result = success();
  if (!call->isBackward)
    result = writer.write(name, AttentionPass::Forward, writeForwardKernel);
  else if (succeeded(result = writer.write(name, AttentionPass::Queries, writeQueryGradientKernel)))
    result = writer.write(getKeyGradientName(name), AttentionPass::Keys, writeKeyGradientKernel);
  if (failed(result))
    return failure();
  auto function = module.lookupSymbol<func::FuncOp>(name);
  describeChoice(function, *call, work, isAligned);
  return function;
}
