//===- ImportTool.h - par-import as a function ----------------------------------------------*- C++ -*-===//
#ifndef PAR_IMPORT_IMPORTTOOL_H
#define PAR_IMPORT_IMPORTTOOL_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::par {

/// What `par-import` does with its command line; its exit status. `registry` has the dialects of a graph.
int runImportTool(int argc, char **argv, const DialectRegistry &registry);

} // namespace mlir::par

#endif // PAR_IMPORT_IMPORTTOOL_H
