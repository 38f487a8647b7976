//===- Diagnostics.h - diagnostics as tools print them ----------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_DIAGNOSTICS_H
#define PAR_SUPPORT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::par {

/// Prints one diagnostic and its notes on stderr, each as one line `file:line:column: error: text`; a handler
/// for ScopedDiagnosticHandler.
LogicalResult printDiagnostic(Diagnostic &diagnostic);

} // namespace mlir::par

#endif // PAR_SUPPORT_DIAGNOSTICS_H
