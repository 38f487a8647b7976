//===- PipelineTest.cpp - what is found is the best of what the pipeline makes of all annotations -------===//
#include "Graphs.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

namespace {

constexpr const char *kNames[] = {"table", "gate", "up", "down", "square"};
using Annotation = std::map<std::string, Layout>;
constexpr int64_t kRanks = 2;

std::string printCompute(Layout layout) {
  std::string dims = layout == kWhole ? "{}, {}" : layout == 0 ? "{\"tp\"}, {}" : "{}, {\"tp\"}";
  return ", compute = #par.sharding<@mesh, [" + dims + "]>";
}

/// Seconds of a local function: collectives, products and what else is more than elementwise.
double getSeconds(func::FuncOp function, const DeviceRates &rates, SymbolTable &symbols) {
  double seconds = 0;
  function.walk([&](Operation *op) {
    if (auto call = dyn_cast<CallOp>(op))
      seconds += getSeconds(symbols.lookup<func::FuncOp>(call.getCallee()), rates, symbols);
    OpCost cost;
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      cost.gathered = collective.getWireBytes(countMembers(collective, getMesh(op)));
    else if (auto costed = dyn_cast<CostOpInterface>(op))
      cost.flops = costed.getFlops();
    auto kernel = dyn_cast<KernelOpInterface>(op);
    if (kernel && !isElementwise(op) && !isa<CollectiveOpInterface>(op) &&
        kernel.getKernelKind() != KernelKind::View)
      cost.bytes =
          static_cast<double>(getTensorBytes(op->getOperandTypes()) + getTensorBytes(op->getResultTypes()));
    seconds += par::getSeconds(cost, rates);
  });
  return seconds;
}

/// What a step takes on a rank once it is partitioned, by the collectives that are there then: for every
/// device.
std::vector<double> measure(const Annotation &annotation, ArrayRef<DeviceRates> devices) {
  TestContext context;
  std::map<std::string, std::string> texts;
  for (auto &[name, layout] : annotation)
    texts[name] = printCompute(layout);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(writeOddGraph(kRanks, texts), &context);
  PassManager manager(&context);
  bool isWritten = succeeded(
      parsePassPipeline("par-shard-data,par-propagate-shardings,par-differentiate-pipeline{evaluation=false},"
                        "par-propagate-shardings,par-partition-pipeline",
                        manager));
  EXPECT_TRUE(isWritten && succeeded(manager.run(*module)));
  SymbolTable symbols(*module);
  double elements = 0;
  for (auto variable : module->getOps<VariableOp>())
    if (variable.getRole() == Role::Parameter)
      elements += static_cast<double>(variable.getComputeAttr()
                                          .getLocalType(variable.getTensorType(), getMesh(*module))
                                          .getNumElements());
  std::vector<double> all;
  for (const DeviceRates &rates : devices) {
    double &seconds = all.emplace_back(40 * elements / rates.memory);
    for (auto function : module->getOps<func::FuncOp>())
      if (isPhase(function, Phase::Forward) || isPhase(function, Phase::Backward))
        seconds += getSeconds(function, rates, symbols);
  }
  return all;
}

/// Every parameter whole, or split along either dimension: 243 annotations.
std::vector<Annotation> listAnnotations() {
  std::vector<Annotation> all = {{}};
  for (const char *name : kNames) {
    std::vector<Annotation> longer;
    for (const Annotation &annotation : all)
      for (Layout layout : {kWhole, Layout(0), Layout(1)}) {
        longer.push_back(annotation);
        longer.back()[name] = layout;
      }
    all = std::move(longer);
  }
  return all;
}

Annotation search(const DeviceRates &rates) {
  TestContext context;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(writeOddGraph(kRanks), &context);
  FailureOr<ShardingProblem> problem = describeProblem(*module, StringAttr::get(&context, "tp"));
  llvm::Expected<FoundShardings> found = searchShardings(*problem, rates, {1 << 20});
  if (found)
    return getLayouts(*problem, *found);
  ADD_FAILURE() << llvm::toString(found.takeError());
  return {};
}

/// Nothing of it is of the search's model: the pipeline decides where collectives are, and of what size.
TEST(Pipeline, foundIsBestOfAllAnnotations) {
  constexpr DeviceRates devices[] = {{1e9, 1e10, 1e9, 1e-7},  {1e12, 1e8, 1e9, 1e-7}, {1e12, 1e12, 1e8, 1e-5},
                                     {1e10, 1e10, 1e9, 1e-6}, {3e9, 1e9, 1e9, 3e-6},  {1e10, 1e9, 1e9, 1e-6},
                                     {1e10, 3e8, 1e9, 2e-6},  {1e10, 1e8, 1e8, 2e-6}};
  std::vector<double> best(std::size(devices), std::numeric_limits<double>::infinity());
  for (const Annotation &annotation : listAnnotations())
    for (auto [least, seconds] : llvm::zip(best, measure(annotation, devices)))
      least = std::min(least, seconds);
  std::set<Annotation> different;
  for (size_t device = 0; device < std::size(devices); ++device) {
    Annotation found = search(devices[device]);
    EXPECT_LE(measure(found, devices)[device], 1.01 * best[device]) << "device " << device;
    different.insert(found);
  }
  // Everything split, nothing, and the gated layer alone.
  EXPECT_EQ(different.size(), 3u);
}

} // namespace
