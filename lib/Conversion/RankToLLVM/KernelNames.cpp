//===- KernelNames.cpp - which kernels of a program are one function ------------------------------------===//
#include "par/Conversion/KernelNames.h"
#include "par/Target/Target.h"

using namespace mlir;
using namespace mlir::par;

static std::string printBody(rank::WorkOpInterface kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : kernel.getBody().front())
    op.print(stream, OpPrintingFlags().useLocalScope());
  for (BlockArgument argument : kernel.getBody().getArguments())
    stream << argument.getType();
  return text;
}

FailureOr<KernelNames> par::nameKernels(ModuleOp module,
                                        function_ref<LogicalResult(rank::WorkOpInterface, StringRef)> see) {
  bool hasDeviceProgram = getTarget(module)->hasDeviceProgram;
  KernelNames names;
  llvm::StringMap<std::string> known;
  WalkResult result = module.walk([&](rank::WorkOpInterface kernel) -> WalkResult {
    bool isAttention = isa<rank::AttentionOp>(*kernel);
    if (!isa<rank::KernelOp>(*kernel) && !(isAttention && hasDeviceProgram))
      return WalkResult::advance();
    std::string &name = known[printBody(kernel)];
    if (name.empty()) {
      name = (isAttention ? "attention_" : "kernel_") + std::to_string(known.size() - 1);
      if (failed(see(kernel, name)))
        return WalkResult::interrupt();
    }
    names[kernel] = name;
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? FailureOr<KernelNames>(failure()) : std::move(names);
}
