//===- KernelNames.cpp - which kernels of a program are one function ------------------------------------===//
#include "par/Conversion/KernelNames.h"
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "par/Target/Target.h"

using namespace mlir;
using namespace mlir::par;

static std::string printBody(Region &body) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : body.front())
    op.print(stream, OpPrintingFlags().useLocalScope());
  for (BlockArgument argument : body.getArguments())
    stream << argument.getType();
  return text;
}

namespace {
/// What a function is written for.
struct Body {
  std::string prefix; ///< of its name; empty: none is
  std::string text;
};
} // namespace

static Body describeBody(rank::WorkOpInterface work, bool hasDeviceProgram) {
  if (isa<rank::KernelOp>(*work))
    return {"kernel_", printBody(work.getBody())};
  if (hasDeviceProgram && isa<rank::LibraryWorkInterface>(*work))
    return {(work->getName().stripDialect() + "_").str(), printBody(work.getBody())};
  if (auto gemm = dyn_cast<rank::GemmOp>(*work); gemm && hasDeviceProgram)
    if (OwningOpRef<rank::KernelOp> epilogue = rank::separateEpilogue(gemm))
      return {"epilogue_", printBody(epilogue->getBody())};
  return {};
}

FailureOr<KernelNames> par::nameKernels(ModuleOp module,
                                        function_ref<LogicalResult(rank::WorkOpInterface, StringRef)> see) {
  bool hasDeviceProgram = getTarget(module)->hasDeviceProgram;
  KernelNames names;
  llvm::StringMap<std::string> known;
  WalkResult result = module.walk([&](rank::WorkOpInterface work) -> WalkResult {
    Body body = describeBody(work, hasDeviceProgram);
    if (body.prefix.empty())
      return WalkResult::advance();
    std::string &name = known[body.prefix + body.text]; // what is for an epilogue is called so
    if (name.empty()) {
      name = body.prefix + std::to_string(known.size() - 1);
      if (failed(see(work, name)))
        return WalkResult::interrupt();
    }
    names[work] = name;
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? FailureOr<KernelNames>(failure()) : std::move(names);
}
