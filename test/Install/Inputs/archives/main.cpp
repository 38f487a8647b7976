// A tool of somebody else's with par's dialects: headers and archives of the installed par are all that it needs.
#include "mlir/IR/DialectRegistry.h"
#include "par/Register/Register.h"
#include "par/Support/Bytes.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::DialectRegistry registry;
  mlir::par::registerDialects(registry);
  for (llvm::StringRef name : registry.getDialectNames())
    llvm::outs() << name << "\n";
  llvm::outs() << mlir::par::formatBytes(1536) << "\n";
}
