//===- KernelNames.cpp - which kernels of a program are one function ------------------------------------===//
#include "par/Conversion/KernelNames.h"

using namespace mlir;
using namespace mlir::par;

static std::string printBody(rank::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : kernel.getBody().front())
    op.print(stream, OpPrintingFlags().useLocalScope());
  for (BlockArgument argument : kernel.getBody().getArguments())
    stream << argument.getType();
  return text;
}

FailureOr<KernelNames> par::nameKernels(ModuleOp module,
                                        function_ref<LogicalResult(rank::KernelOp, StringRef)> see) {
  KernelNames names;
  llvm::StringMap<std::string> known;
  WalkResult result = module.walk([&](rank::KernelOp kernel) -> WalkResult {
    std::string &name = known[printBody(kernel)];
    if (name.empty()) {
      name = "kernel_" + std::to_string(known.size() - 1);
      if (failed(see(kernel, name)))
        return WalkResult::interrupt();
    }
    names[kernel] = name;
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? FailureOr<KernelNames>(failure()) : std::move(names);
}
