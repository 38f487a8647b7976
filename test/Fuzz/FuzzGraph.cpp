// Text of both dialects: it is refused, or what is printed of it reads back to the same text.
#include "Fuzz.h"
#include "TokenMutator.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include <cstdlib>
#include <memory>

using namespace mlir;

/// A context; a new one from time to time, since none forgets a type or attribute.
static MLIRContext &context() {
  static std::unique_ptr<MLIRContext> current;
  static int uses = 0;
  if (uses++ % 2000 == 0) {
    DialectRegistry registry;
    registry.insert<mlir::par::ParDialect, mlir::par::rank::RankDialect, arith::ArithDialect,
                    math::MathDialect, func::FuncDialect>();
    mlir::par::registerElementwiseModels(registry);
    current = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    current->getDiagEngine().registerHandler([](Diagnostic &) {});
  }
  return *current;
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size); // the lexer reads the 0 at its end
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
  if (!module)
    return 0;
  std::string once = printed(*module);
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(once, module->getContext());
  if (!again || printed(*again) != once) {
    llvm::errs() << once;
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return ::par::fuzz::mutateTokens(data, size, maxSize, seed);
}
