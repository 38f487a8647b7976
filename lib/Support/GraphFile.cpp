//===- GraphFile.cpp - the text of a graph, before it is parsed -------------------------------------===//
#include "par/Support/GraphFile.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "par/Support/Nesting.h"
#include "par/Support/TextFile.h"
#include "par/config/Message.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// Names and lines of a graph stand in errors and reports, where a terminal would obey them.
static LogicalResult checkVisible(MLIRContext &context, StringRef path, StringRef text) {
  std::string_view all(text.data(), text.size());
  size_t at = ::par::config::findHidden(all);
  if (at == std::string_view::npos)
    return success();
  StringRef before = text.take_front(at);
  auto line = static_cast<unsigned>(before.count('\n') + 1);
  auto column = static_cast<unsigned>(at - (before.rfind('\n') + 1) + 1); // of none in front npos + 1 is 0
  return emitError(FileLineColLoc::get(&context, path, line, column))
         << "a character that is not shown, or no UTF-8: " << ::par::config::visible(all.substr(at, 4))
         << "; a graph is plain text, and writes such ones as \\1B";
}

std::unique_ptr<llvm::MemoryBuffer> mlir::par::readGraphFile(MLIRContext &context, StringRef path) {
  // Many times what par writes: parser, printer and verifier take some KiB of stack per level.
  constexpr unsigned kMostLevels = ::par::limits::graphLevels;
  auto file = mlir::par::readTextFile(path, ::par::limits::graphBytes);
  if (!file) {
    emitError(UnknownLoc::get(&context)) << path << ": cannot be read: " << llvm::toString(file.takeError());
    return nullptr;
  }
  if (isBytecode((*file)->getMemBufferRef()))
    return std::move(*file);
  if (std::optional<mlir::par::TextPlace> place =
          mlir::par::findDeepNesting((*file)->getBuffer(), kMostLevels)) {
    emitError(FileLineColLoc::get(&context, path, place->line, place->column))
        << "more than " << kMostLevels << " levels of nesting, which no graph of par has; take some out";
    return nullptr;
  }
  if (failed(checkVisible(context, path, (*file)->getBuffer())))
    return nullptr;
  return std::move(*file);
}

//===----------------------------------------------------------------------===//
// Graphs of other dialects
//===----------------------------------------------------------------------===//

/// Returns what stands in quotes directly before a place: the name of an op in the generic form.
static StringRef getQuotedBefore(StringRef text, FileLineColLoc place) {
  for (unsigned line = 1; line < place.getLine(); ++line)
    text = text.split('\n').second;
  StringRef before = text.take_front(place.getColumn() - 1).rtrim();
  return before.consume_back("\"") ? before.rsplit('"').second : StringRef();
}

/// The dialect that MLIR's parser did not find, by what it says of that; empty: it found another error.
static std::string findMissingDialect(Diagnostic &diagnostic, StringRef text) {
  std::string message = diagnostic.str();
  llvm::SmallVector<StringRef> match;
  if (llvm::Regex("^([Dd]ialect [`']|`?[!#]\")([A-Za-z_][A-Za-z0-9_$]*)['\"]").match(message, &match))
    return match[2].str();
  auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  if (!place || !StringRef(message).starts_with("operation being parsed with an unregistered dialect"))
    return "";
  return getQuotedBefore(text, place).split('.').first.str();
}

/// Names the form that a graph from elsewhere is in; empty: none that is known.
static StringRef getForeignName(StringRef dialect) {
  return llvm::StringSwitch<StringRef>(dialect)
      .Cases("stablehlo", "chlo", "vhlo", "mhlo", "StableHLO (dialect ")
      .Case("tosa", "TOSA (dialect ")
      .Case("onnx", "ONNX (dialect ")
      .Case("torch", "torch-mlir (dialect ")
      .Case("linalg", "MLIR's own (dialect ")
      .Default("");
}

static std::string explainDialect(StringRef dialect, MLIRContext &context) {
  StringRef foreign = getForeignName(dialect);
  if (!foreign.empty())
    return ("the graph is in " + foreign + dialect +
            "), which par does not read yet: it reads graphs in its own dialect; give the model as a Hugging "
            "Face folder or its config.json, or write it in the par dialect (docs/IR.md)")
        .str();
  std::string known;
  for (StringRef name : context.getAvailableDialects())
    known += (known.empty() ? "" : ", ") + name.str();
  return ("there is no dialect " + dialect + "; a graph has ops of " + known + " (docs/IR.md)").str();
}

OwningOpRef<ModuleOp> mlir::par::parseGraphFile(MLIRContext &context, StringRef path) {
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::par::readGraphFile(context, path);
  if (!file)
    return {};
  StringRef text = file->getBuffer();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  std::vector<Diagnostic> said;
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler handler(&context,
                                    [&](Diagnostic &diagnostic) { said.push_back(std::move(diagnostic)); });
    module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  }
  for (Diagnostic &diagnostic : said) {
    std::string missing = module ? "" : findMissingDialect(diagnostic, text);
    if (!missing.empty()) {
      emitError(diagnostic.getLocation()) << explainDialect(missing, context);
      return {};
    }
    context.getDiagEngine().emit(std::move(diagnostic));
  }
  return module;
}
