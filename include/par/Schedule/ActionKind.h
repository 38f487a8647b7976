//===- ActionKind.h - kinds of actions --------------------------------------------------------*- C++ -*-===//
#ifndef PAR_SCHEDULE_ACTIONKIND_H
#define PAR_SCHEDULE_ACTIONKIND_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/Support/raw_ostream.h"

#include "par/Schedule/ActionKind.h.inc"

#endif // PAR_SCHEDULE_ACTIONKIND_H
