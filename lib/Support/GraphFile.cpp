//===- GraphFile.cpp - the text of a graph, before it is parsed -------------------------------------===//
#include "par/Support/GraphFile.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "par/Support/Nesting.h"
#include "par/Support/TextFile.h"
#include "par/config/Message.h"
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

OwningOpRef<ModuleOp> mlir::par::parseGraphFile(MLIRContext &context, StringRef path) {
  std::unique_ptr<llvm::MemoryBuffer> text = mlir::par::readGraphFile(context, path);
  if (!text)
    return {};
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
}
