//===- par-reduce.cpp - MLIR's test-case reducer with par's dialects and passes ---------------------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Reducer/Passes.h"
#include "par/Reduce/SimplifyOps.h"
#include "par/Register/Register.h"
#include "par/Support/BeginTool.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/GraphFile.h"
#include "par/Support/LlvmCommandLine.h"
#include "par/Support/OneThread.h"
#include "par/Support/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;

static llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("<input file>"),
                                        llvm::cl::init("-"));
static llvm::cl::opt<std::string> output("o", llvm::cl::desc("Output filename"),
                                         llvm::cl::value_desc("filename"), llvm::cl::init("-"));

static int fail(const llvm::Twine &message) {
  par::printError(message);
  return 1;
}

static OwningOpRef<ModuleOp> readInput(MLIRContext &context) {
  ScopedDiagnosticHandler handler(&context, par::printDiagnostic);
  return par::parseGraphFile(context, input);
}

static LogicalResult reduce(ModuleOp module, const PassPipelineCLParser &passes) {
  MLIRContext *context = module.getContext();
  PassManager manager(context, module->getName().getStringRef());
  auto describe = [&](const llvm::Twine &message) { return emitError(UnknownLoc::get(context)) << message; };
  return success(succeeded(passes.addToPipeline(manager, describe)) && succeeded(manager.run(module)));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  par::beginTool("use a smaller graph, or run it where there is more");
  DialectRegistry registry;
  par::registerDialects(registry);
  par::registerSimplifyOps();
  // Those that opt-reduction-pass may run.
  par::registerPasses();
  registerReducerPasses();
  PassPipelineCLParser passes("", "Reduction passes to run");
  par::LlvmCommandLine line("par-reduce", argc, argv);
  if (!line.readFile() ||
      !line.parse("par-reduce: a smaller graph that a test finds interesting, as it does the input\n") ||
      !line.checkOutput(input, output))
    return 1;
  if (!passes.hasAnyOccurrences())
    return fail("no reduction is named; give --par-simplify-ops='test=PROGRAM', and see par-reduce --help");
  par::OneThreadContext context(registry);
  OwningOpRef<ModuleOp> module = readInput(context);
  if (!module)
    return 1;
  if (failed(reduce(*module, passes)))
    return 1;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  if (llvm::Error error = par::writeOutput(output, text))
    return fail(llvm::toString(std::move(error)));
  return 0;
}
