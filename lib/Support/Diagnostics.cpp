//===- Diagnostics.cpp - diagnostics as tools print them ------------------------------------------------===//
#include "par/Support/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "par/config/Message.h"
#include "par/config/Sources.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static StringRef getLabel(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error: ";
  case DiagnosticSeverity::Warning:
    return "warning: ";
  case DiagnosticSeverity::Remark:
    return "remark: ";
  case DiagnosticSeverity::Note:
    return "note: ";
  }
  llvm_unreachable("unknown DiagnosticSeverity");
}

LogicalResult mlir::par::printDiagnostic(Diagnostic &diagnostic) {
  // Passes fuse and name locations; the first place in a file is where the user can look.
  FileLineColLoc place;
  diagnostic.getLocation()->walk([&](Location location) {
    place = dyn_cast<FileLineColLoc>(location);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (place)
    llvm::errs() << ::par::config::asMessage(place.getFilename().str()) << ':' << place.getLine() << ':'
                 << place.getColumn() << ": ";
  // MLIR says some things in two lines.
  std::string text = diagnostic.str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    text = ::par::config::nameSources(text);
  llvm::errs() << getLabel(diagnostic.getSeverity()) << ::par::config::asMessage(text) << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    (void)mlir::par::printDiagnostic(note);
  return success();
}
