//===- Proof.cpp - a compilation judged as it goes ------------------------------------------------------===//
#include "Proof.h"
#include "par/Judge/Judge.h"

using namespace mlir;
using namespace mlir::par;

void Proof::begin(CompilePhase first, ModuleOp module) {
  if (isWanted && first == CompilePhase::Partition)
    reference = module.clone();
}

/// The judge's error is one line. It goes on with the phase after which the step is wrong, and with what a
/// user can do.
static LogicalResult judge(ModuleOp reference, ModuleOp module, CompilePhase phase, CompilePhase before) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostic << "; first wrong after " << getName(phase) << ", right after " << getName(before)
                 << ": a fault of par-compile, or a lemma that is missing; --proof off compiles all the same";
    return failure(); // others print it
  });
  return judgeFunctions(reference, module);
}

LogicalResult Proof::follow(CompilePhase phase, ModuleOp module) {
  if (isWanted && phase == CompilePhase::Differentiate)
    reference = module.clone();
  if (phase > CompilePhase::Overlap)
    reference = nullptr;
  if (!reference || (phase != CompilePhase::Partition && phase != CompilePhase::Overlap))
    return success();
  if (failed(judge(*reference, module, phase, judged.empty() ? CompilePhase::Differentiate : judged.back())))
    return failure();
  judged.push_back(phase);
  return success();
}

llvm::json::Object Proof::describe() const {
  llvm::json::Array phases;
  for (CompilePhase phase : judged)
    phases.push_back(getName(phase).str());
  bool isProved = !phases.empty();
  llvm::json::Object proof{{"phases", std::move(phases)}};
  if (isProved)
    proof["reference"] = getName(CompilePhase::Differentiate).str();
  else
    proof["why"] = isWanted ? "the graph given is behind partition" : "--proof off";
  return proof;
}
