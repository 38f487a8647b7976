//===- Proof.h - a compilation judged as it goes ----------------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_PROOF_H
#define PAR_COMPILE_PROOF_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Plan/CompilePhase.h"
#include "par/Support/Flags.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// Adds --proof, which all tools have that judge what they compile.
void describeProofFlag(Flags &flags, bool &isWanted);

/// Judges what phases make of a model: whether ranks compute what one device would (docs/Proof.md).
class Proof {
public:
  /// `isWanted`: false with --proof off.
  explicit Proof(bool isWanted) : isWanted(isWanted) {}

  /// Takes the module with which the compilation begins, before `first`.
  void begin(CompilePhase first, ModuleOp module);

  /// Judges the module behind `phase`. Fails after one error if its ranks compute something else, or if no
  /// lemma says what they do.
  LogicalResult follow(CompilePhase phase, ModuleOp module);

  /// Says what was judged, as a manifest's `proof` does: `phases`, and the `reference` that they were
  /// compared with, or `why` there is none.
  llvm::json::Object describe() const;

private:
  LogicalResult judge(CompilePhase phase, ModuleOp module);

  bool isWanted;
  /// The module that the next phase is compared with: the graph, and then the differentiated step. Null:
  /// none.
  OwningOpRef<ModuleOp> reference;
  CompilePhase origin = CompilePhase::Import; ///< behind which the first reference was
  std::vector<CompilePhase> judged;
};

} // namespace mlir::par

#endif // PAR_COMPILE_PROOF_H
