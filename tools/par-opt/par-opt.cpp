//===- par-opt.cpp - MLIR's opt driver with par's passes and pipelines ----------------------------------===//
#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "par/Register/Register.h"
#include "par/Support/BeginTool.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/GraphFile.h"
#include "par/Support/LlvmCommandLine.h"
#include "par/Support/OneThread.h"
#include "par/Support/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

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

static bool isPluginFlag(StringRef flag) {
  StringRef name = flag.ltrim('-');
  return flag.starts_with("-") && (name == "load-pass-plugin" || name == "load-dialect-plugin");
}

/// Loaders look for a name without a slash elsewhere, never in the folder where the user sees it.
static std::string findPlugin(StringRef path) {
  return !path.contains('/') && llvm::sys::fs::exists(path) ? "./" + path.str() : path.str();
}

/// MLIR goes on without a plugin that it cannot load.
static bool checkPlugins(std::vector<std::string> &arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string flag = StringRef(arguments[i]).split('=').first.str();
    if (!isPluginFlag(flag))
      continue;
    bool isAttached = StringRef(arguments[i]).contains('=');
    if (!isAttached && i + 1 == arguments.size())
      continue; // the parser says that it needs a value
    std::string path = findPlugin(isAttached ? StringRef(arguments[i]).split('=').second : arguments[++i]);
    if (path.empty()) {
      par::printError(flag + " is empty, expected FILE.so; give one or leave the flag out");
      return false;
    }
    arguments[i] = isAttached ? flag + "=" + path : path;
    bool ofPasses = StringRef(flag).contains("pass");
    llvm::Error error = ofPasses ? PassPlugin::load(path).takeError() : DialectPlugin::load(path).takeError();
    if (error) {
      par::printError(flag + ": " + llvm::toString(std::move(error)));
      return false;
    }
  }
  return true;
}

static std::unique_ptr<llvm::MemoryBuffer> readInput() {
  par::OneThreadContext context;
  ScopedDiagnosticHandler handler(&context, par::printDiagnostic);
  return par::readGraphFile(context, input);
}

/// MLIR ends the process where a thread cannot be started.
static void disableThreads() {
  auto *flag = llvm::cl::getRegisteredOptions().lookup("mlir-disable-threading");
  if (flag && !flag->getNumOccurrences())
    static_cast<llvm::cl::opt<bool> *>(flag)->setValue(true);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  par::beginTool("use a smaller graph, or run it where there is more");
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
  std::string text;
  llvm::raw_string_ostream stream(text);
  disableThreads();
  LogicalResult result =
      MlirOptMain(stream, std::move(buffer), registry, MlirOptMainConfig::createFromCLOptions());
  // A part of it goes to the terminal, but in no file.
  if (failed(result) && output != "-")
    return 1;
  if (llvm::Error error = par::writeOutput(output, text)) {
    par::printError(std::move(error));
    return 1;
  }
  return failed(result);
}
