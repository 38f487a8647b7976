//===- ImportTool.cpp - par-import: a Hugging Face config as a graph ------------------------------------===//
#include "par/Import/ImportTool.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "par/Import/Import.h"
#include "par/Support/Diagnostics.h"
#include "par/Support/ErrorLine.h"
#include "par/Support/Flags.h"
#include "par/Support/OneThread.h"
#include "par/Support/OutputFile.h"

using namespace mlir;

namespace {

struct CommandLine {
  par::ImportOptions import;
  std::string output = "-";
  bool summary = false;
};

int fail(const llvm::Twine &message) {
  par::printError(message);
  return 1;
}

par::Flags describe(CommandLine &line) {
  par::Flags flags("par-import MODEL [flags]", "Writes the training graph of MODEL, a Hugging Face folder or "
                                               "config.json, in the par dialect.");
  flags.positional(line.import.model);
  flags.first({"o", "seq", "batch", "dtype", "summary"});
  flags.section("The model");
  flags.integer("seq", "N", "tokens per sequence (default: min(1024, the config's maximum))",
                [&line](int64_t value) { line.import.seq = value; });
  flags.integer("batch", "N",
                "sequences of the graph: one micro-batch over all data-parallel ranks (default: 8)",
                [&line](int64_t value) { line.import.batch = value; });
  flags.text("dtype", "TYPE", "type of parameters and activations: f32 or bf16 (default: f32)",
             line.import.dtype);
  flags.choice(
      "documents", {"pack", "isolate"},
      "isolate: tokens see those of their own document only, and positions begin with each (default: "
      "pack)",
      [&line](llvm::StringRef text) { line.import.isolatesDocuments = text == "isolate"; });
  flags.list("set", "key=value", "replaces a key of the config; the value is JSON, else a string",
             line.import.overrides);
  flags.section("What is shown and written");
  flags.text("o", "graph.mlir", "where to write the graph (default: standard output)", line.output);
  flags.toggle("summary", "prints model type, parameters and tensors as JSON; a graph only with -o",
               line.summary);
  flags.files({}, {"o"});
  return flags;
}

int write(llvm::StringRef path, llvm::StringRef text) {
  if (llvm::Error error = par::writeOutput(path, text))
    return fail(llvm::toString(std::move(error)));
  return 0;
}

int run(const DialectRegistry &registry, const CommandLine &line) {
  par::OneThreadContext context(registry);
  ScopedDiagnosticHandler handler(&context, par::printDiagnostic);
  FailureOr<par::ImportPlan> plan = par::planImport(context, line.import);
  if (failed(plan))
    return 1;
  if (line.summary) {
    if (int code = write("-", par::summarize(plan->config) + "\n"))
      return code;
    if (line.output == "-")
      return 0;
  }
  OwningOpRef<ModuleOp> module = par::importModel(context, *plan, line.import.logits);
  if (!module)
    return 1;
  std::string text;
  text.reserve(1 << 22); // a text that grows is copied into fresh pages each time; pages of which nothing is
                         // used are free
  llvm::raw_string_ostream stream(text);
  stream.SetBufferSize(1 << 16);                             // a graph is printed in pieces of a few letters
  module->print(stream, OpPrintingFlags().assumeVerified()); // importModel verified it
  stream.flush();
  return write(line.output, text);
}

} // namespace

int par::runImportTool(int argc, char **argv, const DialectRegistry &registry) {
  CommandLine line;
  par::Flags flags = describe(line);
  if (std::optional<int> status = flags.take(argc, argv))
    return *status;
  if (line.import.model.empty())
    return fail("no MODEL given; expected a Hugging Face folder or config.json (par-import --help)");
  for (const char *name : {"seq", "batch", "dtype", "documents"})
    if (line.summary && line.output == "-" && flags.getGiven().count(name))
      return fail("--" + llvm::Twine(name) +
                  " is of a graph, and --summary writes none without -o; give -o or leave it out");
  return run(registry, line);
}
