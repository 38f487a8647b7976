//===- GraphFile.cpp - the text of a graph, before it is parsed -------------------------------------===//
#include "par/Support/GraphFile.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "par/Support/Nesting.h"
#include "par/Support/TextFile.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

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
  return std::move(*file);
}

bool mlir::par::isGraphFile(StringRef path) { return path.ends_with(".mlir") || path.ends_with(".mlirbc"); }

OwningOpRef<ModuleOp> mlir::par::parseGraphFile(MLIRContext &context, StringRef path) {
  std::unique_ptr<llvm::MemoryBuffer> text = mlir::par::readGraphFile(context, path);
  if (!text)
    return {};
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
}
