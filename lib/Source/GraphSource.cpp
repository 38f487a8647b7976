//===- GraphSource.cpp - models as graphs of par's dialects ---------------------------------------------===//
#include "BuiltinSources.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "par/Support/GraphFile.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Kept as bytecode: a search builds it hundreds of times.
class GraphSource : public ModelSource {
public:
  bool isGraph() const override { return true; }

  LogicalResult read(MLIRContext &context, SourceOptions &options) override {
    OwningOpRef<ModuleOp> module = parseGraphFile(context, options.model);
    if (!module)
      return failure();
    llvm::raw_string_ostream stream(bytecode);
    return writeBytecodeToFile(*module, stream);
  }

  OwningOpRef<ModuleOp> build(MLIRContext &context, int64_t) const override {
    return parseSourceString<ModuleOp>(bytecode, ParserConfig(&context));
  }

private:
  std::string bytecode;
};
} // namespace

ModelFormat par::getGraphFormat() {
  return {[](StringRef path) { return path.ends_with(".mlir") || path.ends_with(".mlirbc"); },
          [] { return std::make_unique<GraphSource>(); }};
}
