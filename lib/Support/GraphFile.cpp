//===- GraphFile.cpp - the text of a graph, before it is parsed -------------------------------------===//
#include "par/Support/GraphFile.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "par/Support/Nesting.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// Many times what par writes. Parser, printer and verifier take some KiB of stack per level.
static constexpr unsigned kMostLevels = 200;

std::unique_ptr<llvm::MemoryBuffer> par::readGraphFile(MLIRContext &context, StringRef path) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file) {
    emitError(UnknownLoc::get(&context)) << path << ": cannot be read: " << file.getError().message();
    return nullptr;
  }
  if (isBytecode((*file)->getMemBufferRef()))
    return std::move(*file);
  if (std::optional<TextPlace> place = findDeepNesting((*file)->getBuffer(), kMostLevels)) {
    emitError(FileLineColLoc::get(&context, path, place->line, place->column))
        << "more than " << kMostLevels << " levels of nesting, which no graph of par has; take some out";
    return nullptr;
  }
  return std::move(*file);
}

bool par::isGraphFile(StringRef path) { return path.ends_with(".mlir") || path.ends_with(".mlirbc"); }

OwningOpRef<ModuleOp> par::parseGraphFile(MLIRContext &context, StringRef path) {
  std::unique_ptr<llvm::MemoryBuffer> text = readGraphFile(context, path);
  if (!text)
    return {};
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
}
