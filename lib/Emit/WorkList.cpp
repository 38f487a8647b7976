//===- WorkList.cpp - what a program's work costs -------------------------------------------------------===//
#include "WorkList.h"
#include "par/Cost/WorkOps.h"
#include "par/Emit/StepWork.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

/// The ops that say what a kernel is about; what only moves or numbers elements does not, where anything else
/// is there.
static std::string getKernelClass(rank::KernelOp kernel) {
  llvm::SetVector<StringRef> names;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<AdamWOp, SgdOp>(op))
      return "update";
    OpClass opClass = getOpClass(&op);
    bool isMath = isa<arith::ArithDialect, math::MathDialect>(op.getDialect());
    if (!isMath && opClass != OpClass::Repeats && opClass != OpClass::View && opClass != OpClass::Index)
      names.insert(op.getName().stripDialect());
  }
  return "kernel " + (names.empty() ? "elementwise" : llvm::join(names, "+"));
}

static std::string getCollectiveClass(CollectiveOpInterface collective) {
  MeshAttr mesh = getMesh(collective->getParentOfType<ModuleOp>());
  SmallVector<StringRef> axes = mesh.getUserAxes(collective.getCollectiveAxes());
  return (collective.getCollectiveKind() + " " + llvm::join(axes, "+")).str();
}

std::string par::getWorkClass(Operation *op) {
  if (isa<rank::CopyOp>(op))
    return "copy";
  if (isa<rank::GemmOp>(op))
    return "gemm";
  if (auto kernel = dyn_cast<rank::KernelOp>(op))
    return getKernelClass(kernel);
  if (auto library = dyn_cast<rank::LibraryWorkInterface>(op))
    return library.getContent().getProfileClass().str();
  Operation *content = &cast<rank::WorkOpInterface>(op).getBody().front().front();
  if (auto collective = dyn_cast<CollectiveOpInterface>(content))
    return getCollectiveClass(collective);
  return content->getName().stripDialect().str();
}

json::Array par::describeWork(ModuleOp module, llvm::function_ref<int64_t(rank::FuncOp)> times) {
  json::Array list;
  MeshAttr mesh = getMesh(module);
  for (auto function : module.getOps<rank::FuncOp>())
    for (Operation &op : function.getBody().front()) {
      if (!op.hasAttr("work"))
        continue;
      OpCost cost = estimateWorkCost(&op, mesh);
      list.push_back(json::Object{{"class", getWorkClass(&op)},
                                  {"flops", cost.flops},
                                  {"bytes", cost.bytes + cost.gathered},
                                  {"times", times(function)}});
    }
  return list;
}

namespace {
struct ClassTotal {
  std::optional<WorkKind> kind;
  int64_t calls = 0, launches = 0;
  double bytes = 0, flops = 0;
};
} // namespace

json::Array par::summarizeWork(ModuleOp module, const Target &target,
                               llvm::function_ref<int64_t(rank::FuncOp)> times) {
  llvm::StringMap<ClassTotal> totals;
  MeshAttr mesh = getMesh(module);
  for (auto function : module.getOps<rank::FuncOp>()) {
    int64_t calls = times(function);
    for (Operation &op : function.getBody().front()) {
      if (calls == 0 || !op.hasAttr("work"))
        continue;
      ClassTotal &total = totals[getWorkClass(&op)];
      OpCost cost = estimateWorkCost(&op, mesh);
      total.kind = rank::getWorkKind(&op);
      total.calls += calls;
      total.bytes += static_cast<double>(calls) * (cost.bytes + cost.gathered);
      total.flops += static_cast<double>(calls) * cost.flops;
      if (total.kind)
        total.launches += calls * target.countLaunches(cast<rank::WorkOpInterface>(op));
    }
  }
  std::vector<std::pair<StringRef, ClassTotal>> sorted;
  for (auto &entry : totals)
    sorted.push_back({entry.getKey(), entry.getValue()});
  llvm::sort(sorted, [](auto &a, auto &b) {
    return std::pair(-a.second.bytes, a.first) < std::pair(-b.second.bytes, b.first);
  });
  json::Array list;
  for (auto &[name, total] : sorted) {
    json::Object entry{
        {"class", name.str()}, {"calls", total.calls}, {"bytes", total.bytes}, {"flops", total.flops}};
    if (total.kind)
      entry["kind"] = getName(*total.kind);
    if (target.hasDeviceProgram)
      entry["launches"] = total.launches;
    list.push_back(std::move(entry));
  }
  return list;
}
