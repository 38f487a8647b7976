//===- ProveTool.cpp - the command line of par-prove ----------------------------------------------------===//
#include "par/Judge/ProveTool.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Judge/Judge.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/Flags.h"
#include "par/Support/GraphFile.h"
#include "par/Support/OneThread.h"
#include "par/Support/OutputFile.h"

using namespace mlir;

static bool isOfRanks(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(),
                      [](func::FuncOp function) { return function->hasAttr(par::ParDialect::kLocalAttr); });
}

/// A step is compared with a graph, ranks with a step.
static LogicalResult judge(ModuleOp reference, ModuleOp program) {
  bool fromGraph = !par::ChunkFunctions(reference).isDifferentiated();
  bool hasBackward = par::ChunkFunctions(program).isDifferentiated();
  if (fromGraph && isOfRanks(program) && hasBackward)
    return reference.emitError(
        "par-prove: the reference has no backward functions; give what --to differentiate prints");
  if (fromGraph && !isOfRanks(program))
    return hasBackward
               ? par::judgeDerivative(reference, program)
               : program.emitError(
                     "par-prove: the program has no backward functions; give what --to differentiate, "
                     "partition or overlap prints");
  return par::judgeFunctions(reference, program);
}

int par::runProveTool(int argc, char **argv, const DialectRegistry &registry) {
  std::string referenceFile, programFile;
  Flags flags(
      "par-prove REFERENCE.mlir PROGRAM.mlir",
      "Says whether all ranks of a plan compute what one device would: equal for all inputs, up to "
      "rounding and the order of sums; nothing is executed. REFERENCE is what `par-compile MODEL "
      "[flags] --to differentiate` prints, PROGRAM what the same command prints with --to partition, "
      "or --to overlap. Or REFERENCE is what it prints with --to import, and PROGRAM with --to "
      "differentiate: then it says whether gradients are the derivatives of the loss. Prints `proved`, "
      "or one error at the first op that is wrong or unknown (docs/Proof.md).");
  flags.positional(referenceFile);
  flags.positional(programFile);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  if (programFile.empty()) {
    printError("par-prove compares two modules, REFERENCE.mlir and PROGRAM.mlir (par-prove --help)");
    return 1;
  }
  OneThreadContext context(registry);
  ScopedDiagnosticHandler handler(&context, printDiagnostic);
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> reference = parseGraphFile(context, referenceFile);
  OwningOpRef<ModuleOp> program = reference ? parseGraphFile(context, programFile) : OwningOpRef<ModuleOp>();
  if (!program || failed(judge(*reference, *program)))
    return 1;
  if (llvm::Error error = writeOutput("-", "proved\n")) {
    printError(llvm::toString(std::move(error)));
    return 1;
  }
  return 0;
}
