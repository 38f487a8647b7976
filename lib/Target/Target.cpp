//===- Target.cpp - the targets that are built --------------------------------------------------------===//
#include "par/Target/Target.h"
#include "Cpu/CpuTarget.h"
#include "Cuda/CudaTarget.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include <array>

using namespace mlir;
using namespace mlir::par;

static std::array<const Target *, 2> &getTargets() {
  static const CpuTarget cpu;
  static const CudaTarget cuda;
  static std::array<const Target *, 2> targets = {&cpu, &cuda};
  return targets;
}

const Target *par::findTarget(TargetKind kind) { return getTargets()[static_cast<size_t>(kind)]; }
void par::setTarget(const Target &target) { getTargets()[static_cast<size_t>(target.kind)] = &target; }

const Target *par::getTarget(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  PlanAttr plan = module ? getPlan(module) : PlanAttr();
  TargetKind kind = plan ? plan.getPlan().target : Plan().target;
  return findTarget(kind);
}
