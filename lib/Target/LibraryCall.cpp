//===- LibraryCall.cpp - how targets compute ops of libraries -------------------------------------------===//
#include "par/Target/LibraryCall.h"
#include "Cpu/Attention.h"
#include "Cuda/Attention/AttentionLibraryCall.h"
#include <map>

using namespace mlir;
using namespace mlir::par;

using Calls = std::map<std::pair<TargetKind, std::string>, std::unique_ptr<LibraryCall>>;

/// Those that are built.
static Calls &getCalls() {
  static Calls calls = [] {
    Calls built;
    for (StringRef op : {AttentionOp::getOperationName(), AttentionBackwardOp::getOperationName()}) {
      built[{TargetKind::Cpu, op.str()}] = createCpuAttention();
      built[{TargetKind::Cuda, op.str()}] = createCudaAttention();
    }
    return built;
  }();
  return calls;
}

void par::registerLibraryCall(TargetKind target, StringRef op, std::unique_ptr<LibraryCall> call) {
  getCalls()[{target, op.str()}] = std::move(call);
}

const LibraryCall *par::findLibraryCall(TargetKind target, rank::LibraryWorkInterface work) {
  LibraryOpInterface content = work.getContent();
  auto found = getCalls().find({target, content->getName().getStringRef().str()});
  return found == getCalls().end() ? nullptr : found->second.get();
}

const LibraryCall *par::getLibraryCall(TargetKind target, rank::LibraryWorkInterface work) {
  const LibraryCall *call = findLibraryCall(target, work);
  if (!call)
    work->emitOpError("no call of a library on the target ")
        << getName(target) << " computes " << work.getContent()->getName()
        << ", expected one (registerLibraryCall); compile for a target that has one";
  return call;
}

SmallVector<LibraryList> par::getLibraryLists(TargetKind target) {
  std::map<StringRef, LibraryList> lists;
  for (auto &[key, call] : getCalls())
    if (std::optional<LibraryList> list = call->getList(); list && key.first == target)
      lists.emplace(list->name, *list);
  SmallVector<LibraryList> all;
  for (auto &[name, list] : lists)
    all.push_back(list);
  return all;
}

SmallVector<int64_t> Target::getLibraryBytes(rank::LibraryWorkInterface work) const {
  const LibraryCall *call = findLibraryCall(kind, work);
  return call ? call->getScratchBytes(work) : SmallVector<int64_t>();
}

LogicalResult LibraryCall::emitCall(CallBuilder &, rank::LibraryWorkInterface work) const {
  return work->emitOpError("is computed by a device's program alone, expected a call for the host's");
}

FailureOr<func::FuncOp> LibraryCall::writeKernel(OpBuilder &, rank::LibraryWorkInterface work, StringRef,
                                                 bool) const {
  return work->emitOpError("is computed by the host alone, expected kernels for the device's program");
}
