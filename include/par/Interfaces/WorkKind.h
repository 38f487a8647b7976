//===- WorkKind.h - under what the time of computing is reported ------------------------------*- C++ -*-===//
#ifndef PAR_INTERFACES_WORKKIND_H
#define PAR_INTERFACES_WORKKIND_H

namespace mlir::par {

/// Library calls, and kernels of par's own. Of collectives and copies there is none.
enum class WorkKind { Kernel, Product, Attention };

} // namespace mlir::par

#endif // PAR_INTERFACES_WORKKIND_H
