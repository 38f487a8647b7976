//===- Report.h - a page about a compiled step ------------------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_REPORT_H
#define PAR_EMIT_REPORT_H

#include "par/Emit/MemoryProfile.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// A page of HTML that needs no other file: the plan; `time` (StagePicture.h); of every stage memory over the
/// step by category and by buffer, and what is live at the peak; the collectives with their causes. `limit`
/// (bytes) is drawn if it is not 0.
std::string writeReport(llvm::ArrayRef<MemoryProfile> stages, const llvm::json::Object &manifest,
                        int64_t limit, llvm::StringRef time);

} // namespace mlir::par

#endif // PAR_EMIT_REPORT_H
