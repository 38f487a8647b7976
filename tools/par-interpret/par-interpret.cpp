//===- par-interpret.cpp - reference evaluation of a graph or model -------------------------------------===//
#include "mlir/IR/MLIRContext.h"
#include "par/Interpreter/InterpretModel.h"
#include "par/Register/Register.h"
#include "par/Source/Plugins.h"
#include "par/Support/BeginTool.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/OneThread.h"
#include "par/Support/OutputFile.h"

using namespace mlir;

int main(int argc, char **argv) {
  par::beginTool("use a smaller model, --batch or --seq, or compile it and use par-run");
  par::InterpretOptions options;
  par::Flags flags(
      "par-interpret graph.mlir|MODEL [flags]",
      "Evaluates a graph in f64, slowly and plainly, on one rank or on all ranks of a mesh: the reference "
      "for compiled programs. Prints loss and gradient norm of every step as JSON.");
  par::describeInterpretFlags(flags, options);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  options.given = flags.getGiven();
  if (llvm::Error error = par::loadPlugins(options.plugins)) {
    par::printError(std::move(error));
    return 1;
  }
  DialectRegistry registry;
  par::registerDialects(registry);
  par::OneThreadContext context(registry);
  ScopedDiagnosticHandler handler(&context, par::printDiagnostic);
  // Errors are one line; the IR that they are about is behind par-opt.
  context.printOpOnDiagnostic(false);
  return par::finishOutput(failed(par::interpretModel(context, std::move(options))));
}
