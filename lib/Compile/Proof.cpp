//===- Proof.cpp - a compilation judged as it goes ------------------------------------------------------===//
#include "par/Compile/Proof.h"
#include "par/Compile/GraphState.h"
#include "par/Judge/Judge.h"

using namespace mlir;
using namespace mlir::par;

void mlir::par::describeProofFlag(Flags &flags, bool &isWanted) {
  flags.choice("proof", {"on", "off"},
               "off: also what is not proved to compute what one device would (default: on)",
               [&isWanted](llvm::StringRef text) { isWanted = text == "on"; });
}

void Proof::begin(CompilePhase first, ModuleOp module) {
  if (!isWanted || first > CompilePhase::Partition)
    return;
  if (first == CompilePhase::Partition)
    reference = module.clone(), origin = CompilePhase::Differentiate;
  else if (!isCut(module) && !isDifferentiated(module)) // a model as it was imported
    reference = module.clone(), origin = CompilePhase::Import;
}

LogicalResult Proof::judge(CompilePhase phase, ModuleOp module) {
  CompilePhase before = judged.empty() ? origin : judged.back();
  // The judge's error is one line. It goes on with the phase after which the step is wrong, and with what a
  // user can do.
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostic << "; first wrong after " << getName(phase) << ", right after " << getName(before)
                 << ": a fault of par-compile, or a lemma that is missing; --proof off compiles all the same";
    return failure(); // others print it
  });
  bool isDerivative = phase == CompilePhase::Differentiate;
  if (failed(isDerivative ? judgeDerivative(*reference, module) : judgeFunctions(*reference, module)))
    return failure();
  judged.push_back(phase);
  return success();
}

LogicalResult Proof::follow(CompilePhase phase, ModuleOp module) {
  if (!isWanted || phase < CompilePhase::Differentiate)
    return success();
  if (phase == CompilePhase::Differentiate) {
    if (reference && failed(judge(phase, module)))
      return failure();
    if (!reference)
      origin = CompilePhase::Differentiate;
    reference = module.clone();
    return success();
  }
  if (phase > CompilePhase::Overlap)
    reference = nullptr;
  return reference ? judge(phase, module) : success();
}

llvm::json::Object Proof::describe() const {
  llvm::json::Array phases;
  for (CompilePhase phase : judged)
    phases.push_back(getName(phase).str());
  bool isProved = !phases.empty();
  llvm::json::Object proof{{"phases", std::move(phases)}};
  if (isProved)
    proof["reference"] = getName(origin).str();
  else
    proof["why"] = isWanted ? "the graph given is behind partition" : "--proof off";
  return proof;
}
