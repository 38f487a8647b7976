//===- par-import.cpp - a Hugging Face config as a graph in the par dialect ---------------------------------===//
#include "OutputFile.h"
#include "par/Import/Import.h"
#include "par/Register/Register.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {

/// The command line, parsed within its lifetime.
struct CommandLine {
  cl::OptionCategory category{"par-import options"};
  cl::opt<std::string> model{cl::Positional, cl::desc("MODEL: a Hugging Face folder or config.json"),
                             cl::value_desc("MODEL"), cl::cat(category)};
  cl::opt<std::string> seq{"seq", cl::desc("Tokens per sequence (default: min(1024, the config's maximum))"),
                           cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> batch{"batch", cl::desc("Sequences of the graph: one micro-batch over all data-parallel ranks"),
                             cl::value_desc("N"), cl::init("8"), cl::cat(category)};
  cl::opt<std::string> dtype{"dtype", cl::desc("Type of parameters and activations: f32"), cl::value_desc("TYPE"),
                             cl::init("f32"), cl::cat(category)};
  cl::list<std::string> set{"set", cl::desc("Replaces a key of the config; the value is JSON, else a string"),
                            cl::value_desc("key=value"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Where to write the graph (default: standard output)"),
                              cl::value_desc("graph.mlir"), cl::cat(category)};
  cl::opt<bool> summary{"summary", cl::desc("Print model type, parameters and tensors as JSON; no graph without -o"),
                        cl::cat(category)};
};

int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

/// Parses the command line; false after printing one error line.
bool parse(CommandLine &line, int argc, char **argv) {
  cl::HideUnrelatedOptions(line.category);
  std::string text;
  llvm::raw_string_ostream errors(text);
  if (cl::ParseCommandLineOptions(argc, argv, "par-import: a Hugging Face config as a graph in the par dialect\n",
                                  &errors)) {
    if (!line.model.empty())
      return true;
    fail("no MODEL given; expected a Hugging Face folder or config.json (see par-import --help)");
    return false;
  }
  // "par-import: Unknown command line argument '--x'.  Try: 'par-import --help'"
  llvm::StringRef first = llvm::StringRef(text).ltrim().split('\n').first;
  auto [program, message] = first.split(": ");
  fail(message.empty() ? first : message.trim());
  return false;
}

bool readInteger(llvm::StringRef flag, llvm::StringRef text, int64_t &value) {
  if (!text.getAsInteger(10, value))
    return true;
  fail("--" + flag + " is '" + text + "', expected an integer");
  return false;
}

/// Prints a diagnostic as one line, `place: error: text`.
LogicalResult printDiagnostic(Diagnostic &diagnostic) {
  if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
    llvm::errs() << place.getFilename().getValue() << ':' << place.getLine() << ':' << place.getColumn() << ": ";
  llvm::errs() << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "note: ") << diagnostic << "\n";
  return success();
}

int run(const CommandLine &line, const par::ImportOptions &options) {
  DialectRegistry registry;
  par::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, printDiagnostic);
  if (line.summary) {
    FailureOr<par::ImportPlan> plan = par::planImport(context, options);
    if (failed(plan))
      return 1;
    if (llvm::Error error = par::writeOutput("-", par::summarize(plan->config) + "\n"))
      return fail(llvm::toString(std::move(error)));
    if (line.output.empty())
      return 0;
  }
  OwningOpRef<ModuleOp> module = par::importModel(context, options);
  if (!module)
    return 1;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  std::string output = line.output.empty() ? "-" : line.output.getValue();
  if (llvm::Error error = par::writeOutput(output, stream.str()))
    return fail(llvm::toString(std::move(error)));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  CommandLine line;
  if (!parse(line, argc, argv))
    return 1;
  par::ImportOptions options;
  options.model = line.model;
  options.overrides.assign(line.set.begin(), line.set.end());
  options.dtype = line.dtype;
  if (!readInteger("batch", line.batch, options.batch))
    return 1;
  if (line.seq.getNumOccurrences() && !readInteger("seq", line.seq, options.seq.emplace()))
    return 1;
  return run(line, options);
}
