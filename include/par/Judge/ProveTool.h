//===- ProveTool.h - par-prove as a function ---------------------------------------------*- C++ -*-===//
#ifndef PAR_JUDGE_PROVETOOL_H
#define PAR_JUDGE_PROVETOOL_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::par {

/// Runs `par-prove` on its command line, and gives its exit status. `registry` has the dialects of a graph.
int runProveTool(int argc, char **argv, const DialectRegistry &registry);

} // namespace mlir::par

#endif // PAR_JUDGE_PROVETOOL_H
