//===- par-opt.cpp - MLIR's opt driver with par's passes and pipelines ----------------------------------===//
#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "par/Register/Register.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/GraphFile.h"
#include "par/Support/LlvmCommandLine.h"
#include "par/Support/OutOfMemory.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("<input file>"),
                                        llvm::cl::init("-"));
static llvm::cl::opt<std::string> output("o", llvm::cl::desc("Output filename"),
                                         llvm::cl::value_desc("filename"), llvm::cl::init("-"));

/// What MlirOptMain registers, too; it would read its input itself, however deeply that nests.
static void registerFlags(DialectRegistry &registry) {
  MlirOptMainConfig::registerCLOptions(registry);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  tracing::DebugCounter::registerCLOptions();
}

/// MLIR goes on without a plugin that it cannot load.
static bool checkPlugins(llvm::ArrayRef<std::string> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto [flag, path] = StringRef(arguments[i]).split('=');
    bool ofPasses = flag.ltrim('-') == "load-pass-plugin",
         ofDialects = flag.ltrim('-') == "load-dialect-plugin";
    if (!flag.starts_with("-") || (!ofPasses && !ofDialects))
      continue;
    if (path.empty() && i + 1 < arguments.size())
      path = arguments[++i];
    llvm::Error error =
        ofPasses ? PassPlugin::load(path.str()).takeError() : DialectPlugin::load(path.str()).takeError();
    if (error) {
      par::printError(flag + ": " + llvm::toString(std::move(error)));
      return false;
    }
  }
  return true;
}

static std::unique_ptr<llvm::MemoryBuffer> readInput() {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, par::printDiagnostic);
  return par::readGraphFile(context, input);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  par::endWithoutMemory("use a smaller graph, or run it where there is more");
  DialectRegistry registry;
  par::registerDialects(registry);
  par::registerPasses();
  registerFlags(registry);
  par::LlvmCommandLine line("par-opt", argc, argv);
  if (!line.readFile() || !checkPlugins(line.getArguments()) ||
      !line.parse("par: graph compiler for partitioned training\n") || !line.checkOutput(input, output))
    return 1;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readInput();
  if (!buffer)
    return 1;
  std::string problem;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &problem);
  if (!file) {
    par::printError(problem);
    return 1;
  }
  if (failed(MlirOptMain(file->os(), std::move(buffer), registry, MlirOptMainConfig::createFromCLOptions())))
    return 1;
  file->keep();
  return 0;
}
