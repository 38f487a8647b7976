//===- StepWork.h - what the kernels and library calls of a step come to ----------------------*- C++ -*-===//
#ifndef PAR_EMIT_STEPWORK_H
#define PAR_EMIT_STEPWORK_H

#include "par/Interfaces/WorkKind.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::par {

/// As it stands in the manifest.
llvm::StringRef getName(WorkKind kind);

/// A table of launches and bytes of a step, a row for each kind of stage; nothing where no device launches
/// kernels.
void printLaunches(const llvm::json::Object &manifest, llvm::raw_ostream &os);

/// A part of a report's page.
void writeStepWork(const llvm::json::Object &manifest, llvm::raw_ostream &page);

} // namespace mlir::par

#endif // PAR_EMIT_STEPWORK_H
